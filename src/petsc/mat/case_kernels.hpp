// SPDX-License-Identifier: BSD-3-Clause
// Every kernel that `kernel:` of a case can name: those of kernel_registry(), and PETSc's own
// product. Whoever asks what such a kernel can do asks here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/choices.hpp"
#include "kernels/registry.hpp"

namespace trireme {

struct CaseKernel {
  std::string_view name;
  std::string_view summary;               // one line for --list-kernels
  std::string_view paper;                 // empty: the kernel is from no paper
  bool deterministic = true;              // the same bits from run to run
  bool host_bits_follow_threads = false;  // on the host only with the same number of threads
  const KernelEntry* entry = nullptr;     // null: PETSc's own product

  // Whether it multiplies FP64 vectors there.
  bool runs_on(Device device, Precision precision) const;
  // What planning has to know of it there.
  std::optional<KernelModel> model_on(Device device) const;
  // See KernelEntry::host_layout_bytes.
  double layout_bytes_on(Device device) const;
  // The names of the types of value that it has on a device: "double", "mixed", ...
  std::vector<std::string_view> values_on(Device device) const;
  // The only engine that solves with this kernel on a device; empty: both do.
  std::optional<Engine> engine_on(Device device) const;
  // Throws Error{resource} where a library that this kernel needs for the device lacks it.
  void require_library(Device device) const;
};

// In the order of --list-kernels.
std::vector<CaseKernel> case_kernels();
// Throws Error{usage} that lists the known names.
CaseKernel find_case_kernel(std::string_view name);

}  // namespace trireme
