// SPDX-License-Identifier: BSD-3-Clause
// The registered kernels and PETSc's as entries of one kind.
#include "petsc/mat/case_kernels.hpp"

#include <initializer_list>
#include <utility>

#include "base/error.hpp"
#include "config/case.hpp"
#include "petsc/session.hpp"

namespace trireme {
namespace {

constexpr CaseKernel kPetscProduct = {
    .name = kPetscAij, .summary = "PETSc's own matrix and product: the baseline", .paper = ""};

// Of PETSc's product on a host: as KernelEntry::host_model.
constexpr KernelModel kPetscModel{
    .of_bandwidth = 0.72, .start_us = 1, .build_bytes = 2, .build_us = 20};

CaseKernel of_entry(const KernelEntry& entry) {
  return {.name = entry.name,
          .summary = entry.summary,
          .paper = entry.paper,
          .deterministic = entry.deterministic,
          .host_bits_follow_threads = entry.host_bits_follow_threads,
          .entry = &entry};
}

}  // namespace

bool CaseKernel::runs_on(Device device, Precision precision) const {
  if (entry) return entry->runs_on(device, precision);
  return precision == Precision::full && (device == Device::cpu || petsc_has_cuda());
}

std::optional<KernelModel> CaseKernel::model_on(Device device) const {
  if (entry) return entry->model_on(device);
  return device == Device::cpu ? std::optional(kPetscModel) : std::nullopt;
}

double CaseKernel::layout_bytes_on(Device device) const {
  if (!entry) return 0;
  return device == Device::cpu ? entry->host_layout_bytes : entry->cuda_layout_bytes;
}

std::vector<std::string_view> CaseKernel::values_on(Device device) const {
  using Values = std::initializer_list<std::pair<bool, std::string_view>>;
  std::vector<std::string_view> names;
  const auto add = [&](Values values) {
    for (const auto& [there, value] : values)
      if (there) names.push_back(value);
  };
  if (!entry)
    add({{runs_on(device, Precision::full), "double"}});
  else if (device == Device::cpu)
    add({{entry->host_double != nullptr, "double"},
         {entry->host_float != nullptr, "float"},
         {entry->host_int != nullptr, "int"},
         {entry->host_mixed != nullptr, "mixed"}});
  else
    add({{entry->cuda_double != nullptr, "double"},
         {entry->cuda_float != nullptr, "float"},
         {entry->cuda_half != nullptr, "half"},
         {entry->cuda_mixed != nullptr, "mixed"}});
  return names;
}

// PETSc's product on a GPU takes PETSc's vectors there, which the resident engine does not have.
std::optional<Engine> CaseKernel::engine_on(Device device) const {
  if (entry || device == Device::cpu) return std::nullopt;
  return Engine::petsc;
}

void CaseKernel::require_library(Device device) const {
  if (entry || device == Device::cpu || petsc_has_cuda()) return;
  fail(ExitCode::resource,
       "kernel '{}' on a GPU needs a PETSc with CUDA, and PETSc {} here has none; use "
       "device: cpu, or build one by scripts/build-petsc-cuda",
       name, petsc_version());
}

std::vector<CaseKernel> case_kernels() {
  std::vector<CaseKernel> kernels;
  for (const KernelEntry& entry : kernel_registry()) kernels.push_back(of_entry(entry));
  kernels.push_back(kPetscProduct);
  return kernels;
}

CaseKernel find_case_kernel(std::string_view name) {
  return name == kPetscProduct.name ? kPetscProduct : of_entry(find_kernel(name));
}

}  // namespace trireme
