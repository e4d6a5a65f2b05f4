// SPDX-License-Identifier: BSD-3-Clause
// The registry as a table.
#include "list_kernels.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "kernels/registry.hpp"

namespace trireme::solve {
namespace {

std::string types(std::initializer_list<std::pair<bool, const char*>> each) {
  std::string names;
  for (const auto& [there, name] : each)
    if (there) names += (names.empty() ? "" : " ") + std::string(name);
  return names.empty() ? "-" : names;
}

}  // namespace

std::string list_kernels() {
  constexpr const char* layout = "{:<16}{:<20}{:<26}{}\n";
  std::string text = fmt::format(layout, "kernel", "cpu", "cuda", "");
  for (const KernelEntry& k : kernel_registry()) {
    text += fmt::format(layout, k.name,
                        types({{k.host_double != nullptr, "double"},
                               {k.host_float != nullptr, "float"},
                               {k.host_int != nullptr, "int"}}),
                        types({{k.cuda_double != nullptr, "double"},
                               {k.cuda_float != nullptr, "float"},
                               {k.cuda_half != nullptr, "half"},
                               {k.cuda_mixed != nullptr, "mixed"}}),
                        k.deterministic ? "" : "sums differ from run to run in the last bits");
    text += fmt::format("  {} [{}]\n", k.summary, k.paper);
  }
  text += fmt::format(layout, "petsc-aij", "double", "-", "");
  text += "  PETSc's own matrix and product: the baseline\n";
  text += fmt::format(layout, "auto", "", "", "");
  text += "  chosen for the device and the matrix\n";
  return text;
}

}  // namespace trireme::solve
