// SPDX-License-Identifier: BSD-3-Clause
// Device and precision of each kernel, and what a kernel needs to run there.
#include "app/requested_kernels.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "petsc/ksp/engine_choice.hpp"
#include "petsc/mat/case_kernels.hpp"
#include "planning/choose.hpp"
#include "planning/kernel_for_matrix.hpp"

namespace trireme {
namespace {

// Where the kernel runs: as the case says, or on a GPU where every rank has one and the kernel can.
Device device_of(const std::string& name, const Case& c, const GpusOfRanks& gpus) {
  if (c.device) return *c.device;
  if (name == kAuto) return choose_device(gpus.everywhere);
  const CaseKernel kernel = find_case_kernel(name);
  if (!kernel.runs_on(Device::cpu, Precision::full)) return Device::cuda;
  return gpus.everywhere && kernel.runs_on(Device::cuda, Precision::full) ? Device::cuda
                                                                          : Device::cpu;
}

// Mixed precision needs corrections by the residual in FP64, which only the resident engine makes.
void require_resident_engine(const Case& c) {
  if (const EngineChoice choice = choose_engine(c.solver); !choice.resident())
    fail(ExitCode::usage, "precision: mixed needs the resident engine: {}; use precision: double",
         describe(choice));
}

// Throws Error{usage} where the case asks for another engine than the kernel's only one.
void require_engine_of(const CaseKernel& kernel, Device device, std::optional<Engine> wanted) {
  const auto only = kernel.engine_on(device);
  if (only && wanted && *wanted != *only)
    fail(ExitCode::usage, "kernel '{}' on a GPU has no engine: {}; use engine: {} or device: cpu",
         kernel.name, to_string(*wanted), to_string(*only));
}

// Throws Error{resource} where a rank has no GPU for it.
bool has_executor(const Case& c, const KernelChoice& choice, const GpusOfRanks& gpus) {
  const CaseKernel kernel = find_case_kernel(choice.name);
  kernel.require_library(choice.device);
  require_engine_of(kernel, choice.device, c.solver.engine);
  if (!kernel.entry && choice.ordering != Ordering::given)
    fail(ExitCode::usage, "kernel '{}' has no order of rows of its own: use ordering: given",
         choice.name);
  const bool exists = kernel.runs_on(choice.device, choice.precision);
  if (choice.device == Device::cpu || gpus.everywhere) return exists;
  // A kernel for GPUs only, in a build without CUDA.
  const bool is_left_out =
      kernel.values_on(Device::cpu).empty() && kernel.values_on(Device::cuda).empty();
  if (is_left_out)
    fail(ExitCode::resource,
         "kernel '{}' needs a GPU, and this program was built without CUDA; use a kernel for CPUs, "
         "see solve --list-kernels",
         choice.name);
  if (!exists || kernel.runs_on(Device::cpu, choice.precision))
    return exists;  // select_gpu() knows why there is no GPU
  fail(ExitCode::resource,
       "kernel '{}' needs a GPU, and there is none {}; use a kernel for CPUs, see solve "
       "--list-kernels",
       choice.name, gpus.lacking.empty() ? "here" : "on " + gpus.lacking);
}

}  // namespace

std::vector<KernelChoice> requested_kernels(const Case& c, const GpusOfRanks& gpus) {
  const auto wants = [&](Precision precision) { return c.names_precision(precision); };
  if (wants(Precision::mixed)) require_resident_engine(c);
  std::vector<KernelChoice> choices;
  for (const std::string& name : c.kernels)
    for (const std::optional<Precision>& asked : c.precisions) {
      const Precision precision = asked.value_or(Precision::full);
      const KernelChoice kernel{.name = name,
                                .device = device_of(name, c, gpus),
                                .precision = precision,
                                .ordering = c.ordering.value_or(Ordering::given),
                                .precision_is_free = !asked};
      if (name != kAuto && !has_executor(c, kernel, gpus)) {
        if (precision == Precision::mixed && wants(Precision::full)) continue;
        const Device other = kernel.device == Device::cuda ? Device::cpu : Device::cuda;
        const bool there = find_case_kernel(name).runs_on(other, precision);
        fail(ExitCode::usage, "kernel '{}' has no {} executor for {}; {}see solve --list-kernels",
             name, kernel.device == Device::cuda ? "CUDA" : "CPU",
             precision == Precision::mixed ? "mixed precision" : "double",
             there ? fmt::format("use device: {}, or ", to_string(other)) : "");
      }
      choices.push_back(kernel);
    }
  return choices;
}

bool can_run(const KernelDecision& decision, const Case& c, const KernelChoice& requested) {
  const auto known = case_kernels();
  const auto kernel = std::ranges::find(known, decision.kernel, &CaseKernel::name);
  if (kernel == known.end() || !kernel->runs_on(requested.device, requested.precision))
    return false;
  if (c.reproducible && !kernel->deterministic) return false;
  const auto only = kernel->engine_on(requested.device);
  if (only && c.solver.engine && *only != *c.solver.engine) return false;

  const auto ordering = choice_of<Ordering>(decision.ordering);
  if (!ordering || (c.ordering && *c.ordering != *ordering)) return false;
  if (*ordering != Ordering::given && (!kernel->entry || !choose_engine(c.solver).resident()))
    return false;

  if (decision.ghost_kernel.empty()) return true;
  const auto ghost = std::ranges::find(known, decision.ghost_kernel, &CaseKernel::name);
  return kernel->entry && ghost != known.end() && ghost->entry &&
         ghost->runs_on(requested.device, requested.precision);
}

std::string kernels_of_build(Device device, Precision precision) {
  std::vector<std::string_view> names;
  for (const CaseKernel& kernel : case_kernels())
    if (kernel.runs_on(device, precision)) names.push_back(kernel.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<PlannedRun> plan_runs(const std::vector<KernelChoice>& requested,
                                  const DistributedMatrix& matrix, const FindDecision& find) {
  std::vector<PlannedRun> runs;
  for (const KernelChoice& kernel : requested) {
    PlannedRun run{.kernel = kernel, .automatic = kernel.name == kAuto};
    if (run.automatic) {
      run.earlier = find(kernel);
      if (!run.earlier) run.traits = traits_for_cost_model(matrix, kernel.device);
      run.kernel.name = run.earlier ? run.earlier->kernel
                                    : choose_kernel(kernel.device, *run.traits, kernel.precision);
      if (run.earlier) {
        run.kernel.ordering = choice_of<Ordering>(run.earlier->ordering).value_or(Ordering::given);
        run.kernel.ghost_kernel = run.earlier->ghost_kernel;
      }
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

std::string select_gpu(MPI_Comm comm, const std::vector<KernelChoice>& kernels,
                       const GpusOfRanks& gpus) {
  if (std::ranges::none_of(
          kernels, [](const KernelChoice& kernel) { return kernel.device == Device::cuda; }))
    return {};
  if (!gpus.lacking.empty())
    fail(ExitCode::resource,
         "there is no usable GPU on {}; use device: cpu, or nodes that all have a GPU and a driver",
         gpus.lacking);
  return select_gpu_of_rank(comm).name;
}

std::string name_of(const PlannedRun& run) {
  return (run.automatic ? std::string(kAuto) : run.kernel.name) +
         (run.kernel.precision == Precision::mixed ? "-mixed" : "");
}

}  // namespace trireme
