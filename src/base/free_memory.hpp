// SPDX-License-Identifier: BSD-3-Clause
// Gives memory that was freed back to the system.
#pragma once

#include <vector>

namespace trireme {

// The allocator keeps freed arrays of up to 32 MiB for later ones. Where the peak of the process
// matters, this returns their pages. Does nothing where the C library has no such function.
void return_free_memory();

// Frees the memory of an array. An assignment of {} would keep it.
template <class T, class Allocator>
void let_go(std::vector<T, Allocator>& array) {
  array = std::vector<T, Allocator>();
}

}  // namespace trireme
