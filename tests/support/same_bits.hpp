// SPDX-License-Identifier: BSD-3-Clause
// Compares arrays bit by bit, so that zeros of either sign differ and NaNs may be equal.
#pragma once

#include <cstring>

#include "base/array.hpp"

namespace trireme::test {

template <class T>
bool same_bits(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace trireme::test
