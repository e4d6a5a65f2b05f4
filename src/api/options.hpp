// SPDX-License-Identifier: BSD-3-Clause
// The caller's options, checked and in the terms of the library.
#pragma once

#include <trireme/solver.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "api/loop.hpp"
#include "api/ranks.hpp"
#include "base/choices.hpp"

namespace trireme::api {

struct Options {
  std::optional<solvers::NamedMethod> method{};  // none: auto
  std::optional<AnyPreconditioner> preconditioner{};
  std::optional<Scaling> scaling{};
  std::string kernel{};  // or auto
  Device device = Device::cpu;
  int gpu = -1;  // its number; -1: the CPU
  Precision precision = Precision::full;
  std::int32_t restart = 30;
};

// Throws Error: usage for a word or a number that is not possible, resource for a device that is
// not there, which several ranks do not look for. A GPU becomes the current device. Collective.
Options checked(const Ranks& ranks, const SolverOptions& asked);
// The place that a word of the caller names: auto, cpu, cuda, or cuda:1. A GPU becomes the current
// device; -1: the CPU. Throws Error{usage, resource}.
int gpu_for(const std::string& device);
// For a matrix that has so many rows here. Throws Error: usage likewise, and for sizes that do not
// fit; input for numbers that are not finite. Collective.
PreconditionerData preconditioner_data(const Ranks& ranks, const SolverOptions& asked,
                                       std::int64_t rows);

}  // namespace trireme::api
