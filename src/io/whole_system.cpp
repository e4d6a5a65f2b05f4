// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 holds the system until its rows have gone to their ranks.
#include "io/whole_system.hpp"

#include <string>
#include <utility>

#include "io/scatter.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

class WholeInput final : public SystemSource {
 public:
  WholeInput(MPI_Comm comm, const std::filesystem::path& path, WholeReader read)
      : comm_(comm), path_(path.string()) {
    collectively(comm, [&] {
      if (rank_of(comm) == 0) system_ = read(path);
    });
    vectors_ = std::ssize(system_.b);
    MPI_Bcast(&vectors_, 1, MPI_INT64_T, 0, comm);
  }

  MatrixOnRanks read_matrix(const std::string& /*name*/, std::int64_t rows_together) override {
    MatrixOnRanks matrix =
        scatter_matrix(comm_, path_, std::exchange(system_.matrix, {}), rows_together);
    matrix.duplicates_summed = system_.duplicates_summed;
    MPI_Bcast(&matrix.duplicates_summed, 1, MPI_INT64_T, 0, comm_);
    return matrix;
  }

  MatrixFacts facts(const std::string& /*name*/) override {
    MatrixFacts facts{.rows = system_.matrix.rows,
                      .nnz = static_cast<double>(system_.matrix.nnz())};
    MPI_Bcast(&facts.rows, 1, MPI_INT64_T, 0, comm_);
    MPI_Bcast(&facts.nnz, 1, MPI_DOUBLE, 0, comm_);
    return facts;
  }

  VectorShape shape_of(const std::string& name) override {
    require_vectors(name);
    VectorShape shape{.length = system_.b.empty() ? 0 : std::ssize(system_.b.front()),
                      .count = vectors_};
    MPI_Bcast(&shape.length, 1, MPI_INT64_T, 0, comm_);
    return shape;
  }

  bool has_vectors(const std::string& name) const override { return name == "/b" && vectors_ > 0; }

  std::vector<Array<double>> read_vectors(const std::string& name, const RowRange& rows) override {
    require_vectors(name);
    std::vector<Array<double>> mine(vectors_);
    for (std::int64_t k = 0; k < vectors_; ++k) {
      const Array<double> none;
      mine[k] = scatter_vector(comm_, rank_of(comm_) == 0 ? system_.b[k] : none, rows);
    }
    return mine;
  }

 private:
  // Collective.
  void require_vectors(const std::string& name) const {
    collectively(comm_, [&] {
      if (has_vectors(name)) return;
      fail(ExitCode::input, "{} holds no vector {}; {}", path_, name,
           vectors_ > 0 ? "its right-hand side is /b"
                        : "for a right-hand side without one: ones, random or from-ones");
    });
  }

  MPI_Comm comm_;
  std::string path_;
  WholeSystem system_;  // empty but on rank 0
  std::int64_t vectors_ = 0;
};

}  // namespace

std::unique_ptr<SystemSource> open_whole(MPI_Comm comm, const std::filesystem::path& path,
                                         WholeReader read) {
  return std::make_unique<WholeInput>(comm, path, read);
}

}  // namespace trireme
