// SPDX-License-Identifier: BSD-3-Clause
// Memory that GPUs of several processes map, also where the mapping fails on one rank. Skips
// without a GPU.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/buffer.hpp"
#include "device/device.hpp"
#include "distributed/cuda_operator.hpp"
#include "distributed/peer_region.hpp"
#include "parallel/nodes.hpp"

namespace trireme {
namespace {

int failing_rank = -1;

struct MappingThatMayFail : PeerMapping {
  MappingThatMayFail() = default;
  explicit MappingThatMayFail(const PeerHandle& handle) : PeerMapping(handle) {
    if (rank_of(MPI_COMM_WORLD) == failing_rank) fail(ExitCode::resource, "a failure of this test");
  }
};

using Region = PeerRegion<PeerMemory, MappingThatMayFail>;

// Each rank writes its number into the memory of every rank, and finds all numbers in its own.
void expect_to_reach_all(const Region& region) {
  const int ranks = size_of(MPI_COMM_WORLD), rank = rank_of(MPI_COMM_WORLD);
  const Stream stream;
  const Array<double> mine(1, 1.0 + rank);
  for (int other = 0; other < ranks; ++other)
    copy_to_device(std::span<const double>(mine),
                   DeviceSpan<double>(static_cast<double*>(region.of(other)) + rank, 1), stream);
  stream.synchronize();
  MPI_Barrier(MPI_COMM_WORLD);
  const Array<double> all =
      to_host(DeviceSpan<const double>(static_cast<const double*>(region.of(rank)), ranks), stream);
  for (int other = 0; other < ranks; ++other) EXPECT_EQ(all[other], 1.0 + other);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(PeerRegionOnGpus, IsOpenedByAllOrByNoneAndCanBeOpenedAgain) {
  if (!cuda_available()) GTEST_SKIP() << "no GPU here";
  if (size_of(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank maps nothing";
  select_device(rank_on_node(MPI_COMM_WORLD));
  for (failing_rank = 0; failing_rank < size_of(MPI_COMM_WORLD); ++failing_rank) {
    try {
      const Region region(MPI_COMM_WORLD, 1 << 20);
      ADD_FAILURE() << "opened although rank " << failing_rank << " failed";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "a failure of this test");
    }
    const int failed = std::exchange(failing_rank, -1);
    expect_to_reach_all(Region(MPI_COMM_WORLD, 1 << 20));
    failing_rank = failed;
  }
}

}  // namespace
}  // namespace trireme
