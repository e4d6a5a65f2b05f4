// SPDX-License-Identifier: BSD-3-Clause
// Memory that other ranks have mapped outlives every mapping, also where one rank fails. Needs no
// GPU: counters in shared memory take the place of memory and mappings.
#include "distributed/peer_region.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "base/error.hpp"

namespace trireme {
namespace {

// For each rank, the number of ranks that have its memory mapped.
class Counters {
 public:
  Counters() {
    const MPI_Aint mine = rank_of(MPI_COMM_WORLD) == 0 ? 64 * sizeof(int) : 0;
    int* here = nullptr;
    MPI_Win_allocate_shared(mine, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &here, &window_);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &size, &unit, &all_);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) == 0) std::fill_n(all_, 64, 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Counters() { MPI_Win_free(&window_); }
  std::atomic_ref<int> of(int rank) { return std::atomic_ref<int>(all_[rank]); }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  int* all_ = nullptr;
};

Counters* counters = nullptr;  // of the test that runs
int failing_rank = -1;         // whose mapping fails
int freed = 0, freed_while_mapped = 0, left = 0;

struct CountedMemory {
  CountedMemory() = default;
  explicit CountedMemory(std::size_t /*bytes*/) : owned(true) {}
  CountedMemory(CountedMemory&& other) noexcept : owned(std::exchange(other.owned, false)) {}
  CountedMemory& operator=(CountedMemory&& other) noexcept {
    std::swap(owned, other.owned);
    return *this;
  }
  ~CountedMemory() {
    if (!owned) return;
    ++freed;
    if (counters->of(rank_of(MPI_COMM_WORLD)) != 0) ++freed_while_mapped;
  }
  PeerHandle handle() const {
    const int rank = rank_of(MPI_COMM_WORLD);
    PeerHandle handle;
    std::memcpy(handle.bytes.data(), &rank, sizeof rank);
    return handle;
  }
  void* data() const { return nullptr; }
  void leave_to_the_process() {
    owned = false;
    ++left;
  }
  bool owned = false;
};

struct CountedMapping {
  CountedMapping() = default;
  explicit CountedMapping(const PeerHandle& handle) {
    std::memcpy(&of, handle.bytes.data(), sizeof of);
    if (rank_of(MPI_COMM_WORLD) == failing_rank) {
      of = -1;
      fail(ExitCode::resource, "this GPU cannot reach the other");
    }
    ++counters->of(of);
  }
  CountedMapping(CountedMapping&& other) noexcept : of(std::exchange(other.of, -1)) {}
  CountedMapping& operator=(CountedMapping&& other) noexcept {
    std::swap(of, other.of);
    return *this;
  }
  ~CountedMapping() {
    if (of < 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // others may be faster
    --counters->of(of);
  }
  void* data() const { return nullptr; }
  int of = -1;
};

using CountedRegion = PeerRegion<CountedMemory, CountedMapping>;

class PeerRegionTest : public testing::Test {
 protected:
  PeerRegionTest() {
    counters = &counters_;
    failing_rank = -1;
    freed = freed_while_mapped = left = 0;
  }
  ~PeerRegionTest() override {
    MPI_Barrier(MPI_COMM_WORLD);
    counters = nullptr;
  }
  Counters counters_;
};

TEST_F(PeerRegionTest, FreesNothingThatIsMapped) {
  {
    CountedRegion region(MPI_COMM_WORLD, 100);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(counters_.of(rank_of(MPI_COMM_WORLD)), size_of(MPI_COMM_WORLD) - 1);
  }
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(freed_while_mapped, 0);
}

TEST_F(PeerRegionTest, FreesNothingThatIsMappedWhereOneRankCannotMap) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank maps nothing";
  for (failing_rank = 0; failing_rank < size_of(MPI_COMM_WORLD); ++failing_rank) {
    EXPECT_THROW(CountedRegion(MPI_COMM_WORLD, 100), Error);
    EXPECT_EQ(freed, failing_rank + 1);
    EXPECT_EQ(freed_while_mapped, 0) << "rank " << failing_rank << " failed";
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(counters_.of(rank_of(MPI_COMM_WORLD)), 0) << "still mapped";
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(PeerRegionTest, FreesNothingThatIsMappedWhereAnErrorOfAllIsOnItsWay) {
  try {
    CountedRegion region(MPI_COMM_WORLD, 100);
    throw std::runtime_error("on every rank");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(freed_while_mapped, 0);
}

TEST_F(PeerRegionTest, KeepsWhatOthersMayHaveMappedWhereOneRankAloneFails) {
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "nobody else";
  const bool fails = rank_of(MPI_COMM_WORLD) == 0;
  {
    auto region = std::make_unique<CountedRegion>(MPI_COMM_WORLD, 100);
    if (fails) {
      try {
        const auto owner = std::move(region);
        throw std::runtime_error("on one rank");
      } catch (const std::runtime_error&) {
      }
      EXPECT_EQ(freed, 0);
      EXPECT_EQ(left, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!fails) region.release();  // its barrier would not be met any more
  }
}

}  // namespace
}  // namespace trireme
