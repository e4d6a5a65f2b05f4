// SPDX-License-Identifier: BSD-3-Clause
// Tests the promise of the device layer on a machine without a GPU: one clear line and exit code 4.
#include <gtest/gtest.h>

#include <string>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"

namespace trireme {
namespace {

TEST(WithoutDevice, AskingForCudaIsAResourceErrorInOneLine) {
  if (cuda_available()) GTEST_SKIP() << "this machine has a GPU";
  try {
    select_device(0);
    FAIL() << "select_device returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_NE(message.find("device: cpu"), std::string::npos) << message;
  }
}

TEST(WithoutDevice, EmptyBuffersNeedNoDevice) {
  DeviceBuffer<double> buffer;
  EXPECT_TRUE(buffer.empty());
  PinnedBuffer<int> pinned;
  EXPECT_EQ(pinned.size(), 0u);
}

}  // namespace
}  // namespace trireme
