// SPDX-License-Identifier: BSD-3-Clause
// Times the multigrid set-up on a GPU by its parts, the layouts of the cycle, and sparse products
// beside those of cuSPARSE.
//
// usage: multigrid_set_up_bench KIND:N...
//
// KIND:N is a generator of sparse/generators.hpp with its n; elasticity3d takes the rigid-body
// modes of its nodes. Times are the minimum of several runs, in milliseconds.
#include <cusparse.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "device/device.hpp"
#include "multigrid/cuda/cuda_hierarchy.hpp"
#include "multigrid/cuda/device_product.hpp"
#include "multigrid/cuda/device_set_up.hpp"
#include "multigrid/cuda/level_parts_of.hpp"
#include "sparse/generators.hpp"

namespace {

using namespace trireme;
using namespace trireme::multigrid;

constexpr int kRuns = 5;

double best_ms(StreamRef stream, const std::function<void()>& work) {
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    synchronize(stream);
    const Stopwatch watch;
    work();
    synchronize(stream);
    best = std::min(best, 1e3 * watch.seconds());
  }
  return best;
}

// C = A B by cuSPARSE, from the first estimate to the copied result.
class CusparseProduct {
 public:
  CusparseProduct() {
    for (const char* name : {"libcusparse.so.13", "libcusparse.so.12", "libcusparse.so"})
      if (!library_) library_ = dlopen(name, RTLD_NOW);
    if (!library_) fail(ExitCode::resource, "no libcusparse");
    check(load<decltype(&cusparseCreate)>("cusparseCreate")(&handle_));
  }

  std::int64_t multiply(const DeviceCsr<double>& a, const DeviceCsr<double>& b, StreamRef stream) {
    const auto create = load<decltype(&cusparseCreateCsr)>("cusparseCreateCsr");
    const auto destroy = load<decltype(&cusparseDestroySpMat)>("cusparseDestroySpMat");
    const auto estimate =
        load<decltype(&cusparseSpGEMM_workEstimation)>("cusparseSpGEMM_workEstimation");
    const auto compute = load<decltype(&cusparseSpGEMM_compute)>("cusparseSpGEMM_compute");
    const auto copy = load<decltype(&cusparseSpGEMM_copy)>("cusparseSpGEMM_copy");
    const auto new_descr =
        load<decltype(&cusparseSpGEMM_createDescr)>("cusparseSpGEMM_createDescr");
    const auto end_descr =
        load<decltype(&cusparseSpGEMM_destroyDescr)>("cusparseSpGEMM_destroyDescr");
    check(load<decltype(&cusparseSetStream)>("cusparseSetStream")(handle_, stream));
    const auto matrix = [&](const DeviceCsr<double>& m) {
      cusparseSpMatDescr_t descr = nullptr;
      check(create(&descr, m.rows, m.cols, m.nnz, const_cast<std::int32_t*>(m.row_ptr.data()),
                   const_cast<std::int32_t*>(m.col_idx.data()),
                   const_cast<double*>(m.values.data()), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                   CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
      return descr;
    };
    const ScratchBuffer<std::int32_t> row_ptr(a.rows + 1, stream);
    const cusparseSpMatDescr_t left = matrix(a), right = matrix(b);
    cusparseSpMatDescr_t product = nullptr;
    check(create(&product, a.rows, b.cols, 0, row_ptr.data(), nullptr, nullptr, CUSPARSE_INDEX_32I,
                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    cusparseSpGEMMDescr_t descr = nullptr;
    check(new_descr(&descr));
    const double one = 1, zero = 0;
    const auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    const auto step = [&](auto function, std::size_t* bytes, void* space) {
      return function(handle_, plain, plain, &one, left, right, &zero, product, CUDA_R_64F,
                      CUSPARSE_SPGEMM_DEFAULT, descr, bytes, space);
    };
    std::size_t bytes = 0;
    check(step(estimate, &bytes, nullptr));
    const ScratchBuffer<char> first(std::max<std::size_t>(bytes, 1), stream);
    check(step(estimate, &bytes, first.data()));
    check(step(compute, &bytes, nullptr));
    const ScratchBuffer<char> second(std::max<std::size_t>(bytes, 1), stream);
    check(step(compute, &bytes, second.data()));
    std::int64_t rows = 0, cols = 0, nnz = 0;
    check(
        load<decltype(&cusparseSpMatGetSize)>("cusparseSpMatGetSize")(product, &rows, &cols, &nnz));
    const ScratchBuffer<std::int32_t> col_idx(nnz, stream);
    const ScratchBuffer<double> values(nnz, stream);
    check(load<decltype(&cusparseCsrSetPointers)>("cusparseCsrSetPointers")(
        product, row_ptr.data(), col_idx.data(), values.data()));
    check(copy(handle_, plain, plain, &one, left, right, &zero, product, CUDA_R_64F,
               CUSPARSE_SPGEMM_DEFAULT, descr));
    synchronize(stream);
    end_descr(descr);
    for (const cusparseSpMatDescr_t m : {left, right, product}) destroy(m);
    return nnz;
  }

 private:
  template <class Function>
  Function load(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }
  static void check(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS)
      fail(ExitCode::resource, "cuSPARSE returned the status {}", static_cast<int>(status));
  }

  void* library_ = nullptr;
  cusparseHandle_t handle_ = nullptr;
};

// The rigid-body modes of the nodes of elasticity3d n.
NearNullspace modes_of(const std::string& kind, std::int64_t n) {
  NearNullspace modes;
  if (kind != "elasticity3d") return modes;
  modes.width = 6;
  modes.values.assign(n * n * n * 18, 0.0);
  for (std::int64_t node = 0; node < n * n * n; ++node) {
    const auto x = static_cast<double>(node % n), y = static_cast<double>(node / n % n),
               z = static_cast<double>(node / n / n);
    double* const v = modes.values.data() + node * 18;
    v[0] = v[7] = v[14] = 1;
    v[3] = -y, v[9] = x;
    v[10] = -z, v[16] = y;
    v[5] = z, v[17] = -x;
  }
  return modes;
}

void print(const char* what, const SetUpFacts& s) {
  fmt::print(
      "  {:<11} {:8.2f} ms: strength {:.2f}, aggregation {:.2f}, prolongator {:.2f}, products "
      "{:.2f}, smoothers {:.2f}, coarsest {:.2f}\n",
      what, 1e3 * s.total, 1e3 * s.strength, 1e3 * s.aggregation, 1e3 * s.prolongator,
      1e3 * s.products, 1e3 * s.smoothers, 1e3 * s.coarsest);
}

// What the cycle makes of the levels.
void time_layouts(const DeviceSetUp& set_up) {
  double cold = 0, again = 0;
  for (int run = 0; run < kRuns; ++run) {  // the last run is printed
    Stopwatch watch;
    CudaHierarchy cycle(level_parts_of(set_up.levels()), CycleKind::v);
    cold = watch.lap();
    if (!cycle.renew(level_parts_of(set_up.levels())))
      fail(ExitCode::internal, "a cycle does not take the levels that it is made of");
    again = watch.lap();
    if (run + 1 < kRuns) continue;
    fmt::print(
        "  layouts     {:8.2f} ms, new values {:.2f} ms; {:.1f} MB, and the set-up {:.1f} MB\n",
        1e3 * cold, 1e3 * again, 1e-6 * static_cast<double>(cycle.bytes()),
        1e-6 * static_cast<double>(set_up.bytes()));
  }
}

// One product: ours cold and for new values, and cuSPARSE's cold.
void time_product(const char* what, const DeviceCsr<double>& a, const DeviceCsr<double>& b,
                  bool diagonal, std::int32_t run, std::int32_t node, CusparseProduct& cusparse,
                  StreamRef stream) {
  DeviceRows product = multiply(a, b, diagonal, run, stream, node);
  const double cold =
      best_ms(stream, [&] { product = multiply(a, b, diagonal, run, stream, node); });
  const double again =
      best_ms(stream, [&] { multiply_again(a, b, diagonal, run, product, stream, node); });
  fmt::print("  {:<9} {} nonzeros: {:.3f} ms, new values {:.3f} ms", what, product.nnz(), cold,
             again);
  try {
    std::int64_t nnz = 0;
    const double theirs = best_ms(stream, [&] { nnz = cusparse.multiply(a, b, stream); });
    fmt::print(", cuSPARSE {:.3f} ms ({} nonzeros)\n", theirs, nnz);
  } catch (const Error& error) {
    fmt::print(", cuSPARSE: {}\n", error.what());
  }
}

void run(const std::string& kind, std::int64_t n, CusparseProduct& cusparse) {
  const GenerateSpec spec{kind, n};
  const CsrMatrix<double> host = generate(spec, 0, generator_shape(spec).rows).local;
  const NearNullspace modes = modes_of(kind, n);
  Options options;
  options.block_size = kind == "elasticity3d" ? 3 : 1;
  const Stream stream;
  const auto finest = to_device(host.view(), stream);
  stream.synchronize();
  fmt::print("{} {}: {} rows, {} nonzeros\n", kind, n, host.rows, host.nnz());
  for (int turn = 0; turn < 3; ++turn) {
    DeviceSetUp set_up(finest.view(), modes, options);
    print(turn == 0 ? "first" : "cold", set_up.seconds());
    if (turn < 2) continue;
    for (int renewal = 0; renewal < 3; ++renewal) {
      set_up.renew();
      print("new values", set_up.seconds());
    }
    time_layouts(set_up);
    for (const DeviceLevel& level : set_up.levels())
      fmt::print("  level {:>9} rows {:>10} nonzeros, P {:>9}, radius {:.4f}\n", level.a.rows,
                 level.a.nnz, level.p.nnz(), level.spectral_radius);
    if (set_up.levels().size() < 2) continue;
    const DeviceLevel& level = set_up.levels().front();
    const std::int32_t width = modes.width > 0 ? modes.width : options.block_size;
    const auto a_p = multiply(level.a, level.p.view(), false, width, stream);
    time_product("A P", level.a, level.p.view(), false, width, options.block_size, cusparse,
                 stream);
    time_product("P^T (A P)", level.p_transposed.view(), a_p.view(), true, width, width, cusparse,
                 stream);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    select_device(0);
    CusparseProduct cusparse;
    for (int k = 1; k < argc; ++k) {
      const std::string argument = argv[k];
      const std::size_t colon = argument.find(':');
      if (colon == std::string::npos) fail(ExitCode::usage, "{} is not KIND:N", argument);
      run(argument.substr(0, colon), std::atoll(argument.c_str() + colon + 1), cusparse);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "multigrid_set_up_bench: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "multigrid_set_up_bench: {}\n", error.what());
    return 1;
  }
}
