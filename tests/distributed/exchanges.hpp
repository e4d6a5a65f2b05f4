// SPDX-License-Identifier: BSD-3-Clause
// The exchanges between GPUs that tests run by name. For the mixed ones, two ranks are a node.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "distributed/gpu_exchange.hpp"
#include "distributed/mixed_exchange.hpp"
#include "parallel/collective.hpp"

namespace trireme::test {

inline const std::string kExchanges[] = {"peer", "nccl", "mpi", "peer+nccl", "peer+mpi"};

// A name without a plus sign, which the names of tests cannot have.
inline std::string name_in_tests(std::string exchange) {
  std::ranges::replace(exchange, '+', '_');
  return exchange;
}

inline ExchangeRequest exchange_request(const std::string& way) {
  return {.way = way, .ranks_per_node = way.starts_with("peer+") ? 2 : 0};
}

// The exchange peer+mpi, also where ranks share a GPU: kernels that wait for each other then take
// turns, which is slow but ends. Collective.
inline std::unique_ptr<GpuExchange> exchange_of_pairs(MPI_Comm comm, const HaloPlan& halo,
                                                      const ExchangeRequest& request) {
  std::vector<int> groups;
  for (int rank = 0; rank < size_of(comm); ++rank) groups.push_back(rank / 2);
  return std::make_unique<MixedExchange>(comm, halo, groups, ExchangeWay::mpi, request);
}

}  // namespace trireme::test
