// SPDX-License-Identifier: BSD-3-Clause
// The borders of the distributed levels of a rank in GPU memory, and their exchanges.
//
// A product with A sends the ghosts of its vector, multiplies the local block meanwhile, and adds
// the product of the ghost block when the ghosts have come. P does the same with the coarse vector.
// P^T sends the rows of its product that belong to other ranks, or, where the coarse level lies
// whole on every rank, all rows.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "device/buffer.hpp"
#include "device/stream.hpp"
#include "device/uploader.hpp"
#include "distributed/gpu_exchange.hpp"
#include "multigrid/cuda/border_kernels.hpp"
#include "multigrid/cuda/make_exchange.hpp"
#include "multigrid/cuda/step_borders.hpp"
#include "multigrid/ranks/rank_levels.hpp"

namespace trireme::multigrid {

class RankBorders final : public StepBorders {
 public:
  // Copies what it needs to the current device and waits for that. The arrays of `levels` are not
  // needed afterwards. Throws Error{resource} on every rank where the memory does not suffice, and
  // what make_exchange() throws. Collective.
  RankBorders(MPI_Comm comm, const std::vector<RankLevel>& levels,
              const MakeExchange& make_exchange);

  // Takes new numbers for the same patterns. What was queued before must have ended. Collective.
  void renew(const std::vector<RankLevel>& levels);
  // Throws as GpuExchange::check() does.
  void check() const;
  std::int64_t bytes() const;

  int levels() const override { return static_cast<int>(levels_.size()); }
  void bind(const CycleStep& step, BoundStepOf<float>& bound) override { bind_any(step, bound); }
  void bind(const CycleStep& step, BoundStepOf<double>& bound) override { bind_any(step, bound); }
  void agree_on(CycleExponent* exponent, std::int64_t rows, StreamRef stream) override;
  void before(const CycleStep& step, const BoundStepOf<float>& bound, StreamRef stream) override {
    before_any(step, bound.data, stream);
  }
  void before(const CycleStep& step, const BoundStepOf<double>& bound, StreamRef stream) override {
    before_any(step, bound.data, stream);
  }
  void after(const CycleStep& step, const BoundStepOf<float>& bound, const CallersVectors& callers,
             const CycleExponent* exponent, StreamRef stream) override {
    after_any(step, bound.data, callers, exponent, stream);
  }
  void after(const CycleStep& step, const BoundStepOf<double>& bound, const CallersVectors& callers,
             const CycleExponent* exponent, StreamRef stream) override {
    after_any(step, bound.data, callers, exponent, stream);
  }

 private:
  struct Border {
    DeviceBuffer<std::int32_t> rows, row_ptr, columns;
    DeviceBuffer<double> values;
    BorderView view;

    void set(const BorderRows& from, Uploader& uploader, StreamRef stream);
    std::int64_t bytes() const;
  };
  struct LevelBorders {
    std::int64_t rows = 0, coarse_rows = 0;
    HaloPlan halo, p_halo, back, gather;
    std::unique_ptr<GpuExchange> a_exchange, p_exchange, terms_exchange;
    Border a, p, others, received;
    bool to_whole = false;
    // Rows of P^T r that are sent: FP64, or where to_whole the type of the cycle's vectors.
    DeviceBuffer<double> terms;
    DeviceBuffer<std::int32_t> sum_row_ptr, sources;
    GatheringView gathering;
    void* whole = nullptr;  // a vector of the cycle that takes the sums of all ranks' terms
  };

  void set(LevelBorders& to, const RankLevel& from);
  template <class Number>
  void bind_any(const CycleStep& step, BoundStepOf<Number>& bound);
  template <class Number>
  void before_any(const CycleStep& step, const StepDataOf<Number>& s, StreamRef stream);
  template <class Number>
  void after_any(const CycleStep& step, StepDataOf<Number> s, const CallersVectors& callers,
                 const CycleExponent* exponent, StreamRef stream);

  MPI_Comm comm_;
  Stream stream_;
  std::vector<std::unique_ptr<LevelBorders>> levels_;  // the exchanges refer to their plans
  HaloPlan to_all_;                                    // one number
  std::unique_ptr<GpuExchange> to_all_exchange_;
  DeviceBuffer<double> number_;
};

}  // namespace trireme::multigrid
