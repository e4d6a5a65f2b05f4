// SPDX-License-Identifier: BSD-3-Clause
// malloc_trim() of the GNU C library.
#include "base/free_memory.hpp"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace trireme {

void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace trireme
