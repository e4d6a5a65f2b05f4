// SPDX-License-Identifier: BSD-3-Clause
// Times products and iterations in the caller's row order and in the row order of the kernel.
//
//   row_order_bench [kernels=dasp,teb] [rounds=15] GENERATOR:N[:cg|:bicgstab|:graph] ...
//
// `graph` runs CG on a diagonally dominant matrix with the off-diagonal entry -1 wherever the
// generated matrix or its transpose has an entry.
//
// There is one line per matrix and kernel. It shows the time of a product in both orders, the
// breaks (the fraction of rows that do not directly follow the row before), the result and the
// duration of a solve's trial, the time of new values in both orders, and the time of an iteration
// in both orders.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "kernels/permutation.hpp"
#include "kernels/permuted_kernel.hpp"
#include "kernels/registry.hpp"
#include "solvers/cuda_kernel_system.hpp"
#include "solvers/cuda_solver.hpp"
#include "solvers/permuted_system.hpp"
#include "sparse/generators.hpp"

namespace {

using namespace trireme;
using namespace trireme::solvers;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

// The mean time of a call in microseconds, over `count` calls.
template <class Call>
double microseconds(int count, StreamRef stream, const Call& call) {
  const Event begin, end;
  begin.record(stream);
  for (int k = 0; k < count; ++k) call();
  end.record(stream);
  end.synchronize();
  return microseconds_between(begin, end) / count;
}

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

class Products {
 public:
  Products(CudaKernel<double>& kernel, DeviceSpan<const double> x, StreamRef stream)
      : kernel_(kernel),
        x_(x),
        y_(x.size(), stream),
        partials_(kernel.dot_partials(), stream),
        stream_(stream) {}
  void round() {
    us_.push_back(microseconds(20, stream_, [&] {
      if (partials_.size() > 0)
        kernel_.multiply_and_dot(x_, y_.span(), partials_.span(), stream_);
      else
        kernel_.multiply(x_, y_.span(), Accumulate::no, stream_);
    }));
  }
  double us() const { return median(us_); }

 private:
  CudaKernel<double>& kernel_;
  DeviceSpan<const double> x_;
  DeviceBuffer<double> y_, partials_;
  StreamRef stream_;
  std::vector<double> us_;
};

// The time of one additional iteration in microseconds, without the start and the end of a solve.
double iteration_us(CudaSystem& system, Method method, std::span<const double> diagonal,
                    DeviceSpan<const double> b, StreamRef stream) {
  PreconditionerSpec jacobi;
  jacobi.kind = PreconditionerSpec::Kind::jacobi;
  jacobi.diagonal = diagonal;
  CudaSolver solver(system, method, Variant::classic, jacobi, {CudaMode::graph});
  DeviceBuffer<double> x(b.size(), stream);
  const auto seconds = [&](std::int64_t iterations) {
    Tolerances rule;
    rule.norm = NormKind::none;
    rule.max_iterations = iterations;
    double best = 1e9;
    for (int k = 0; k < 3; ++k) {
      const auto start = std::chrono::steady_clock::now();
      solver.solve(b, x.span(), true, stream, rule);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      best = std::min(best, took.count());
    }
    return best;
  };
  return 1e6 * (seconds(140) - seconds(20)) / 120;
}

CsrMatrix<double> graph_of(const CsrMatrix<double>& a) {
  std::vector<std::uint64_t> entries;
  entries.reserve(2 * a.col_idx.size() + a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const auto row = static_cast<std::uint64_t>(i);
    entries.push_back(row << 32 | row);
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      const auto column = static_cast<std::uint64_t>(a.col_idx[k]);
      entries.push_back(row << 32 | column);
      entries.push_back(column << 32 | row);
    }
  }
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  CsrMatrix<double> graph{a.rows, a.cols, Array<std::int32_t>(a.rows + 1, 0), {}, {}};
  for (const std::uint64_t entry : entries) {
    ++graph.row_ptr[(entry >> 32) + 1];
    graph.col_idx.push_back(static_cast<std::int32_t>(entry & 0xffffffffu));
  }
  for (std::int64_t i = 0; i < a.rows; ++i) graph.row_ptr[i + 1] += graph.row_ptr[i];
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = graph.row_ptr[i]; k < graph.row_ptr[i + 1]; ++k)
      graph.values.push_back(graph.col_idx[k] == i
                                 ? graph.row_ptr[i + 1] - graph.row_ptr[i] - 1 + 1e-3 * (1 + i % 7)
                                 : -1.0);
  return graph;
}

void run(const std::string& problem, const std::vector<std::string>& kernels, int rounds) {
  const std::vector<std::string> parts = split(problem, ':');
  GenerateSpec spec;
  spec.kind = parts.at(0);
  spec.n = std::stoll(parts.at(1));
  CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
  if (parts.size() > 2 && parts[2] == "graph") a = graph_of(a);
  Array<double> diagonal(a.rows, 0.0), ones(a.rows, 1.0);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      if (a.col_idx[k] == i) diagonal[i] += a.values[k];
  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const auto x = to_device(std::span<const double>(ones), stream);
  for (const std::string& name : kernels) {
    const auto kernel = build_cuda_kernel<double>(name, on_device.view(), stream);
    DeviceBuffer<std::int32_t> order = kernel->row_order(stream);
    const double breaks =
        static_cast<double>(breaks_in(order.view(), stream)) / static_cast<double>(a.rows);
    const PermutationRule always{.min_nonzeros = 0, .min_breaks = 0, .min_gain = -1e9};
    PermutationTrial trial;
    for (int k = 0; k < 2; ++k)  // The first trial also loads the code.
      trial = try_permuted(*kernel, on_device.view(), always.min_products, always, stream);
    Products callers(*kernel, x.view(), stream), own(trial.winner->kernel(), x.view(), stream);
    for (int k = 0; k < rounds; ++k) {
      callers.round();
      own.round();
    }
    const double update =
        microseconds(5, stream, [&] { kernel->update_values(on_device.values.view(), stream); });
    const double permuted_update = microseconds(
        5, stream, [&] { trial.winner->update_values(on_device.values.view(), stream); });
    fmt::print(
        "{:<26} {:<5} {:7.1f} us {:7.1f} ({:+5.1f}%) | breaks {:.2f} | trial {:+5.1f}%, "
        "{:5.2f} ms = {:3.0f} products | new values {:5.1f}, {:5.1f} products",
        problem, name, callers.us(), own.us(), 100 * (1 - own.us() / callers.us()), breaks,
        100 * trial.gain(), 1e3 * trial.seconds, 1e6 * trial.seconds / callers.us(),
        update / callers.us(), permuted_update / callers.us());
    if (parts.size() > 2) {
      const Method method = parts[2] == "bicgstab" ? Method::bicgstab : Method::cg;
      CudaKernelSystem here(*kernel, on_device.view());
      PermutedSystem there(std::move(trial.winner));
      const double before = iteration_us(here, method, diagonal, x.view(), stream);
      const double after = iteration_us(there, method, diagonal, x.view(), stream);
      fmt::print(" | iteration {:7.1f} us {:7.1f} ({:+5.1f}%)", before, after,
                 100 * (1 - after / before));
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> kernels = {"dasp", "teb"};
  int rounds = 15;
  try {
    select_device();
    for (int k = 1; k < argc; ++k) {
      const std::string word = argv[k];
      if (word.starts_with("kernels="))
        kernels = split(word.substr(8), ',');
      else if (word.starts_with("rounds="))
        rounds = std::stoi(word.substr(7));
      else
        run(word, kernels, rounds);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "row_order_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
