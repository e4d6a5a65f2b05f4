// SPDX-License-Identifier: BSD-3-Clause
#pragma once

extern "C" void __asan_init() __attribute__((weak));

namespace trireme::test {

// Whether the address sanitizer watches the libraries. Tests are several times as slow then; it
// looks at what is read and written, so those of numbers may take fewer cases. The tests themselves
// are compiled without it, so that only a running program knows.
inline bool watched() { return __asan_init != nullptr; }

}  // namespace trireme::test
