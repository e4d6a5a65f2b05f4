// SPDX-License-Identifier: BSD-3-Clause
// The processes that solve together: each has consecutive rows, and calls each function of a Solver
// when all others do.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "parallel/communicator.hpp"
#include "parallel/run_together.hpp"

namespace trireme::api {

class Ranks {
 public:
  // Of a duplicate of the MPI_Comm at this address; null: this process alone. Throws Error{usage}
  // for an address in a build without MPI. Collective.
  explicit Ranks(const void* communicator);

  MPI_Comm comm() const { return comm_; }
  bool many() const { return size_ > 1; }
  // All that follows is collective.
  bool any(bool here) const { return many() ? any_rank(comm_, here) : here; }
  // That of rank 0.
  bool first(bool here) const;
  std::optional<std::size_t> first(std::optional<std::size_t> here) const;
  void sum(std::span<double> numbers) const;
  void largest(std::span<double> numbers) const;
  // ||v||, whatever its scale.
  double norm(std::span<const double> v) const;
  // Throws Error{usage} on every rank where `options` has another text on one of them.
  void require_same(std::string_view options) const;
  // Runs `work`, which does not communicate. Its Error is thrown on every rank, and names the rank.
  template <class Work>
  void checked(Work&& work) const {
    if (!many()) return std::forward<Work>(work)();
    collectively(comm_, [&] {
      try {
        work();
      } catch (const Error& error) {
        throw_of_this_rank(error);
      }
    });
  }
  // Runs `work`, which communicates: an exception leaves it on every rank, or ends all ranks.
  template <class Work>
  auto together(Work&& work) const {
    if (!many()) return std::forward<Work>(work)();
    return run_together(comm_, std::forward<Work>(work));
  }

 private:
  [[noreturn]] void throw_of_this_rank(const Error& error) const;

  std::unique_ptr<Communicator> own_;  // null: this process alone
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
};

}  // namespace trireme::api
