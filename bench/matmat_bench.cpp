// SPDX-License-Identifier: BSD-3-Clause
// Times PETSc's MatMatMult against the product of several vectors of `albus`, in one process.
//
//   OMP_NUM_THREADS=1 matmat_bench [vectors=8] [seconds=0.5] MATRIX ...
//
// A MATRIX is GENERATOR:N, or a file of any format that `solve` reads. PETSc multiplies an AIJ
// matrix by a dense one with one thread per process, so that one OpenMP thread compares like with
// like. PETSc stores its dense matrices by columns; `albus` has X and Y by rows, and by columns
// with the copies that this costs. All four products are checked, and then timed in turns by the
// CPU clock of the thread where there is one thread, and else by the wall clock.
#include <fmt/format.h>
#include <omp.h>
#include <petscmat.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "kernels/multi_product.hpp"
#include "kernels/registry.hpp"
#include "named_matrix.hpp"
#include "sparse/reference.hpp"

namespace {

using namespace trireme;

double seconds_of(const std::function<void()>& work) {
  const clockid_t clock = omp_get_max_threads() == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  timespec begin = {}, end = {};
  clock_gettime(clock, &begin);
  work();
  clock_gettime(clock, &end);
  return static_cast<double>(end.tv_sec - begin.tv_sec) +
         1e-9 * static_cast<double>(end.tv_nsec - begin.tv_nsec);
}

// PETSc's Y = A X, whose matrices borrow the arrays of A, X and Y by columns.
class PetscProduct {
 public:
  PetscProduct(const CsrMatrix<double>& a, std::span<double> x, std::int64_t vectors)
      : offsets_(a.row_ptr.begin(), a.row_ptr.end()),
        columns_(a.col_idx.begin(), a.col_idx.end()),
        values_(a.values.begin(), a.values.end()) {
    const auto rows = static_cast<PetscInt>(a.rows), cols = static_cast<PetscInt>(a.cols);
    const auto width = static_cast<PetscInt>(vectors);
    PetscCallAbort(PETSC_COMM_SELF,
                   MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, rows, cols, offsets_.data(),
                                             columns_.data(), values_.data(), &a_));
    PetscCallAbort(PETSC_COMM_SELF, MatCreateSeqDense(PETSC_COMM_SELF, cols, width, x.data(), &x_));
    PetscCallAbort(PETSC_COMM_SELF, MatAssemblyBegin(x_, MAT_FINAL_ASSEMBLY));
    PetscCallAbort(PETSC_COMM_SELF, MatAssemblyEnd(x_, MAT_FINAL_ASSEMBLY));
    PetscCallAbort(PETSC_COMM_SELF, MatMatMult(a_, x_, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &y_));
  }
  ~PetscProduct() {
    for (Mat* matrix : {&y_, &x_, &a_}) PetscCallAbort(PETSC_COMM_SELF, MatDestroy(matrix));
  }
  PetscProduct(const PetscProduct&) = delete;
  PetscProduct& operator=(const PetscProduct&) = delete;

  void multiply() {
    PetscCallAbort(PETSC_COMM_SELF, MatMatMult(a_, x_, MAT_REUSE_MATRIX, PETSC_DEFAULT, &y_));
  }

  // Column j of Y.
  Array<double> column(std::int64_t j) const {
    PetscInt rows = 0;
    PetscCallAbort(PETSC_COMM_SELF, MatGetSize(y_, &rows, nullptr));
    const double* y = nullptr;
    PetscCallAbort(PETSC_COMM_SELF, MatDenseGetArrayRead(y_, &y));
    Array<double> one(y + j * rows, y + (j + 1) * rows);
    PetscCallAbort(PETSC_COMM_SELF, MatDenseRestoreArrayRead(y_, &y));
    return one;
  }

 private:
  std::vector<PetscInt> offsets_, columns_;
  std::vector<double> values_;
  Mat a_ = nullptr, x_ = nullptr, y_ = nullptr;
};

struct Way {
  std::string name;
  std::function<void()> multiply;
  std::function<Array<double>(std::int64_t)> column;  // of its Y
  std::vector<double> seconds;
};

void require_right(const CsrMatrix<double>& a, const Way& way, std::span<const double> x,
                   std::int64_t vectors) {
  for (std::int64_t j = 0; j < vectors; ++j)
    if (!compare_product<double>(a.view(), x.subspan(j * a.cols, a.cols), way.column(j))
             .within_bound())
      fail(ExitCode::internal, "{}: vector {} of the product is wrong", way.name, j);
}

void run(const std::string& name, std::int64_t vectors, double seconds) {
  const CsrMatrix<double> a = named_matrix(name);
  const auto albus = build_host_kernel<double>("albus", a.view());
  Array<double> x(a.cols * vectors), x_rows(a.cols * vectors);  // by columns, by rows
  for (std::int64_t i = 0; i < a.cols; ++i)
    for (std::int64_t j = 0; j < vectors; ++j)
      x[j * a.cols + i] = x_rows[i * vectors + j] =
          1 + static_cast<double>((7 * i + 13 * j) % 31) / 31;
  Array<double> y(a.rows * vectors), y_rows(a.rows * vectors);
  PetscProduct petsc(a, x, vectors);
  MultiProduct<double> by_columns(*albus, a.rows, a.cols);

  const auto of_columns = [&](std::int64_t j) {
    return Array<double>(y.begin() + j * a.rows, y.begin() + (j + 1) * a.rows);
  };
  const auto of_rows = [&](std::int64_t j) {
    Array<double> one(a.rows);
    for (std::int64_t i = 0; i < a.rows; ++i) one[i] = y_rows[i * vectors + j];
    return one;
  };
  Way ways[] = {
      {"MatMatMult",
       [&] { petsc.multiply(); },
       [&](std::int64_t j) { return petsc.column(j); },
       {}},
      {"albus, one by one",
       [&] {
         for (std::int64_t j = 0; j < vectors; ++j)
           albus->multiply(std::span<const double>(x).subspan(j * a.cols, a.cols),
                           std::span<double>(y).subspan(j * a.rows, a.rows), Accumulate::no);
       },
       of_columns,
       {}},
      {"albus, by columns",
       [&] {
         by_columns.multiply(one_after_the_other<const double>(x.data(), a.cols, vectors),
                             one_after_the_other(y.data(), a.rows, vectors), Accumulate::no);
       },
       of_columns,
       {}},
      {"albus, by rows",
       [&] {
         albus->multi_multiply(side_by_side<const double>(x_rows.data(), a.cols, vectors),
                               side_by_side(y_rows.data(), a.rows, vectors), Accumulate::no);
       },
       of_rows,
       {}}};
  for (Way& way : ways) {
    std::fill(y.begin(), y.end(), 0);
    way.multiply();
    require_right(a, way, x, vectors);
  }
  constexpr std::size_t kMinRounds = 7;
  for (double spent = 0; spent < seconds || ways[0].seconds.size() < kMinRounds;)
    for (Way& way : ways) {
      way.multiply();
      way.seconds.push_back(seconds_of(way.multiply));
      if (&way == &ways[0]) spent += way.seconds.back();
    }
  fmt::print("| {} | {} |", name, a.nnz());
  const auto median = [](std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  };
  for (const Way& way : ways) fmt::print(" {:.0f} |", 1e6 * median(way.seconds));
  fmt::print(" {:.2f} | {:.2f} |\n", median(ways[0].seconds) / median(ways[2].seconds),
             median(ways[0].seconds) / median(ways[3].seconds));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t vectors = 8;
  double seconds = 0.5;
  PetscCallAbort(PETSC_COMM_SELF, PetscInitializeNoArguments());
  std::puts(
      "| matrix | nnz | MatMatMult, us | albus, one by one, us | albus by columns, us | albus by "
      "rows, us | speed-up by columns | speed-up by rows |\n|---|--:|--:|--:|--:|--:|--:|--:|");
  int code = 0;
  for (int i = 1; i < argc && code == 0; ++i) try {
      const std::string word = argv[i];
      if (word.starts_with("vectors="))
        vectors = std::stoll(word.substr(8));
      else if (word.starts_with("seconds="))
        seconds = std::stod(word.substr(8));
      else
        run(word, vectors, seconds);
    } catch (const Error& error) {
      std::fprintf(stderr, "matmat_bench: %s\n", error.what());
      code = static_cast<int>(error.code());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "matmat_bench: %s: %s\n", argv[i], error.what());
      code = static_cast<int>(ExitCode::usage);
    }
  PetscCallAbort(PETSC_COMM_SELF, PetscFinalize());
  return code;
}
