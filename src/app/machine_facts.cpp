// SPDX-License-Identifier: BSD-3-Clause
// Names and versions, asked from the system and the libraries.
#include "app/machine_facts.hpp"

#include <omp.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <string>

#include "io/result.hpp"
#include "kernels/albus/albus.hpp"
#include "parallel/collective.hpp"
#include "petsc/session.hpp"

namespace trireme {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name") || line.starts_with("Model Name"))
      return line.substr(line.find(':') + 2);
  return "";
}

std::string mpi_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string all(text.data(), length);
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace

MachineFacts machine_facts(MPI_Comm comm) {
  MachineFacts facts;
  facts.host = host_name();
  facts.cpu = cpu_name();
  facts.ranks = size_of(comm);
  facts.threads_per_rank = omp_get_max_threads();
  facts.petsc = petsc_version();
  facts.hdf5 = hdf5_version();
  facts.mpi = mpi_name();
  facts.trireme = TRIREME_VERSION;
  facts.simd = albus_simd_target();
  return facts;
}

}  // namespace trireme
