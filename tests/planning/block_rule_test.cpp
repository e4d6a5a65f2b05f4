// SPDX-License-Identifier: BSD-3-Clause
// The rule's answers against measured seconds per right-hand side, and at its limits.
#include "planning/block_rule.hpp"

#include <gtest/gtest.h>

#include <string>

namespace trireme {
namespace {

// CG and BiCGSTAB to 1e-5 on two cores of Zen 4 with 32 MB of last-level cache, 2026-11-26, each
// measured twice; seconds per right-hand side of 16.
struct Measured {
  std::string name;
  double rows, nonzeros, value_bytes;  // that a product reads per nonzero
  int vectors, products;
  double alone, together;
};

const Measured kMeasured[] = {
    {"poisson3d 70, none", 343e3, 2.37e6, 8, 5, 1, 0.097, 0.19},
    {"poisson3d 100, jacobi", 1e6, 6.94e6, 8, 5, 1, 0.43, 0.77},
    {"convection3d 70, bicgstab, none", 343e3, 2.37e6, 8, 9, 2, 0.137, 0.4},
    {"poisson2d 60, jacobi", 3600, 17.8e3, 8, 5, 1, 0.0024, 0.00087},
    {"elasticity3d 20, jacobi", 27.8e3, 2.0e6, 12, 5, 1, 0.053, 0.025},
    {"elasticity3d 40, jacobi", 192e3, 14.6e6, 12, 5, 1, 1.44, 0.73},
};

BlockTraffic traffic_of(const Measured& m, std::int64_t width) {
  return {.matrix = m.value_bytes * m.nonzeros,
          .nonzeros = m.nonzeros,
          .products = m.products,
          .column = 8.0 * m.vectors * m.rows,
          .cache = 33.5e6,
          .width = width};
}

TEST(BlockRule, AgreesWithWhatWasMeasured) {
  for (const Measured& m : kMeasured) {
    const BlockCosts costs = block_costs(traffic_of(m, 16), false);
    EXPECT_EQ(costs.together < costs.alone, m.together < m.alone)
        << m.name << ": alone " << costs.alone << ", together " << costs.together;
  }
}

// CG and BiCGSTAB with Jacobi to 1e-8 on one H100, sell, 2026-11-28; milliseconds per right-hand
// side of 32. Where the matrix repeats, it is not read. The vectors include b and x.
const Measured kMeasuredOnGpu[] = {
    {"poisson3d 60", 216e3, 1.49e6, 0.3, 6, 1, 3.0, 2.0},
    {"poisson3d 100", 1e6, 6.94e6, 0.3, 6, 1, 12.2, 13.4},
    {"poisson3d 160", 4.1e6, 28.5e6, 0.3, 6, 1, 76.0, 84.1},
    {"poisson27 80", 512e3, 13.5e6, 0.3, 6, 1, 6.2, 4.6},
    {"diffusion3d 60", 216e3, 1.49e6, 9, 6, 1, 4.2, 2.8},
    {"diffusion3d 100", 1e6, 6.94e6, 9, 6, 1, 29.8, 19.1},
    {"elasticity3d 25", 46.9e3, 3.5e6, 9, 6, 1, 6.0, 1.4},
    {"elasticity3d 50", 375e3, 29e6, 9, 6, 1, 32.1, 21.2},
    {"mesh2d 500", 250e3, 1.75e6, 12, 6, 1, 41.6, 16.3},
    {"graph", 1e6, 8e6, 12, 6, 1, 9.0, 3.9},
    {"highorder 200", 40e3, 2e6, 12, 6, 1, 33.3, 12.2},
};

TEST(BlockRule, AgreesWithWhatWasMeasuredOnAGpu) {
  for (const Measured& m : kMeasuredOnGpu) {
    const BlockCosts costs = block_costs(traffic_of(m, 32), true);
    EXPECT_EQ(costs.together < costs.alone, m.together < m.alone)
        << m.name << ": alone " << costs.alone << ", together " << costs.together;
  }
}

TEST(BlockRule, WeighsTheMatrixAgainstTheVectors) {
  for (const bool on_gpu : {false, true}) {
    BlockTraffic traffic = traffic_of(kMeasured[1], 16);
    traffic.matrix = 100 * traffic.column;
    EXPECT_LT(block_costs(traffic, on_gpu).together, block_costs(traffic, on_gpu).alone);
    traffic.matrix = 0;
    EXPECT_GT(block_costs(traffic, on_gpu).together, block_costs(traffic, on_gpu).alone);
  }
}

// As blocks on a GPU: 48 bytes per row, in columns padded to a multiple of four.
TEST(BlockRule, CountsNoPadding) {
  const auto bytes = [](std::int64_t width) { return 100 + 48 * ((width + 3) / 4 * 4); };
  EXPECT_EQ(bytes_per_column(bytes), 48);
}

TEST(BlockRule, KnowsACache) {
  EXPECT_GT(last_cache_bytes(1), 1e5);
  EXPECT_DOUBLE_EQ(last_cache_bytes(1), 4 * last_cache_bytes(4));
}

}  // namespace
}  // namespace trireme
