// SPDX-License-Identifier: BSD-3-Clause
// Gives memory that was freed back to the system.
#pragma once

#include "base/array.hpp"

namespace trireme {

// The allocator keeps freed arrays of up to 32 MiB for later ones. Where the peak of the process
// matters, this returns their pages. Does nothing where the C library has no such function.
void return_free_memory();

// Frees the memory of an array. An assignment of {} would keep it.
template <class T>
void let_go(Array<T>& array) {
  array = Array<T>();
}

}  // namespace trireme
