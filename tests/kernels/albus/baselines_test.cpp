// SPDX-License-Identifier: BSD-3-Clause
// Tests the baselines of ALBUS against each other, as the accuracy test of its document compares
// them with one library. The kernel contract tests each of them against the reference.
#include <gtest/gtest.h>
#include <omp.h>

#include <string>

#include "kernels/registry.hpp"
#include "support/random.hpp"
#include "support/same_bits.hpp"
#include "support/shapes.hpp"

namespace trireme {
namespace {

template <class Value>
Array<Value> product(const std::string& kernel, const CsrMatrix<Value>& a) {
  const Array<Value> x = test::random_vector<Value>(a.cols, 5);
  Array<Value> y = test::poisoned_vector<Value>(a.rows);
  build_host_kernel<Value>(kernel, a.view())->multiply(x, y, Accumulate::no);
  return y;
}

TEST(AlbusBaselines, AllGiveTheSameIntegers) {
  for (const auto& [name, a] : test::contract_shapes<std::int32_t>()) {
    SCOPED_TRACE(name);
    const Array<std::int32_t> original = product<std::int32_t>("albus-naive", a);
    for (const char* kernel : {"albus-simd", "csr", "albus-threads", "albus"})
      EXPECT_TRUE(test::same_bits(product<std::int32_t>(kernel, a), original)) << kernel;
  }
}

// The original and the threads without balance sum each row in storage order. So does the balance
// where one thread leaves no row to cut.
TEST(AlbusBaselines, WithoutSimdGiveTheBitsOfTheOriginal) {
  const auto a = test::contract_shape<double>("EveryLengthTo600");
  const Array<double> original = product<double>("albus-naive", a);
  EXPECT_TRUE(test::same_bits(product<double>("csr", a), original));
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  EXPECT_TRUE(test::same_bits(product<double>("albus-threads", a), original));
  omp_set_num_threads(3);
  EXPECT_FALSE(test::same_bits(product<double>("albus-threads", a), original));
  omp_set_num_threads(threads);
}

}  // namespace
}  // namespace trireme
