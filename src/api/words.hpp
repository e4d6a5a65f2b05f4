// SPDX-License-Identifier: BSD-3-Clause
// The words of include/trireme/solver.hpp for preconditioners.
#pragma once

#include <string>

#include "solvers/preconditioners/any_preconditioner.hpp"

namespace trireme::api {

using solvers::AnyPreconditioner;

// Throws Error{usage} that lists the names.
AnyPreconditioner preconditioner_of(const std::string& word);
std::string word_of(const AnyPreconditioner& preconditioner);

}  // namespace trireme::api
