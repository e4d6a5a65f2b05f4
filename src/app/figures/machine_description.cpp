// SPDX-License-Identifier: BSD-3-Clause
// Names and versions, asked from the system and the libraries.
#include "app/figures/machine_description.hpp"

#include <omp.h>

#include <array>
#include <fstream>
#include <string>
#include <utility>

#include "app/figures/build_facts.hpp"
#include "io/result.hpp"
#include "kernels/albus/albus.hpp"
#include "parallel/collective.hpp"
#include "parallel/nodes.hpp"
#include "petsc/session.hpp"

namespace trireme {
namespace {

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

MachineDescription describe_machine(MPI_Comm comm) {
  MachineDescription machine;
  machine.host = host_name();
  machine.cpu = cpu_name();
  machine.ranks = size_of(comm);
  for (Node& node : nodes_of_ranks(comm))
    machine.nodes.push_back({.host = std::move(node.host), .ranks = std::move(node.ranks)});
  machine.threads_per_rank = omp_get_max_threads();
  machine.petsc = petsc_version();
  machine.hdf5 = hdf5_version();
  machine.mpi = mpi_name();
  machine.trireme = TRIREME_VERSION;
  machine.commit = build_commit();
  machine.compiler = TRIREME_COMPILER;
  machine.cuda = TRIREME_CUDA_COMPILER;
  std::ifstream driver("/proc/driver/nvidia/version");
  machine.driver = driver_version(driver);
  machine.simd = albus_simd_target();
  return machine;
}

}  // namespace trireme
