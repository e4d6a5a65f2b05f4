// SPDX-License-Identifier: BSD-3-Clause
// What this build offers, by name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "api/failures.hpp"
#include "api/words.hpp"
#include "base/choices.hpp"
#include "base/error.hpp"
#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "parallel/start.hpp"
#include "solvers/methods/list.hpp"

namespace trireme::api {
namespace {

// That of the list without the mark of our own PC types: block-jacobi.
std::string word_of(solvers::PreconditionerKind kind) {
  constexpr std::string_view mark = "trireme_";
  std::string_view name = solvers::name_of(kind);
  if (name.starts_with(mark)) name.remove_prefix(mark.size());
  std::string word(name);
  std::ranges::replace(word, '_', '-');
  return word;
}

}  // namespace

AnyPreconditioner preconditioner_of(const std::string& word) {
  std::optional<AnyPreconditioner> found;
  solvers::for_each_preconditioner([&](solvers::PreconditionerKind kind, auto) {
    if (word_of(kind) == word) found.emplace(kind);
  });
  if (found) return *found;
  fail(ExitCode::usage, "there is no preconditioner '{}'; use one of: {}, {}", word, kAuto,
       fmt::join(preconditioners(), ", "));
}

std::string word_of(const AnyPreconditioner& preconditioner) {
  return preconditioner.own() ? word_of(preconditioner.own()->kind) : preconditioner.name();
}

std::vector<std::string> methods() {
  std::vector<std::string> names;
  solvers::for_each_method([&](auto entry) {
    const solvers::MethodInfo& info = decltype(entry)::type::info;
    if (!info.block) names.emplace_back(info.name);
  });
  return names;
}

std::vector<std::string> preconditioners() {
  std::vector<std::string> words;
  solvers::for_each_preconditioner(
      [&](solvers::PreconditionerKind kind, auto) { words.push_back(word_of(kind)); });
  return words;
}

std::vector<KernelFacts> kernels() {
  std::vector<KernelFacts> all;
  for (const KernelEntry& entry : kernel_registry())
    all.push_back({.name = std::string(entry.name),
                   .summary = std::string(entry.summary),
                   .paper = std::string(entry.paper),
                   .on_cpu = entry.runs_on(Device::cpu),
                   .on_cuda = entry.runs_on(Device::cuda),
                   .peer = entry.peer});
  return all;
}

bool has_gpu() { return cuda_available(); }
bool has_mpi() { return mpi_is_here(); }

}  // namespace trireme::api
