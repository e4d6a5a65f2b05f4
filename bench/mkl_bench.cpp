// SPDX-License-Identifier: BSD-3-Clause
// Times `csr`, `albus` and MKL's optimised product (Inspector-Executor) in turns, in one process.
//
//   mkl_bench LIBMKL_RT MATRIX ...
//
// MKL is opened at run time: `pip install mkl` brings lib/libmkl_rt.so.N. A MATRIX is GENERATOR:N,
// or a file of any format that `solve` reads. Each time is the median of at least seven turns; the
// products are checked first. The build and new values are counted in products of `albus`.
#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "kernels/registry.hpp"
#include "named_matrix.hpp"
#include "sparse/reference.hpp"

namespace {

using namespace trireme;

constexpr int kTurns = 7;
constexpr double kSecondsOfAll = 1, kSecondsOfATurn = 2e-3;

class Mkl {
 public:
  explicit Mkl(const char* path) : library_(dlopen(path, RTLD_NOW | RTLD_GLOBAL)) {
    if (!library_) fail(ExitCode::resource, "MKL is not there: {}", dlerror());
    constexpr int kGnuThreads = 3, kIndicesOf32Bits = 0;
    find<int(int)>("MKL_Set_Threading_Layer")(kGnuThreads);
    find<int(int)>("MKL_Set_Interface_Layer")(kIndicesOf32Bits);
  }

  template <class Function>
  Function* find(const char* name) const {
    void* const found = dlsym(library_, name);
    if (!found) fail(ExitCode::resource, "MKL has no function {}", name);
    return reinterpret_cast<Function*>(found);
  }

 private:
  void* library_;
};

// A view of `a`, which must outlive it.
class MklMatrix {
 public:
  MklMatrix(const Mkl& mkl, CsrView<double> a)
      : destroy_(mkl.find<int(void*)>("mkl_sparse_destroy")),
        multiply_(mkl.find<Multiply>("mkl_sparse_d_mv")) {
    // MKL takes pointers to what it does not change.
    auto* const offsets = const_cast<std::int32_t*>(a.row_ptr.data());
    auto* const columns = const_cast<std::int32_t*>(a.col_idx.data());
    auto* const values = const_cast<double*>(a.values.data());
    constexpr int kFromZero = 0, kManyProducts = 1'000'000;
    using Create = int(void**, int, int, int, std::int32_t*, std::int32_t*, std::int32_t*, double*);
    require(mkl.find<Create>("mkl_sparse_d_create_csr")(
                &handle_, kFromZero, static_cast<int>(a.rows), static_cast<int>(a.cols), offsets,
                offsets + 1, columns, values),
            "create");
    require(mkl.find<int(void*, int, Description, int)>("mkl_sparse_set_mv_hint")(
                handle_, kAsItIs, kGeneral, kManyProducts),
            "hint");
    require(mkl.find<int(void*)>("mkl_sparse_optimize")(handle_), "optimise");
  }
  ~MklMatrix() { destroy_(handle_); }
  MklMatrix(const MklMatrix&) = delete;
  MklMatrix& operator=(const MklMatrix&) = delete;

  void multiply(std::span<const double> x, std::span<double> y) const {
    require(multiply_(kAsItIs, 1, handle_, kGeneral, x.data(), 0, y.data()), "multiply");
  }

 private:
  struct Description {
    int type, triangle, diagonal;
  };
  using Multiply = int(int, double, void*, Description, const double*, double, double*);
  static constexpr int kAsItIs = 10;                  // not transposed
  static constexpr Description kGeneral{20, 40, 50};  // the last two hold for triangles only

  static void require(int status, const char* what) {
    if (status != 0) fail(ExitCode::internal, "MKL cannot {}: status {}", what, status);
  }

  void* handle_ = nullptr;
  int (*destroy_)(void*);
  Multiply* multiply_;
};

double median(std::vector<double> seconds) {
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

double seconds_of(const std::function<void()>& work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

void run(const Mkl& mkl, const std::string& name) {
  const CsrMatrix<double> a = named_matrix(name);
  Array<double> x(a.cols), y(a.rows);
  for (std::int64_t j = 0; j < a.cols; ++j) x[j] = 1 + static_cast<double>(j % 31) / 31;
  std::unique_ptr<HostKernel<double>> albus;
  const double build = seconds_of([&] { albus = build_host_kernel<double>("albus", a.view()); });
  const auto csr = build_host_kernel<double>("csr", a.view());
  const MklMatrix of_mkl(mkl, a.view());

  const std::vector<std::pair<const char*, std::function<void()>>> ways = {
      {"csr", [&] { csr->multiply(x, y, Accumulate::no); }},
      {"albus", [&] { albus->multiply(x, y, Accumulate::no); }},
      {"MKL", [&] { of_mkl.multiply(x, y); }}};
  for (const auto& [who, multiply] : ways) {
    std::fill(y.begin(), y.end(), NAN);
    multiply();
    if (!compare_product<double>(a.view(), x, y).within_bound())
      fail(ExitCode::internal, "{}: the product of {} is wrong", name, who);
  }

  std::vector<std::vector<double>> seconds(ways.size());
  std::vector<double> new_values;
  const Stopwatch all;
  while (all.seconds() < kSecondsOfAll || std::ssize(new_values) < kTurns) {
    for (std::size_t k = 0; k < ways.size(); ++k) {
      ways[k].second();
      const Stopwatch turn;
      do seconds[k].push_back(seconds_of(ways[k].second));
      while (turn.seconds() < kSecondsOfATurn);
    }
    new_values.push_back(seconds_of([&] { albus->update_values(a.values); }));
  }
  const double plain = median(seconds[0]), ours = median(seconds[1]), theirs = median(seconds[2]);
  fmt::print("| {} | {:.1f} | {:.0f} | {:.2f} | {:.2f} | {:.1f} | {:.2f} |\n", name,
             1e-6 * static_cast<double>(a.nnz()), 1e6 * plain, plain / ours, plain / theirs,
             build / ours, median(new_values) / ours);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: mkl_bench LIBMKL_RT MATRIX ...\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    const Mkl mkl(argv[1]);
    fmt::print("| matrix | nonzeros, M | `csr`, us | `albus` | MKL | build | new values |\n");
    fmt::print("|---|--:|--:|--:|--:|--:|--:|\n");
    for (int k = 2; k < argc; ++k) run(mkl, argv[k]);
  } catch (const std::exception& e) {
    fmt::print(stderr, "mkl_bench: {}\n", e.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
