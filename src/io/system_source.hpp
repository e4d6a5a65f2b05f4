// SPDX-License-Identifier: BSD-3-Clause
// Where a linear system comes from, as load_problem() reads it: an open file of any format, or a
// generator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "io/entries_sink.hpp"
#include "io/read_matrix.hpp"
#include "io/vectors.hpp"

namespace trireme {

// What a source knows of a matrix before it reads rows.
struct MatrixFacts {
  std::int64_t rows = 0;
  double nnz = 0;               // stored entries; of a generator an estimate from some rows
  std::int64_t block_size = 0;  // unknowns per node; 0: the source does not say
};

// All ranks of the communicator that opened the source hold one such object, and they call its
// members together. For a fault of a file, every member throws the same Error{input} on all ranks.
class SystemSource {
 public:
  virtual ~SystemSource() = default;
  SystemSource() = default;
  SystemSource(const SystemSource&) = delete;
  SystemSource& operator=(const SystemSource&) = delete;

  // The matrix `name`; a source of one matrix takes no notice of the name. Every cut between two
  // ranks is at a multiple of `rows_together` rows. To be called once: the source may give its
  // memory away. Collective.
  virtual MatrixOnRanks read_matrix(const std::string& name, std::int64_t rows_together) = 0;

  // read_matrix() passes entries to `sink`, which may be null, where the source reads them in the
  // order of the rows. Else it calls no function of the sink.
  virtual void pass_entries_to(EntriesSink* /*sink*/) {}

  // Facts of the matrix `name`; a source of one matrix takes no notice of the name. A source that
  // holds no vectors of nodes may know none. Collective.
  virtual MatrixFacts facts(const std::string& /*name*/) { return {}; }

  // Whether the source holds one or more vectors of this name. The same on every rank.
  virtual bool has_vectors(const std::string& name) const = 0;

  // Where these vectors come from, for reports: their name, or the name of a file beside the
  // matrix.
  virtual std::string origin_of(const std::string& name) const { return name; }

  // The shape of the vectors `name`; Error{input} where there are none. Collective.
  virtual VectorShape shape_of(const std::string& name) = 0;

  // These rows of the vectors `name`, one array per vector. Collective.
  virtual std::vector<Array<double>> read_vectors(const std::string& name,
                                                  const RowRange& rows) = 0;
};

}  // namespace trireme
