// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "api/on_device.hpp"
#include "api/work.hpp"
#include "base/error.hpp"

namespace trireme::api {
namespace {

Gpu& gpu_of(Gpu* gpu, const char* name) {
  if (!gpu)
    fail(ExitCode::usage,
         "{} is on a GPU, and this solver works on the CPU; use device cuda, or host memory", name);
  return *gpu;
}

// What surrounds each function of a solver.
template <class Work, class Function>
auto together(Work& work, const Function& function) {
  return on_device(work.device(), [&] { return work.ranks().together(function); });
}

// Calls solve(b, x) after what the streams of the arrays have, and returns when x is complete.
template <class Work, class Solve>
auto with_gpu_arrays(Work& work, const GpuArray<const double>& b, const GpuArray<double>& x,
                     const Solve& solve) {
  return on_device(work.device(), [&] {
    Gpu& gpu = gpu_of(work.gpu(), "b");
    gpu.wait_for(stream_of(b));
    if (x.stream != b.stream) gpu.wait_for(stream_of(x));
    auto result = solve(Numbers(of(b), gpu), Vector(of(x), gpu));
    gpu.wait_until_done();
    return result;
  });
}

}  // namespace

Solver::Solver(const CsrArrays& matrix, const SolverOptions& options)
    : work_(on_device(-1, [&] {
        const auto ranks = std::make_shared<const Ranks>(options.communicator);
        return ranks->together([&] { return std::make_unique<Work>(ranks, matrix, options); });
      })) {}
Solver::~Solver() = default;
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;

std::int64_t Solver::rows() const { return work_->rows(); }
int Solver::gpu() const { return work_->device(); }
SolveReport Solver::solve(std::span<const double> b, std::span<double> x, const SolveOptions& how) {
  return together(*work_, [&] { return work_->solve(b, Vector(x), how); });
}
SolveReport Solver::solve(GpuArray<const double> b, GpuArray<double> x, const SolveOptions& how) {
  return with_gpu_arrays(*work_, b, x, [&](const Numbers& of_b, Vector of_x) {
    return work_->solve(of_b, std::move(of_x), how);
  });
}
std::vector<SolveReport> Solver::solve_many(std::span<const double> b, std::span<double> x,
                                            std::int64_t width, const SolveOptions& how) {
  return together(*work_, [&] { return work_->solve_many(b, Vector(x), width, how); });
}
std::vector<SolveReport> Solver::solve_many(GpuArray<const double> b, GpuArray<double> x,
                                            std::int64_t width, const SolveOptions& how) {
  return with_gpu_arrays(*work_, b, x, [&](const Numbers& of_b, Vector of_x) {
    return work_->solve_many(of_b, std::move(of_x), width, how);
  });
}
void Solver::update(std::span<const double> values) {
  together(*work_, [&] { work_->update(values); });
}
void Solver::precondition(std::span<const double> r, std::span<double> z) {
  together(*work_, [&] { work_->precondition(r, z); });
}
void Solver::precondition(GpuArray<const double> r, GpuArray<double> z) {
  on_device(work_->device(), [&] {
    gpu_of(work_->gpu(), "r");
    work_->precondition(of(r), of(z), stream_of(r));
  });
}
SolverFacts Solver::facts() const {
  return on_device(work_->device(), [&] { return work_->facts(); });
}

}  // namespace trireme::api
