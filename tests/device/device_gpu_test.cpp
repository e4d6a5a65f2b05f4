// SPDX-License-Identifier: BSD-3-Clause
// Tests the device layer on a GPU: memory, the order of streams, graphs, and lack of memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "device/cache_bandwidth.hpp"
#include "device/device.hpp"
#include "device/graph.hpp"
#include "device/uploader.hpp"

namespace trireme {
namespace {

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda_available()) GTEST_SKIP() << "no CUDA device";
    select_device(0);
  }
};

TEST_F(OnDevice, RoundTripKeepsEveryNumber) {
  Stream stream;
  std::vector<double> sent(100'003);
  std::iota(sent.begin(), sent.end(), 0.5);
  const auto buffer = to_device(std::span<const double>(sent), stream);
  const auto received = to_host(buffer.view(), stream);
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), received.begin()));
}

TEST_F(OnDevice, UploaderCopiesBackEverySizeAboutItsChunks) {
  Stream stream;
  Uploader uploader;
  constexpr std::size_t chunk = Uploader::kChunkBytes;
  unsigned char seed = 0;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, chunk / 8, chunk / 8 + 1, chunk,
                                  chunk + 1, 3 * chunk + 5, 41 * chunk - 1, 70 * chunk + 1}) {
    SCOPED_TRACE(bytes);
    std::vector<unsigned char> sent(bytes);
    ++seed;
    for (std::size_t i = 0; i < bytes; ++i)
      sent[i] = static_cast<unsigned char>(i % 251 + i / chunk + seed);
    // The copy back follows an upload through the same chunks, which may be under way.
    const auto buffer = uploader.to_device(std::span<const unsigned char>(sent), stream);
    std::vector<unsigned char> received(bytes + 1, 99);
    uploader.copy_back(buffer.view(), std::span(received.data(), bytes), stream);
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), received.begin()));
    EXPECT_EQ(received.back(), 99);
  }
}

// The same block serves again, so that it is pinned once. Too many are not kept.
TEST_F(OnDevice, PinnedBlocksAreKept) {
  constexpr std::size_t bytes = std::size_t{24} << 20;
  void* const first = memory::allocate_pinned(bytes);
  void* const second = memory::allocate_pinned(bytes);
  EXPECT_NE(first, second);
  memory::free_pinned(first);
  memory::free_pinned(second);
  void* const again = memory::allocate_pinned(bytes - 1);
  EXPECT_TRUE(again == first || again == second);
  memory::fill(memory::device_address(again), 1, bytes - 1, Stream());
  void* const small = memory::allocate_pinned(std::size_t{10} << 20);
  EXPECT_NE(small, first) << "a block of more than twice the size would be wasted";
  EXPECT_NE(small, second);
  memory::free_pinned(again);
  memory::free_pinned(small);
}

TEST_F(OnDevice, UploaderCopiesEverySizeAboutItsChunks) {
  Stream stream;
  Uploader uploader;
  constexpr std::size_t chunk = Uploader::kChunkBytes;
  unsigned char seed = 0;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, chunk - 1, chunk, chunk + 1,
                                  2 * chunk, 3 * chunk + 5, 41 * chunk - 1, 41 * chunk + 1}) {
    SCOPED_TRACE(bytes);
    std::vector<unsigned char> sent(bytes);
    ++seed;  // other bytes each time, so that a chunk with old ones shows
    for (std::size_t i = 0; i < bytes; ++i)
      sent[i] = static_cast<unsigned char>(i % 251 + i / chunk + seed);
    const auto buffer = uploader.to_device(std::span<const unsigned char>(sent), stream);
    const std::vector<unsigned char> copy = sent;
    std::fill(sent.begin(), sent.end(), static_cast<unsigned char>(0));  // it has been read
    const auto received = to_host(buffer.view(), stream);
    EXPECT_TRUE(std::equal(copy.begin(), copy.end(), received.begin()));
  }
}

// Rates of 1 TB/s and more are those of caches; a byte per nanosecond is slower than any GPU.
TEST_F(OnDevice, SmallArraysMoveAtAPlausibleRate) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{12345}, std::size_t{16'000'000}}) {
    const double rate = measure_device_cache(bytes);
    EXPECT_TRUE(std::isfinite(rate));
    EXPECT_GT(rate, bytes > 1'000'000 ? 1 : 0) << bytes;
    EXPECT_LT(rate, 1e5) << bytes;
  }
}

TEST_F(OnDevice, FillNanPoisonsDoubles) {
  Stream stream;
  DeviceBuffer<double> buffer(1000, stream);
  fill_nan(buffer.span(), stream);
  for (double value : to_host(buffer.view(), stream)) EXPECT_TRUE(std::isnan(value));
}

TEST_F(OnDevice, OutOfMemoryNamesBytesAskedForAndFree) {
  Stream stream;
  const std::size_t too_much = device_memory().total_bytes * 4;
  try {
    DeviceBuffer<char> buffer(too_much, stream);
    FAIL() << "allocation succeeded";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resource);
    const std::string message = error.what();
    EXPECT_NE(message.find("needed"), std::string::npos) << message;
    EXPECT_NE(message.find("free"), std::string::npos) << message;
  }
  DeviceBuffer<char> small(1 << 20, stream);  // The device must still be usable.
  fill_zero(small.span(), stream);
  stream.synchronize();
}

TEST_F(OnDevice, GraphReplaysCapturedCopies) {
  Stream stream;
  std::vector<int> numbers{1, 2, 3};
  const auto source = to_device(std::span<const int>(numbers), stream);
  DeviceBuffer<int> target(3, stream);
  fill_zero(target.span(), stream);
  const Graph graph =
      capture_graph(stream, [&] { copy_on_device(source.view(), target.span(), stream); });
  EXPECT_EQ(to_host(target.view(), stream)[2], 0);  // The work was captured but has not run.
  const GraphExec exec(graph);
  exec.launch(stream);
  EXPECT_EQ(to_host(target.view(), stream)[2], 3);
}

TEST_F(OnDevice, EventsOrderStreamsAndMeasure) {
  Stream first, second;
  std::vector<int> numbers(1 << 20, 7);
  DeviceBuffer<int> buffer(numbers.size(), first);
  first.synchronize();
  Event start, stop;
  start.record(first);
  copy_to_device(std::span<const int>(numbers), buffer.span(), first);
  stop.record(first);
  second.wait(stop);
  EXPECT_EQ(to_host(buffer.view(), second).back(), 7);
  EXPECT_GT(microseconds_between(start, stop), 0.0);
}

TEST_F(OnDevice, PinnedMemoryIsReachableFromTheDevice) {
  Stream stream;
  PinnedBuffer<int> pinned(4);
  for (int& value : pinned.span()) value = 9;
  DeviceBuffer<int> buffer(4, stream);
  copy_on_device(DeviceSpan<const int>(pinned.device_span()), buffer.span(), stream);
  EXPECT_EQ(to_host(buffer.view(), stream)[3], 9);
}

TEST_F(OnDevice, MovedFromBufferIsEmpty) {
  Stream stream;
  DeviceBuffer<int> first(10, stream);
  DeviceBuffer<int> second = std::move(first);
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(second.size(), 10u);
}

}  // namespace
}  // namespace trireme
