// SPDX-License-Identifier: BSD-3-Clause
// Errors of the library as those of include/trireme/solver.hpp.
#pragma once

#include <trireme/solver.hpp>

#include <exception>
#include <utility>

namespace trireme::api {

// The Failure for any exception.
Failure failure_of(const std::exception_ptr& error);

// Runs `work`, whose exceptions become Failures.
template <class Work>
decltype(auto) with_failures(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const Failure&) {
    throw;
  } catch (...) {
    throw failure_of(std::current_exception());
  }
}

}  // namespace trireme::api
