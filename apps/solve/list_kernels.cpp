// SPDX-License-Identifier: BSD-3-Clause
// The registry as a table.
#include "list_kernels.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <string_view>
#include <utility>

#include "kernels/registry.hpp"
#include "petsc/session.hpp"

namespace trireme::solve {
namespace {

std::string types(std::initializer_list<std::pair<bool, const char*>> each) {
  std::string names;
  for (const auto& [there, name] : each) {
    if (!there) continue;
    if (!names.empty()) names += ' ';
    names += name;
  }
  return names.empty() ? "-" : names;
}

std::string row(std::string_view name, std::string_view cpu, std::string_view cuda) {
  return fmt::format("{:<20}{:<24}{}\n", name, cpu, cuda);
}

}  // namespace

std::string list_kernels() {
  std::string text = row("kernel", "cpu", "cuda");
  for (const KernelEntry& k : kernel_registry()) {
    text += row(k.name,
                types({{k.host_double != nullptr, "double"},
                       {k.host_float != nullptr, "float"},
                       {k.host_int != nullptr, "int"},
                       {k.host_mixed != nullptr, "mixed"}}),
                types({{k.cuda_double != nullptr, "double"},
                       {k.cuda_float != nullptr, "float"},
                       {k.cuda_half != nullptr, "half"},
                       {k.cuda_mixed != nullptr, "mixed"}}));
    text += fmt::format("  {} [{}]{}{}\n", k.summary, k.paper, k.deterministic ? "" : " *",
                        k.host_bits_follow_threads ? " +" : "");
  }
  text += row("petsc-aij", "double", petsc_has_cuda() ? "double" : "-");
  text += "  PETSc's own matrix and product: the baseline\n";
  text += "auto\n  chosen for the device and the matrix\n";
  return text +
         "* sums may differ from run to run in the last bits\n"
         "+ on the cpu the same bits for the same number of threads\n";
}

}  // namespace trireme::solve
