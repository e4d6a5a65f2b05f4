// SPDX-License-Identifier: BSD-3-Clause
// What this build offers, by name.
#include <string>

#include "api/failures.hpp"
#include "api/words.hpp"
#include "base/error.hpp"
#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "solvers/methods/list.hpp"

namespace trireme::api {
namespace {

struct Synonym {
  std::string_view word, name;
};
// Names that the list has under those of PETSc or of its own types.
constexpr Synonym kSynonyms[] = {{"block-jacobi", "pbjacobi"}, {"chebyshev", "trireme_chebyshev"}};
constexpr std::string_view kPreconditioners[] = {"none", "jacobi", "block-jacobi", "chebyshev",
                                                 "multigrid"};

}  // namespace

AnyPreconditioner preconditioner_of(const std::string& word) {
  for (const std::string_view known : kPreconditioners)
    if (known == word) {
      for (const Synonym& synonym : kSynonyms)
        if (synonym.word == word) return AnyPreconditioner(synonym.name);
      return AnyPreconditioner(word);
    }
  std::string known;
  for (const std::string_view name : kPreconditioners) known += ", " + std::string(name);
  fail(ExitCode::usage, "there is no preconditioner '{}'; use auto{}", word, known);
}

std::string word_of(const AnyPreconditioner& preconditioner) {
  for (const Synonym& synonym : kSynonyms)
    if (AnyPreconditioner(synonym.name) == preconditioner) return std::string(synonym.word);
  return preconditioner.name();
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
  return {std::begin(kPreconditioners), std::end(kPreconditioners)};
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

bool has_gpu() {
  try {
    select_device();
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace trireme::api
