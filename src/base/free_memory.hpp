// SPDX-License-Identifier: BSD-3-Clause
// Gives memory that was freed back to the system.
#pragma once

namespace trireme {

// The allocator keeps freed arrays of up to 32 MiB for later ones. Where the peak of the process
// matters, this returns their pages. Does nothing where the C library has no such function.
void return_free_memory();

}  // namespace trireme
