// SPDX-License-Identifier: BSD-3-Clause
#include "support/arrays.hpp"

template class std::vector<double, trireme::DefaultInitAllocator<double>>;
template class std::vector<float, trireme::DefaultInitAllocator<float>>;
template class std::vector<std::int32_t, trireme::DefaultInitAllocator<std::int32_t>>;
template class std::vector<std::int64_t, trireme::DefaultInitAllocator<std::int64_t>>;
