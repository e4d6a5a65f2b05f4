// SPDX-License-Identifier: BSD-3-Clause
// std::random_device on rank 0, and a broadcast.
#include "parallel/secret_numbers.hpp"

#include <random>

#include "parallel/collective.hpp"

namespace trireme {

void fill_with_secret_numbers(MPI_Comm comm, std::span<std::uint64_t> numbers) {
  collectively(comm, [&] {
    if (rank_of(comm) != 0) return;
    std::random_device device;
    for (std::uint64_t& number : numbers)
      number = std::uint64_t{device()} << 32 | std::uint64_t{device()};
  });
  MPI_Bcast(numbers.data(), static_cast<int>(numbers.size()), MPI_UINT64_T, 0, comm);
}

std::uint64_t secret_number(MPI_Comm comm) {
  std::uint64_t number = 0;
  fill_with_secret_numbers(comm, {&number, 1});
  return number;
}

}  // namespace trireme
