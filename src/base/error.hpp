// SPDX-License-Identifier: BSD-3-Clause
// The one exception type; its category is the exit code that every main returns.
#pragma once

#ifndef __CUDACC__  // fmt 9 does not compile under nvcc in C++20: .cu files throw Error directly
#include <fmt/format.h>
#endif

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/printable.hpp"

namespace trireme {

enum class ExitCode : int {
  converged = 0,
  internal = 1,       // a bug in Trireme, or an unexpected error of a library
  usage = 2,          // command line or case.yaml
  input = 3,          // an input file: missing, malformed, or a matrix unfit for the method
  resource = 4,       // no such device, or not enough memory
  not_converged = 5,  // the report is written nevertheless
  breakdown = 6,      // breakdown, indefinite matrix or NaN; the report is written nevertheless
};

// The text as one line, whatever names and values of a file it quotes (base/printable.hpp). The
// middle of a text of more than 4000 characters is left out.
inline std::string one_line(std::string text) {
  constexpr std::size_t most = 4000, head = 3000, tail = 500;
  if (text.size() > most) text = text.substr(0, head) + " ... " + text.substr(text.size() - tail);
  return printable_line(text);
}

// what() is one line for the user, which says what happened, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message)
      : std::runtime_error(one_line(message)), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// Whether an exception is in flight on this thread. Other ranks may have none, so that a destructor
// must not wait for them; it leaves its resources to the end of the process.
inline bool error_in_flight() { return std::uncaught_exceptions() > 0; }

#ifndef __CUDACC__
template <class... Args>
[[noreturn]] void fail(ExitCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}
#endif

}  // namespace trireme
