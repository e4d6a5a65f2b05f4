// SPDX-License-Identifier: BSD-3-Clause
#include "api/ranks.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "distributed/plain_residual.hpp"
#include "parallel/broadcast.hpp"
#include "parallel/start.hpp"

namespace trireme::api {

Ranks::Ranks(const void* communicator) : comm_(MPI_COMM_SELF) {
  start_mpi_if_needed();
  if (!communicator) return;
  own_ = std::make_unique<Communicator>(communicator_at(communicator));
  comm_ = *own_;
  rank_ = rank_of(comm_);
  size_ = size_of(comm_);
}

bool Ranks::first(bool here) const {
  return first(here ? std::optional<std::size_t>(0) : std::nullopt).has_value();
}

std::optional<std::size_t> Ranks::first(std::optional<std::size_t> here) const {
  if (!many()) return here;
  std::int64_t answer = here ? static_cast<std::int64_t>(*here) : -1;
  MPI_Bcast(&answer, 1, MPI_INT64_T, 0, comm_);
  if (answer < 0) return std::nullopt;
  return static_cast<std::size_t>(answer);
}

void Ranks::sum(std::span<double> numbers) const {
  if (many())
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE,
                  MPI_SUM, comm_);
}

void Ranks::largest(std::span<double> numbers) const {
  if (many())
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE,
                  MPI_MAX, comm_);
}

double Ranks::norm(std::span<const double> v) const {
  return many() ? norm_over_ranks(comm_, v) : plain_norm(v);
}

void Ranks::require_same(std::string_view options) const {
  if (!many()) return;
  const std::string of_first = broadcast(comm_, std::string(options), 0);
  checked([&] {
    if (of_first != options)
      fail(ExitCode::usage, "its options differ from those of rank 0: {}; those are {}", options,
           of_first);
  });
}

void Ranks::throw_of_this_rank(const Error& error) const {
  throw Error(error.code(), fmt::format("rank {}: {}", rank_, error.what()));
}

}  // namespace trireme::api
