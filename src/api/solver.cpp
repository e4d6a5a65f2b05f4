// SPDX-License-Identifier: BSD-3-Clause
#include "api/on_device.hpp"
#include "api/work.hpp"
#include "base/error.hpp"

namespace trireme::api {
namespace {

// Refers to an array on the GPU of `work`, whose numbers are read or written from now on.
template <class Work>
Gpu& gpu_of(Work& work, const char* name) {
  if (!work.gpu())
    fail(ExitCode::usage,
         "{} is on a GPU, and this solver works on the CPU; use device cuda, or host memory", name);
  return *work.gpu();
}

}  // namespace

Solver::Solver(const CsrArrays& matrix, const SolverOptions& options)
    : work_(on_device(-1, [&] { return std::make_unique<Work>(matrix, options); })) {}
Solver::~Solver() = default;
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;

std::int64_t Solver::rows() const { return work_->rows(); }
int Solver::gpu() const { return work_->device(); }
SolveReport Solver::solve(std::span<const double> b, std::span<double> x, const SolveOptions& how) {
  return on_device(work_->device(), [&] { return work_->solve(b, Vector(x), how); });
}
SolveReport Solver::solve(GpuArray<const double> b, GpuArray<double> x, const SolveOptions& how) {
  return on_device(work_->device(), [&] {
    Gpu& gpu = gpu_of(*work_, "b");
    gpu.wait_for(stream_of(b));
    if (x.stream != b.stream) gpu.wait_for(stream_of(x));
    return work_->solve(Numbers(of(b), gpu), Vector(of(x), gpu), how);
  });
}
std::vector<SolveReport> Solver::solve_many(std::span<const double> b, std::span<double> x,
                                            std::int64_t width, const SolveOptions& how) {
  return on_device(work_->device(), [&] { return work_->solve_many(b, Vector(x), width, how); });
}
std::vector<SolveReport> Solver::solve_many(GpuArray<const double> b, GpuArray<double> x,
                                            std::int64_t width, const SolveOptions& how) {
  return on_device(work_->device(), [&] {
    Gpu& gpu = gpu_of(*work_, "b");
    gpu.wait_for(stream_of(b));
    if (x.stream != b.stream) gpu.wait_for(stream_of(x));
    return work_->solve_many(Numbers(of(b), gpu), Vector(of(x), gpu), width, how);
  });
}
void Solver::update(std::span<const double> values) {
  on_device(work_->device(), [&] { work_->update(values); });
}
void Solver::precondition(std::span<const double> r, std::span<double> z) {
  on_device(work_->device(), [&] { work_->precondition(r, z); });
}
void Solver::precondition(GpuArray<const double> r, GpuArray<double> z) {
  on_device(work_->device(), [&] {
    gpu_of(*work_, "r");
    work_->precondition(of(r), of(z), stream_of(r));
  });
}
SolverFacts Solver::facts() const {
  return on_device(work_->device(), [&] { return work_->facts(); });
}

}  // namespace trireme::api
