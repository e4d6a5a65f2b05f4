// SPDX-License-Identifier: BSD-3-Clause
// Every rank opens the file for itself.
#include "io/hdf5_input.hpp"

#include "io/hdf5_calls.hpp"
#include "io/stored_matrix.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

class Hdf5Input final : public SystemSource {
 public:
  Hdf5Input(MPI_Comm comm, const std::filesystem::path& path) : comm_(comm) {
    collectively(comm, [&] { file_ = hdf5::File::open(path); });
  }

  MatrixOnRanks read_matrix(const std::string& name, std::int64_t rows_together) override {
    StoredMatrix stored;
    collectively(comm_, [&] { stored = find_matrix(*file_, name); });
    stored.rows_together = rows_together;
    return trireme::read_matrix(comm_, stored, sink_);
  }

  MatrixFacts facts(const std::string& name) override {
    MatrixFacts facts;
    collectively(comm_, [&] {
      const StoredMatrix stored = find_matrix(*file_, name);
      facts.rows = stored.rows;
      facts.nnz = static_cast<double>(stored.nnz);
      const hdf5::Group group = file_->group(name);
      const auto value = group.integer_attribute("block_size");
      if (!value) return;
      facts.block_size = value->size() == 1 ? value->front() : 0;
      if (facts.block_size < 1 || facts.rows % facts.block_size != 0)
        fail(ExitCode::input,
             "{}: the attribute block_size, the unknowns per node, must be a positive number that "
             "divides the {} rows",
             group.name(), facts.rows);
    });
    return facts;
  }

  VectorShape shape_of(const std::string& name) override {
    VectorShape shape;
    collectively(comm_, [&] { shape = shape_of_vectors(*file_, name); });
    return shape;
  }

  void pass_entries_to(EntriesSink* sink) override { sink_ = sink; }

  bool has_vectors(const std::string& name) const override { return file_->has_dataset(name); }

  std::vector<Array<double>> read_vectors(const std::string& name, const RowRange& rows) override {
    std::vector<Array<double>> vectors;
    collectively(comm_, [&] { vectors = trireme::read_vectors(*file_, name, rows); });
    return vectors;
  }

 private:
  MPI_Comm comm_;
  std::optional<hdf5::File> file_;
  EntriesSink* sink_ = nullptr;
};

}  // namespace

bool is_hdf5(const std::filesystem::path& path) {
  const hdf5::Quiet quiet;
  return H5Fis_hdf5(path.c_str()) > 0;
}

std::unique_ptr<SystemSource> open_hdf5(MPI_Comm comm, const std::filesystem::path& path) {
  return std::make_unique<Hdf5Input>(comm, path);
}

}  // namespace trireme
