// SPDX-License-Identifier: BSD-3-Clause
// Runs the exchange on a vector of zeros.
#include "distributed/exchange_trial.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/buffer.hpp"
#include "device/graph.hpp"
#include "parallel/collective.hpp"

namespace trireme {

double halo_us(MPI_Comm comm, const HaloPlan& halo, GpuExchange& exchange) {
  constexpr int kTogether = 10, kRounds = 5;
  const Stream stream;
  const auto last = std::ranges::max_element(halo.send_rows);
  const std::size_t rows = last == halo.send_rows.end() ? 0 : static_cast<std::size_t>(*last) + 1;
  DeviceBuffer<double> x;
  collectively(comm, [&] {
    x = DeviceBuffer<double>(rows, stream);
    fill_zero(x.span(), stream);
  });
  const auto exchange_some = [&] {
    for (int k = 0; k < kTogether; ++k) {
      exchange.send(x.view(), stream);
      exchange.receive(stream);
    }
  };
  exchange_some();  // NCCL connects the ranks, which must not happen in a recording
  const bool recorded = exchange.recording() != Recording::none;
  GraphExec graph;
  if (recorded) graph = GraphExec(capture_graph(stream, exchange_some));
  const Event begin, end;
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    begin.record(stream);
    if (recorded)
      graph.launch(stream);
    else
      exchange_some();
    end.record(stream);
    end.synchronize();
    least = std::min(least, microseconds_between(begin, end) / kTogether);
  }
  collectively(comm, [&] { exchange.check(); });
  return max_over_ranks(comm, least);
}

}  // namespace trireme
