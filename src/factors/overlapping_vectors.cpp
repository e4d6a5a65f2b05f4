// SPDX-License-Identifier: BSD-3-Clause
#include "factors/overlapping_vectors.hpp"

#include <algorithm>

#include "device/memory.hpp"
#include "parallel/collective.hpp"

namespace trireme::factors {

HostOverlap::HostOverlap(MPI_Comm comm, const OverlappingBlock& block)
    : block_(&block),
      packed_(block.halo().send_rows.size()),
      ghosts_(block.halo().ghosts),
      r_(block.view().rows),
      z_(block.view().rows),
      exchange_(comm, block.halo(), packed_, ghosts_) {}

void HostOverlap::bring(std::span<const double> r) {
  const auto& send_rows = block_->halo().send_rows;
  for (std::size_t k = 0; k < send_rows.size(); ++k) packed_[k] = r[send_rows[k]];
  exchange_.begin();
  const auto before = block_->before();
  std::ranges::copy(r, r_.begin() + before);
  exchange_.end();
  std::copy(ghosts_.begin(), ghosts_.begin() + before, r_.begin());
  std::copy(ghosts_.begin() + before, ghosts_.end(), r_.begin() + before + block_->own());
}

void HostOverlap::keep(std::span<double> z) const {
  std::ranges::copy(std::span(z_).subspan(block_->before(), block_->own()), z.begin());
}

DeviceOverlap::DeviceOverlap(MPI_Comm comm, const OverlappingBlock& block,
                             const ExchangeRequest& request)
    : before_(block.before()), own_(block.own()), halo_(block.halo()) {
  collectively(comm, [&] {
    const auto rows = static_cast<std::size_t>(block.view().rows);
    r_ = DeviceBuffer<double>(rows, stream_);
    z_ = DeviceBuffer<double>(rows, stream_);
    stream_.synchronize();
  });
  exchange_ = make_gpu_exchange(comm, halo_, request);
}

void DeviceOverlap::bring(DeviceSpan<const double> r, StreamRef stream) {
  const auto copy = [&](double* to, const double* from, std::int64_t count) {
    if (count > 0) memory::copy(to, from, static_cast<std::size_t>(count) * sizeof(double), stream);
  };
  exchange_->send(r, stream);
  copy(r_.data() + before_, r.data(), own_);
  const DeviceSpan<const double> ghosts = exchange_->receive(stream);
  copy(r_.data(), ghosts.data(), before_);
  copy(r_.data() + before_ + own_, ghosts.data() + before_, halo_.ghosts - before_);
}

void DeviceOverlap::keep(DeviceSpan<double> z, StreamRef stream) const {
  if (own_ > 0)
    memory::copy(z.data(), z_.data() + before_, static_cast<std::size_t>(own_) * sizeof(double),
                 stream);
}

}  // namespace trireme::factors
