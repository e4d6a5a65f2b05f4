// SPDX-License-Identifier: BSD-3-Clause
// A GPU finds the same clusters as the host.
#include <gtest/gtest.h>

#include <string>

#include "device/device.hpp"
#include "ordering/device_ordering.hpp"
#include "ordering/ordering.hpp"
#include "sparse/generators.hpp"
#include "support/permuted_csr.hpp"
#include "support/square_shapes.hpp"

namespace trireme {
namespace {

class DeviceOrdering : public testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
  }
  static void expect_order_of_host(const CsrMatrix<double>& a) {
    const Stream stream;
    const auto on_device = to_device(a.view(), stream);
    const auto order = cluster_order(on_device.view(), stream);
    EXPECT_TRUE(to_host(order.view(), stream) == cluster_order(a.view()));
  }
  static CsrMatrix<double> shuffled(const std::string& kind, std::int64_t n) {
    const GenerateSpec spec{.kind = kind, .n = n};
    const CsrMatrix<double> a = generate(spec, 0, generator_shape(spec).rows).local;
    return test::permuted_csr(a, test::random_order(a.rows));
  }
};

TEST_F(DeviceOrdering, IsThatOfTheHostForEveryShape) {
  for (const auto& [name, a] : test::square_shapes()) {
    SCOPED_TRACE(name);
    expect_order_of_host(a);
  }
}

TEST_F(DeviceOrdering, IsThatOfTheHostForGeneratedMatrices) {
  const std::pair<const char*, std::int64_t> matrices[] = {
      {"poisson2d", 300},  {"poisson27", 30}, {"elasticity3d", 12}, {"rmat", 14},
      {"circuit", 30'000}, {"web", 40'000},   {"short", 50'000}};
  for (const auto& [kind, n] : matrices) {
    SCOPED_TRACE(kind);
    expect_order_of_host(shuffled(kind, n));
  }
}

TEST_F(DeviceOrdering, IsThatOfTheHostForARowThatAllOthersKnow) {
  constexpr std::int32_t rows = 100'000;
  CsrMatrix<double> star{rows, rows, {0}, {}, {}};
  for (std::int32_t i = 0; i < rows; ++i) {
    if (i > 0) star.col_idx.push_back(0);
    for (std::int32_t j = i == 0 ? 0 : i; j < (i == 0 ? rows : i + 1); ++j)
      star.col_idx.push_back(j);
    star.row_ptr.push_back(static_cast<std::int32_t>(star.col_idx.size()));
  }
  star.values.assign(star.col_idx.size(), 1.0);
  expect_order_of_host(star);
}

}  // namespace
}  // namespace trireme
