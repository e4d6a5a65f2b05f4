// SPDX-License-Identifier: BSD-3-Clause
// Times the product of each kernel in each order of rows on a GPU.
//
//   ordering_bench [kernels=dasp,teb] [rounds=15] MATRIX ...
//
// A MATRIX is GENERATOR:N, GENERATOR:N:shuffled (rows and columns in a random order), or a file of
// any format that `solve` reads. Without `kernels=`, all kernels that multiply FP64 vectors run.
//
// There is one table per matrix. Its columns are the orders, and below their names stand the
// seconds for finding the order and for bringing the matrix into it. Its rows are the kernels, with
// the microseconds per product and the milliseconds of the build.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/split_mix.hpp"
#include "base/stopwatch.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "io/problem.hpp"
#include "kernels/permutation.hpp"
#include "kernels/registry.hpp"
#include "ordering/device_ordering.hpp"
#include "ordering/ordering.hpp"
#include "sparse/generators.hpp"
#include "sparse/permuted.hpp"

namespace {

using namespace trireme;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

Array<std::int32_t> random_order(std::int64_t rows) {
  Array<std::int32_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t k = rows; k > 1; --k)
    std::swap(order[k - 1], order[split_mix(k, 1) % static_cast<std::uint64_t>(k)]);
  return order;
}

CsrMatrix<double> load(const std::string& name) {
  if (std::filesystem::exists(name)) {
    ProblemSpec spec;
    spec.source = SystemFile{.file = name, .matrix = {}, .x0 = {}, .x_exact = {}};
    return load_matrix(MPI_COMM_SELF, spec).slab.local;
  }
  const std::vector<std::string> parts = split(name, ':');
  if (parts.size() < 2) fail(ExitCode::usage, "{} is no file and no GENERATOR:N", name);
  GenerateSpec spec;
  spec.kind = parts[0];
  spec.n = std::stoll(parts[1]);
  CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
  if (parts.size() == 2) return a;
  return permuted_square(a.view(), random_order(a.rows)).matrix;
}

struct Ordered {
  Ordering ordering = Ordering::given;
  double find_seconds = 0, permute_seconds = 0;
  DeviceCsrMatrix<double> matrix;
};

// The second search is timed, because the first one also loads the code. Clusters are found on the
// GPU, and must be those that the host finds.
DeviceBuffer<std::int32_t> find_order(Ordering ordering, const CsrMatrix<double>& a,
                                      const DeviceCsr<double>& on_device, double& seconds,
                                      StreamRef stream) {
  Array<std::int32_t> order;
  if (ordering == Ordering::cluster) cluster_order(on_device, stream);
  const Stopwatch watch;
  if (ordering == Ordering::rcm) {
    order = make_order(ordering, a.view());
  } else {
    order = to_host(cluster_order(on_device, stream).view(), stream);
  }
  seconds = watch.seconds();
  if (ordering == Ordering::cluster && order != make_order(ordering, a.view()))
    fail(ExitCode::internal, "the host and the GPU find different clusters");
  return to_device(std::span<const std::int32_t>(order), stream);
}

Ordered in_order(Ordering ordering, const CsrMatrix<double>& a, StreamRef stream) {
  Ordered result;
  result.ordering = ordering;
  result.matrix = to_device(a.view(), stream);
  if (ordering == Ordering::given) return result;
  const DeviceBuffer<std::int32_t> order =
      find_order(ordering, a, result.matrix.view(), result.find_seconds, stream);
  sorted_permuted_matrix(result.matrix.view(), order.view(), stream);
  synchronize(stream);
  const Stopwatch watch;
  DeviceCsrMatrix<double> permuted =
      sorted_permuted_matrix(result.matrix.view(), order.view(), stream).matrix;
  synchronize(stream);
  result.permute_seconds = watch.seconds();
  result.matrix = std::move(permuted);
  return result;
}

struct Times {
  double product_us = 0, build_ms = 0;
};

Times measure(const std::string& kernel, const DeviceCsr<double>& a, int rounds, StreamRef stream) {
  const Stopwatch watch;
  const auto built = build_cuda_kernel<double>(kernel, a, stream);
  const double build_ms = 1e3 * watch.seconds();
  const DeviceBuffer<double> x(a.cols, stream), y(a.rows, stream);
  fill_zero(x.span(), stream);
  constexpr int kProducts = 20;
  std::vector<double> us;
  const Event begin, end;
  for (int round = -1; round < rounds; ++round) {  // round -1 warms up
    begin.record(stream);
    for (int k = 0; k < kProducts; ++k) built->multiply(x.view(), y.span(), Accumulate::no, stream);
    end.record(stream);
    end.synchronize();
    if (round >= 0) us.push_back(microseconds_between(begin, end) / kProducts);
  }
  std::sort(us.begin(), us.end());
  return {us[us.size() / 2], build_ms};
}

void run(const std::string& name, const std::vector<std::string>& kernels, int rounds) {
  const CsrMatrix<double> a = load(name);
  if (a.rows != a.cols) {
    fmt::print("{}: not square\n", name);
    return;
  }
  const Stream stream;
  std::vector<Ordered> orders;
  for (const Ordering ordering : {Ordering::given, Ordering::rcm, Ordering::cluster})
    orders.push_back(in_order(ordering, a, stream));
  fmt::print("{}: {} rows, {} nonzeros\n{:<16}", name, a.rows, a.nnz(), "");
  for (const Ordered& order : orders) fmt::print(" {:>20}", to_string(order.ordering));
  fmt::print("\n{:<16}", "find + permute");
  for (const Ordered& order : orders)
    fmt::print(" {:>9.4f} + {:.4f} s", order.find_seconds, order.permute_seconds);
  fmt::print("\n");
  for (const std::string& kernel : kernels) {
    fmt::print("{:<16}", kernel);
    for (const Ordered& order : orders) try {
        const Times times = measure(kernel, order.matrix.view(), rounds, stream);
        fmt::print(" {:>8.1f} us {:>6.1f} ms", times.product_us, times.build_ms);
      } catch (const Error&) {
        fmt::print(" {:>20}", "cannot run");
      }
    fmt::print("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::vector<std::string> kernels;
  for (const KernelEntry& entry : kernel_registry())
    if (entry.cuda_double) kernels.emplace_back(entry.name);
  int rounds = 15, failed = 0;
  try {
    select_device();
  } catch (const Error& error) {
    fmt::print(stderr, "ordering_bench: {}\n", error.what());
    MPI_Finalize();
    return 1;
  }
  for (int k = 1; k < argc; ++k) try {
      const std::string word = argv[k];
      if (word.starts_with("kernels="))
        kernels = split(word.substr(8), ',');
      else if (word.starts_with("rounds="))
        rounds = std::stoi(word.substr(7));
      else
        run(word, kernels, rounds);
    } catch (const std::exception& error) {
      fmt::print(stderr, "ordering_bench: {}: {}\n", argv[k], error.what());
      failed = 1;
    }
  MPI_Finalize();
  return failed;
}
