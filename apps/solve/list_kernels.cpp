// SPDX-License-Identifier: BSD-3-Clause
// The kernels of cases as a table.
#include "list_kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "petsc/mat/case_kernels.hpp"

namespace trireme::solve {
namespace {

std::string values(const CaseKernel& kernel, Device device) {
  const auto names = kernel.values_on(device);
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, " "));
}

std::string row(std::string_view name, std::string_view cpu, std::string_view cuda) {
  return fmt::format("{:<20}{:<24}{}\n", name, cpu, cuda);
}

}  // namespace

std::string list_kernels() {
  std::string text = row("kernel", "cpu", "cuda");
  for (const CaseKernel& kernel : case_kernels()) {
    text += row(kernel.name, values(kernel, Device::cpu), values(kernel, Device::cuda));
    text +=
        fmt::format("  {}{}{}{}\n", kernel.summary,
                    kernel.paper.empty() ? "" : fmt::format(" [{}]", kernel.paper),
                    kernel.deterministic ? "" : " *", kernel.host_bits_follow_threads ? " +" : "");
  }
  text += fmt::format("{}\n  chosen for the device and the matrix\n", kAuto);
  return text +
         "* sums may differ from run to run in the last bits\n"
         "+ on the cpu the same bits for the same number of threads\n";
}

}  // namespace trireme::solve
