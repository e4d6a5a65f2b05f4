// SPDX-License-Identifier: BSD-3-Clause
#include "support/random.hpp"

#include <limits>

namespace trireme::test {

template <class Value>
Array<Value> random_vector(std::int64_t size, std::uint64_t seed) {
  Random random(seed);
  Array<Value> result(size);
  for (Value& entry : result) entry = random.value<Value>();
  return result;
}

template <class Value>
Array<Value> poisoned_vector(std::int64_t size) {
  Array<Value> result(size);
  for (Value& entry : result) {
    if constexpr (std::is_integral_v<Value>)
      entry = std::numeric_limits<Value>::min() + 77;
    else
      entry = static_cast<Value>(std::numeric_limits<float>::quiet_NaN());
  }
  return result;
}

template Array<double> random_vector(std::int64_t, std::uint64_t);
template Array<double> poisoned_vector(std::int64_t);
template Array<float> random_vector(std::int64_t, std::uint64_t);
template Array<float> poisoned_vector(std::int64_t);
template Array<std::int32_t> random_vector(std::int64_t, std::uint64_t);
template Array<std::int32_t> poisoned_vector(std::int64_t);
template Array<Half> random_vector(std::int64_t, std::uint64_t);
template Array<Half> poisoned_vector(std::int64_t);

}  // namespace trireme::test
