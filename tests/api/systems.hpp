// SPDX-License-Identifier: BSD-3-Clause
// Systems for the C++ interface, and a judge that shares no code with the library.
#pragma once

#include <gtest/gtest.h>
#include <trireme/solver.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "api/words.hpp"
#include "sparse/generators.hpp"

namespace trireme::test {

// Whether the preconditioner serves only methods of the other kind.
inline bool needs_another_method(const std::string& preconditioner, bool for_symmetric) {
  const auto& info = api::preconditioner_of(preconditioner).own()->info;
  return for_symmetric ? info.nonsymmetric : info.symmetric;
}

struct System {
  std::int64_t rows = 0, cols = 0;
  std::vector<std::int64_t> row_ptr{};
  std::vector<std::int32_t> col_idx{};
  std::vector<double> values{};

  api::CsrArrays arrays() const {
    return {.rows = rows,
            .cols = cols,
            .row_ptr = std::span<const std::int64_t>(row_ptr),
            .col_idx = std::span<const std::int32_t>(col_idx),
            .values = values};
  }
  // In long double.
  std::vector<double> times(std::span<const double> x) const {
    std::vector<double> y(static_cast<std::size_t>(rows));
    for (std::int64_t i = 0; i < rows; ++i) {
      long double sum = 0;
      for (std::int64_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k)
        sum += static_cast<long double>(values[k]) * x[col_idx[k]];
      y[i] = static_cast<double>(sum);
    }
    return y;
  }
  double relative_residual(std::span<const double> b, std::span<const double> x) const {
    const std::vector<double> y = times(x);
    long double of_r = 0, of_b = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      of_r += (static_cast<long double>(b[i]) - y[i]) * (static_cast<long double>(b[i]) - y[i]);
      of_b += static_cast<long double>(b[i]) * b[i];
    }
    return static_cast<double>(std::sqrt(of_r / of_b));
  }
};

// Of an entry (row, column) -> value function, for small matrices.
template <class Entry>
System system_of(std::int64_t rows, std::int64_t cols, const Entry& entry) {
  System system{.rows = rows, .cols = cols};
  system.row_ptr.push_back(0);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j)
      if (const double value = entry(i, j); value != 0) {
        system.col_idx.push_back(static_cast<std::int32_t>(j));
        system.values.push_back(value);
      }
    system.row_ptr.push_back(static_cast<std::int64_t>(system.values.size()));
  }
  return system;
}

// The 5-point Laplacian of an n x n grid, with `wind` to the right.
inline System grid(std::int64_t n, double wind = 0) {
  System system{.rows = n * n, .cols = n * n};
  system.row_ptr.push_back(0);
  const auto add = [&](std::int64_t x, std::int64_t y, double value) {
    if (x < 0 || x >= n || y < 0 || y >= n) return;
    system.col_idx.push_back(static_cast<std::int32_t>(y * n + x));
    system.values.push_back(value);
  };
  for (std::int64_t y = 0; y < n; ++y)
    for (std::int64_t x = 0; x < n; ++x) {
      add(x, y - 1, -1);
      add(x - 1, y, -1 - wind);
      add(x, y, 4 + wind);
      add(x + 1, y, -1);
      add(x, y + 1, -1);
      system.row_ptr.push_back(static_cast<std::int64_t>(system.values.size()));
    }
  return system;
}

// The text of the Failure that work() must throw.
std::string failure(const auto& work, api::Failure::Kind kind) {
  try {
    work();
  } catch (const api::Failure& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

inline std::vector<double> random_vector(std::int64_t size, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> v(static_cast<std::size_t>(size));
  for (double& value : v) value = normal(random);
  return v;
}

}  // namespace trireme::test
