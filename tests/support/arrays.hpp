// SPDX-License-Identifier: BSD-3-Clause
// The members of the usual arrays are compiled once, in arrays.cpp, with optimisation: the tests
// themselves have none.
#pragma once

#include <cstdint>

#include "base/array.hpp"

extern template class std::vector<double, trireme::DefaultInitAllocator<double>>;
extern template class std::vector<float, trireme::DefaultInitAllocator<float>>;
extern template class std::vector<std::int32_t, trireme::DefaultInitAllocator<std::int32_t>>;
extern template class std::vector<std::int64_t, trireme::DefaultInitAllocator<std::int64_t>>;
