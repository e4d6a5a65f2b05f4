// SPDX-License-Identifier: BSD-3-Clause
// A real number in a text, as C, Python and Fortran write it.
#pragma once

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <system_error>

namespace trireme {

// Reads a number at the start of [at, end) and returns the position behind it, or null where there
// is none, or one beyond the range of double. A plus sign may precede it, and its exponent may have
// the letter D of Fortran: "+1.5D+00".
inline const char* parse_number(const char* at, const char* end, double& value) {
  if (at != end && *at == '+') ++at;
  const auto [next, error] = fast_float::from_chars(at, end, value);
  if (error != std::errc()) return nullptr;
  if (next == end || (*next != 'D' && *next != 'd')) return next;
  std::array<char, 64> with_e{};
  const auto length = std::min<std::ptrdiff_t>(end - at, std::ssize(with_e));
  if (next - at >= length) return nullptr;
  std::copy(at, at + length, with_e.begin());
  with_e[next - at] = 'e';
  const auto again = fast_float::from_chars(with_e.data(), with_e.data() + length, value);
  return again.ec == std::errc() && again.ptr - with_e.data() > next - at
             ? at + (again.ptr - with_e.data())
             : nullptr;
}

}  // namespace trireme
