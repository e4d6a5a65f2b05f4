// SPDX-License-Identifier: BSD-3-Clause
#include "api/failures.hpp"

#include <new>

#include "parallel/collective.hpp"

namespace trireme::api {

Failure failure_of(const std::exception_ptr& error) {
  const Error described = describe(error);
  switch (described.code()) {
    case ExitCode::usage:
      return {Failure::Kind::usage, described.what()};
    case ExitCode::input:
    case ExitCode::not_converged:
    case ExitCode::breakdown:
      return {Failure::Kind::input, described.what()};
    case ExitCode::resource:
      return {Failure::Kind::resource, described.what()};
    default:
      return {Failure::Kind::internal, described.what()};
  }
}

}  // namespace trireme::api
