// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace trireme::test {

// Whether the address sanitizer watches the program. Tests are five times as slow then; it looks at
// what is read and written, so those of numbers may take fewer cases.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kWatched = true;
#else
inline constexpr bool kWatched = false;
#endif

}  // namespace trireme::test
