// SPDX-License-Identifier: BSD-3-Clause
// A hierarchy of the host with its cycle on a GPU, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "base/array.hpp"
#include "device/buffer.hpp"
#include "device/graph.hpp"
#include "device/stream.hpp"
#include "multigrid/cuda/cuda_hierarchy.hpp"
#include "multigrid/hierarchy.hpp"
#include "multigrid/on_ranks.hpp"
#include "solvers/preconditioners/given.hpp"

namespace trireme::multigrid::test {

enum class How { launched, recorded };

// z = M^-1 r on the GPU, twice; both times with the same bits.
inline Array<double> applied_on_gpu(const CudaHierarchy& m, const Array<double>& r,
                                    How how = How::launched) {
  const Stream stream;
  const auto here = to_device(std::span<const double>(r), stream);
  const DeviceBuffer<double> z(r.size(), stream);
  const auto queue = [&] { m.enqueue(here.view(), z.span(), stream); };
  const auto once = [&] {
    fill_nan(z.span(), stream);
    if (how == How::recorded)
      GraphExec(capture_graph(stream, queue)).launch(stream);
    else
      queue();
    return to_host(z.view(), stream);
  };
  Array<double> first = once();
  EXPECT_EQ(once(), first) << "another run gives other bits";
  return first;
}

// How far a cycle on the GPU may be from that of the host: the sums of rows are added in another
// order, and the vectors of a hierarchy in mixed precision are FP32.
inline double tolerance_of(const Hierarchy& m) {
  return m.options().precision == Precision::mixed ? 1e-5 : 1e-12;
}

// Relative to the largest number.
inline void expect_near(const Array<double>& z, const Array<double>& expected, double tolerance) {
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  ASSERT_EQ(z.size(), expected.size());
  for (std::size_t i = 0; i < z.size(); ++i)
    ASSERT_NEAR(z[i], expected[i], tolerance * largest) << "row " << i;
}

// The cycle as what a solver on a GPU is given.
class GivenOnGpu : public solvers::GivenPreconditioner {
 public:
  explicit GivenOnGpu(Hierarchy& m, const CudaCycleOptions& options = {})
      : m_(m), options_(options) {}

  void apply(std::span<const double> r, std::span<double> z) override { m_.apply(r, z); }
  bool prepare_on_device() override {
    if (!here_) make();
    return true;
  }
  void enqueue(DeviceSpan<const double> r, DeviceSpan<double> z, StreamRef stream) override {
    here_->enqueue(r, z, stream);
  }
  void enqueue_in_loop(DeviceSpan<const double> r, DeviceSpan<double> z,
                       const solvers::LoopHints& hints, StreamRef stream) override {
    here_->enqueue(r, z, stream, hints);
  }
  std::uint64_t device_version() const override { return version_; }
  // In other memory, so that a recorded cycle of before would read what is freed.
  void make() {
    here_ = std::make_unique<CudaHierarchy>(m_.parts(), m_.options().cycle, options_);
    ++version_;
  }
  void renew() {
    EXPECT_TRUE(here_->renew(m_.parts()));
    ++version_;
  }
  const CudaHierarchy& here() const { return *here_; }

 private:
  Hierarchy& m_;
  CudaCycleOptions options_;
  std::unique_ptr<CudaHierarchy> here_;
  std::uint64_t version_ = 0;
};

}  // namespace trireme::multigrid::test
