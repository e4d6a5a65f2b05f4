// SPDX-License-Identifier: BSD-3-Clause
// Which kernels may refuse which matrices. The rule is stated here apart from the kernels, so that
// a kernel that refuses another matrix, or fails to refuse one, fails the tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "kernels/registry.hpp"
#include "sparse/csr.hpp"

namespace trireme::test {

// True for `ell` where rows padded to the longest one take more than 10 times the bytes of CSR.
template <class Value>
bool must_refuse(std::string_view kernel, const CsrView<Value>& a) {
  if (kernel != "ell") return false;
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < a.rows; ++row)
    longest = std::max<std::int64_t>(longest, a.row_ptr[row + 1] - a.row_ptr[row]);
  const std::int64_t entry_bytes = sizeof(Value) + 4;
  return a.rows * longest * entry_bytes > 10 * (a.nnz() * entry_bytes + (a.rows + 1) * 4);
}

inline testing::AssertionResult is_refusal_of(std::string_view kernel, const Error& error) {
  const std::string line = error.what();
  if (error.code() == ExitCode::resource &&
      line.find("kernel '" + std::string(kernel) + "'") != std::string::npos &&
      line.find("; use ") != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "exit code " << static_cast<int>(error.code()) << ": " << line;
}

// The kernel, or null where it must refuse the matrix and does. Anything else is a failure.
template <class Value>
std::unique_ptr<HostKernel<Value>> build_or_refuse(const std::string& kernel,
                                                   const CsrView<Value>& a) {
  if (!must_refuse(kernel, a)) return build_host_kernel<Value>(kernel, a);
  try {
    build_host_kernel<Value>(kernel, a);
    ADD_FAILURE() << kernel << " takes a matrix that it must refuse";
  } catch (const Error& error) {
    EXPECT_TRUE(is_refusal_of(kernel, error));
  }
  return nullptr;
}

}  // namespace trireme::test
