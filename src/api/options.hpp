// SPDX-License-Identifier: BSD-3-Clause
// The caller's options, checked and in the terms of the library.
#pragma once

#include <trireme/solver.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "api/loop.hpp"
#include "base/choices.hpp"

namespace trireme::api {

struct Options {
  std::optional<solvers::NamedMethod> method{};  // none: auto
  std::optional<AnyPreconditioner> preconditioner{};
  std::optional<Scaling> scaling{};
  std::string kernel{};  // or auto
  Device device = Device::cpu;
  Precision precision = Precision::full;
  std::int32_t restart = 30;
};

// Throws Error: usage for a word or a number that is not possible, resource for a device that is
// not there. A GPU becomes the current device.
Options checked(const SolverOptions& asked);
// For a matrix of so many rows. Throws Error: usage likewise, and for sizes that do not fit; input
// for numbers that are not finite.
PreconditionerData preconditioner_data(const SolverOptions& asked, std::int64_t rows);

}  // namespace trireme::api
