// SPDX-License-Identifier: BSD-3-Clause
// Rows of a matrix and of vectors that move from the ranks where the caller has them to other
// ranks, and back.
//
// The caller's distribution has the rows in their own order: rank r has the rows
// [from[r], from[r+1]). In the other one, rank r has the rows with the new numbers
// [to[r], to[r+1]). A symmetric permutation P A P^T of the whole matrix leads from one to the
// other.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "distributed/row_graph.hpp"
#include "sparse/csr.hpp"

namespace trireme {

class Redistribution {
 public:
  // `new_rows` has the new number of each of this rank's rows. Throws Error{internal} on every rank
  // where a number is missing or occurs twice. `comm` must outlive the object. Collective, as are
  // all members that move something.
  Redistribution(MPI_Comm comm, std::vector<std::int64_t> from, std::vector<std::int64_t> to,
                 Array<std::int32_t> new_rows);

  const std::vector<std::int64_t>& from() const { return from_; }
  const std::vector<std::int64_t>& to() const { return to_; }
  std::int64_t rows_before() const { return static_cast<std::int64_t>(new_rows_.size()); }
  std::int64_t rows() const { return static_cast<std::int64_t>(positions_.size()); }
  std::span<const std::int32_t> new_rows() const { return new_rows_; }
  // Of this rank in the slab that matrix() took, where it kept the entries.
  std::int64_t entries_before() const { return kept_row_ptr_.empty() ? 0 : kept_row_ptr_.back(); }

  // P A P^T, columns ascending. The peak of memory is twice the CSR of the larger one of the two
  // parts, and some numbers per row. With `keep_entries` new_values() may be called.
  RowSlab matrix(RowSlab&& slab, bool keep_entries = false);
  // New values in the order of the slab that matrix() took, in the order of the one that it
  // returned.
  Array<double> new_values(std::span<const double> values) const;
  // The pattern of matrix() within this rank's own columns; it has no values.
  CsrMatrix<double> local_pattern(const RowSlab& slab) const;

  // Vectors whose rows have `width` numbers each, side by side.
  Array<double> there(std::span<const double> vector, std::int64_t width = 1) const;
  Array<double> back(std::span<const double> vector, std::int64_t width = 1) const;

  // The same ranks, with the rows of each rank in another order: `order` has the row of this
  // distribution at each new place, from 0.
  Redistribution reordered(std::span<const std::int32_t> order) const;

 private:
  struct Counts {
    std::vector<int> send, send_at, receive, receive_at;
  };
  Counts counts_of_entries(std::span<const std::int32_t> lengths,
                           std::span<const std::int32_t> arrived_lengths) const;
  template <class Number>
  Array<Number> pack(std::span<const Number> entries, std::span<const std::int32_t> row_ptr) const;
  template <class Number>
  Array<Number> moved(const Array<Number>& packed, const Counts& counts) const;
  Array<std::int32_t> new_numbers_of(std::span<const std::int32_t> columns) const;
  Array<std::int32_t> arrived_lengths(std::span<const std::int32_t> row_ptr) const;

  MPI_Comm comm_;
  std::vector<std::int64_t> from_, to_;
  Array<std::int32_t> new_rows_;
  Array<std::int32_t> send_rows_;  // the caller's local rows by the rank to which they go
  Array<std::int32_t> positions_;  // the local row of each row in the order of arrival
  Counts rows_;
  // For new_values(): the lengths of the caller's rows, and the arrived entry of each entry.
  Array<std::int32_t> kept_row_ptr_, kept_entries_;
  Counts kept_counts_;
};

// The vertices of the graph go to the ranks `owners`, one per vertex of this rank. Rows of a rank
// keep their order. A last vertex of fewer rows than the others comes last of all, so that every
// rank begins with a whole vertex. Collective.
Redistribution redistribution_of(MPI_Comm comm, std::vector<std::int64_t> row_starts,
                                 std::int64_t rows_per_vertex,
                                 std::span<const std::int32_t> owners);

}  // namespace trireme
