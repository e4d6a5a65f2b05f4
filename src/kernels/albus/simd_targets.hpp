// SPDX-License-Identifier: BSD-3-Clause
// The SIMD targets for which Highway does not compile the product of ALBUS, because they would only
// take compile time: two gain nothing over the next lower target, and a CPU that has SSE4 and not
// AVX2 is older than 2013. Each file that is compiled per target includes this header before those
// of Highway.
#pragma once

#undef HWY_DISABLED_TARGETS
#ifdef __SANITIZE_ADDRESS__  // AVX3 has the text of AVX2
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#endif
