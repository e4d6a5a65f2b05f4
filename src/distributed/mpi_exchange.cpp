// SPDX-License-Identifier: BSD-3-Clause
// GPUs exchange through pinned memory and MPI. The host waits until its own entries are packed and
// those of its neighbours have come; meanwhile the device runs the local product.
#include <mpi.h>

#include <span>

#include "device/buffer.hpp"
#include "distributed/gather.hpp"
#include "distributed/gpu_exchange.hpp"
#include "parallel/collective.hpp"

namespace trireme {
namespace {

class MpiExchange final : public GpuExchange {
 public:
  MpiExchange(MPI_Comm comm, const HaloPlan& halo) : comm_(comm), idle_(halo.empty()) {
    collectively(comm, [&] {
      const Stream stream;
      send_rows_ = to_device(std::span<const std::int32_t>(halo.send_rows), stream);
      ghosts_ = DeviceBuffer<double>(halo.ghosts, stream);
      packed_ = PinnedBuffer<double>(halo.send_rows.size());
      arrived_ = PinnedBuffer<double>(halo.ghosts);
      sums_ = PinnedBuffer<double>(kSumsAtOnce);
      stream.synchronize();
    });
    exchange_ = std::make_unique<HaloExchange>(comm, halo, packed_.span(), arrived_.span());
  }

  std::string_view name() const override { return "mpi"; }
  Recording recording() const override { return Recording::none; }

  void send(DeviceSpan<const double> x, StreamRef stream) override { pack(x, stream); }
  void send(DeviceSpan<const float> x, StreamRef stream) override { pack(x, stream); }

  DeviceSpan<const double> receive(StreamRef stream) override {
    if (idle_) return {};
    is_packed_.synchronize();
    exchange_->begin();
    exchange_->end();
    if (ghosts_.size() > 0)
      copy_to_device(std::span<const double>(arrived_.span()), ghosts_.span(), stream);
    return ghosts_.view();
  }

  void sum(DeviceSpan<double> values, StreamRef stream) override {
    for (std::size_t first = 0; first < values.size(); first += kSumsAtOnce) {
      const DeviceSpan<double> some =
          values.subspan(first, std::min(kSumsAtOnce, values.size() - first));
      const std::span<double> here = sums_.span().first(some.size());
      if (first > 0) synchronize(stream);  // the numbers before these have been copied
      copy_to_host(DeviceSpan<const double>(some), here, stream);
      synchronize(stream);
      MPI_Allreduce(MPI_IN_PLACE, here.data(), static_cast<int>(here.size()), MPI_DOUBLE, MPI_SUM,
                    comm_);
      copy_to_device(std::span<const double>(here), some, stream);
    }
  }

 private:
  static constexpr std::size_t kSumsAtOnce = 512;

  template <class Number>
  void pack(DeviceSpan<const Number> x, StreamRef stream) {
    gather(x, send_rows_.view(), packed_.device_span(), stream);
    is_packed_.record(stream);
  }

  MPI_Comm comm_;
  bool idle_;  // the halo is empty
  DeviceBuffer<std::int32_t> send_rows_;
  DeviceBuffer<double> ghosts_;
  PinnedBuffer<double> packed_, arrived_, sums_;
  std::unique_ptr<HaloExchange> exchange_;
  Event is_packed_{Timing::no};
};

}  // namespace

std::unique_ptr<GpuExchange> make_mpi_exchange(MPI_Comm comm, const HaloPlan& halo) {
  return std::make_unique<MpiExchange>(comm, halo);
}

}  // namespace trireme
