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
  WholeInput(MPI_Comm comm, const std::filesystem::path& path, WholeReader read,
             WholeReader read_beside)
      : comm_(comm), path_(path.string()), read_beside_(read_beside) {
    collectively(comm, [&] {
      if (rank_of(comm) == 0) system_ = read(path);
    });
    vectors_ = std::ssize(system_.b);
    MPI_Bcast(&vectors_, 1, MPI_INT64_T, 0, comm);
    beside_ = system_.b_beside.string();
    std::int64_t letters = std::ssize(beside_);
    MPI_Bcast(&letters, 1, MPI_INT64_T, 0, comm);
    beside_.resize(letters);
    MPI_Bcast(beside_.data(), static_cast<int>(letters), MPI_CHAR, 0, comm);
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
    find_vectors(name);
    VectorShape shape{.length = system_.b.empty() ? 0 : std::ssize(system_.b.front()),
                      .count = vectors_};
    MPI_Bcast(&shape.length, 1, MPI_INT64_T, 0, comm_);
    return shape;
  }

  bool has_vectors(const std::string& name) const override {
    return name == "/b" && (vectors_ > 0 || !beside_.empty());
  }

  std::string origin_of(const std::string& name) const override {
    return beside_.empty() ? name : std::filesystem::path(beside_).filename().string();
  }

  std::vector<Array<double>> read_vectors(const std::string& name, const RowRange& rows) override {
    find_vectors(name);
    collectively(comm_, [&] {
      if (system_.b.empty() || std::ssize(system_.b.front()) == rows.global) return;
      fail(ExitCode::input, "{}: the vector has {} entries, the matrix {} rows",
           beside_.empty() ? path_ : beside_, system_.b.front().size(), rows.global);
    });
    std::vector<Array<double>> mine(vectors_);
    for (std::int64_t k = 0; k < vectors_; ++k) {
      const Array<double> none;
      mine[k] = scatter_vector(comm_, rank_of(comm_) == 0 ? system_.b[k] : none, rows);
    }
    return mine;
  }

 private:
  // Reads the vectors where they lie in a file beside this one. Collective.
  void find_vectors(const std::string& name) {
    collectively(comm_, [&] {
      if (!has_vectors(name))
        fail(ExitCode::input, "{} holds no vector {}; {}", path_, name,
             has_vectors("/b") ? "its right-hand side is /b"
                               : "for a right-hand side without one: ones, random or from-ones");
      if (vectors_ > 0 || rank_of(comm_) != 0) return;
      system_.b = read_beside_(beside_).b;
      if (system_.b.empty()) fail(ExitCode::input, "{} holds no vector", beside_);
    });
    if (rank_of(comm_) == 0) vectors_ = std::ssize(system_.b);
    MPI_Bcast(&vectors_, 1, MPI_INT64_T, 0, comm_);
  }

  MPI_Comm comm_;
  std::string path_;
  WholeReader read_beside_;
  std::string beside_;  // the file that holds /b, or empty
  WholeSystem system_;  // empty but on rank 0
  std::int64_t vectors_ = 0;
};

}  // namespace

std::unique_ptr<SystemSource> open_whole(MPI_Comm comm, const std::filesystem::path& path,
                                         WholeReader read, WholeReader read_beside) {
  return std::make_unique<WholeInput>(comm, path, read, read_beside);
}

}  // namespace trireme
