// SPDX-License-Identifier: BSD-3-Clause
// Times the resident engine on a GPU, without PETSc. An option applies to the problems after it.
//
//   resident_bench [kernel=csr-vector] [method=cg] [mode=auto] [variant=auto] [unroll=0]
//                  [rtol=1e-8] [repeat=5] [pc=jacobi] [degree=4] [l2=0] [vectors=double]
//                  GENERATOR:N ...
//
// vectors=fp32: the loop's vectors and values are in FP32, as in a solve with precision: mixed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/buffer.hpp"
#include "device/device.hpp"
#include "kernels/narrow_kernel.hpp"
#include "kernels/registry.hpp"
#include "solvers/cuda_kernel_system.hpp"
#include "solvers/cuda_solver.hpp"
#include "sparse/generators.hpp"

namespace {

using namespace trireme;
using namespace trireme::solvers;

const std::map<std::string, CudaMode> kModes = {{"auto", CudaMode::automatic},
                                                {"graph", CudaMode::graph},
                                                {"persistent", CudaMode::persistent},
                                                {"stepped", CudaMode::stepped}};
const std::map<std::string, Variant> kVariants = {{"auto", Variant::automatic},
                                                  {"classic", Variant::classic},
                                                  {"single_reduction", Variant::single_reduction}};

std::string name_of(CudaMode mode) {
  for (const auto& [name, value] : kModes)
    if (value == mode) return name;
  return "?";
}

void run(const std::string& problem, std::map<std::string, std::string> options) {
  const auto colon = problem.find(':');
  GenerateSpec spec;
  spec.kind = problem.substr(0, colon);
  spec.n = std::stoll(problem.substr(colon + 1));
  const GlobalShape shape = generator_shape(spec);
  const CsrMatrix<double> a = generate(spec, 0, shape.rows).local;
  const auto rows = static_cast<std::size_t>(a.rows);
  Array<double> diagonal(rows, 0.0), b(rows, 0.0), x(rows);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.col_idx[k] == static_cast<std::int32_t>(i)) diagonal[i] += a.values[k];
      b[i] += a.values[k] * std::sin(1e3 * a.col_idx[k] * a.col_idx[k] + 1);
    }

  const Stream stream;
  const auto on_device = to_device(a.view(), stream);
  const DeviceCsr<double> csr = on_device.view();
  const auto kernel = build_cuda_kernel<double>(options["kernel"], csr, stream);
  stream.synchronize();
  const bool narrow = options["vectors"] == "fp32";
  Array<float> defect(narrow ? rows : 0);
  for (std::size_t i = 0; i < defect.size(); ++i) {
    double lost = 0;
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      lost += a.values[k] - static_cast<double>(static_cast<float>(a.values[k]));
    defect[i] = static_cast<float>(lost);
  }
  if (std::ranges::all_of(defect, [](float lost) { return lost == 0; })) defect.clear();
  const auto defect_on_device = to_device(std::span<const float>(defect), stream);
  std::optional<NarrowKernel> floats;
  if (narrow) floats.emplace(options["kernel"], csr, defect_on_device.view(), stream);
  CudaKernelSystem system(*kernel, csr, nullptr, {}, narrow ? &*floats : nullptr);
  PreconditionerSpec pc;
  if (options["pc"] != "none") pc.kind = PreconditionerSpec::Kind::jacobi;
  if (options["pc"] == "chebyshev") pc.kind = PreconditionerSpec::Kind::chebyshev;
  pc.degree = std::stoi(options["degree"]);
  pc.diagonal = diagonal;
  const Method method = method_named(options["method"]).value().method;
  CudaOptions cuda{kModes.at(options["mode"]), std::stoi(options["unroll"])};
  cuda.through_l2 = options["l2"] == "1";
  const auto seconds_since = [](std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto before_setup = std::chrono::steady_clock::now();
  CudaSolver solver(system, method, kVariants.at(options["variant"]), pc, cuda);
  const double setup = seconds_since(before_setup);
  Tolerances rule;
  rule.rtol = std::stod(options["rtol"]);
  rule.max_iterations = 20000;

  const auto b_device = to_device(std::span<const double>(b), stream);
  DeviceBuffer<double> x_device(rows, stream);
  stream.synchronize();
  std::vector<double> seconds;
  double first_solve = 0;
  SolveResult outcome;
  Array<double> first;
  bool same = true;
  for (int k = 0; k <= std::stoi(options["repeat"]); ++k) {
    const auto start = std::chrono::steady_clock::now();
    outcome = solver.solve(b_device.view(), x_device.span(), true, stream, rule);
    const double s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (k > 0)
      seconds.push_back(s);  // The first solve, which captures the graph, is kept apart.
    else
      first_solve = s;
    x = to_host(x_device.view(), stream);
    if (first.empty()) first = x;
    same = same && first == x;
  }
  // The time of one additional iteration, without the start and the verification of a solve.
  const auto run_iterations = [&](std::int64_t count) {
    Tolerances fixed = rule;
    if (narrow)
      fixed.rtol = fixed.atol = 0;
    else
      fixed.norm = NormKind::none;
    fixed.max_iterations = count;
    double best = 1e9;
    for (int k = 0; k < 5; ++k) {
      const auto start = std::chrono::steady_clock::now();
      solver.solve(b_device.view(), x_device.span(), true, stream, fixed);
      best = std::min(
          best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  };
  const double marginal = (run_iterations(500) - run_iterations(100)) / 400;
  std::sort(seconds.begin(), seconds.end());
  long double residual = 0, norm_b = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    long double r = b[i];
    for (std::int32_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      r -= static_cast<long double>(a.values[k]) * x[a.col_idx[k]];
    residual += r * r;
    norm_b += static_cast<long double>(b[i]) * b[i];
  }
  const double iterations = static_cast<double>(std::max<std::int64_t>(outcome.iterations, 1));
  fmt::print(
      "{:<16} {:>9} rows {:<12} {} {:<8} {:<10} {:<7} unroll {:>2}: {:8.2f} us/it (min {:.2f}, max "
      "{:.2f}), one more {:.2f}, {:5} it, reason {}, true {:.2e}, replaced {}, bits {}, setup "
      "{:.2f} ms, first solve {:.2f} ms, other solves {:.3f} ms\n",
      problem, rows, options["kernel"], options["vectors"], options["method"],
      name_of(solver.mode()),
      solver.variant() == Variant::single_reduction ? "single_reduction" : "classic", cuda.unroll,
      1e6 * seconds[seconds.size() / 2] / iterations, 1e6 * seconds.front() / iterations,
      1e6 * seconds.back() / iterations, 1e6 * marginal, outcome.iterations,
      static_cast<int>(outcome.reason), std::sqrt(static_cast<double>(residual / norm_b)),
      outcome.replacements, same ? "same" : "DIFFER", 1e3 * setup, 1e3 * first_solve,
      1e3 * seconds[seconds.size() / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  std::map<std::string, std::string> options = {
      {"kernel", "csr-vector"}, {"method", "cg"}, {"mode", "auto"},     {"variant", "auto"},
      {"unroll", "0"},          {"rtol", "1e-8"}, {"repeat", "5"},      {"pc", "jacobi"},
      {"degree", "4"},          {"l2", "0"},      {"vectors", "double"}};
  try {
    select_device();
    for (int k = 1; k < argc; ++k) {
      const std::string word = argv[k];
      const auto equals = word.find('=');
      if (equals != std::string::npos)
        options[word.substr(0, equals)] = word.substr(equals + 1);
      else
        run(word, options);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "resident_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
