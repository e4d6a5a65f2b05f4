// SPDX-License-Identifier: BSD-3-Clause
// Adds variables to the environment, and removes them.
#include "parallel/quick_mpi_start.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace trireme {
namespace {

struct Setting {
  const char* name;
  const char* value;
};

// The transports are those that Open MPI needs between processes too, so that a job of an unknown
// launcher runs as well, without its fast network.
constexpr std::array<Setting, 5> kSettings = {{
    {"OMPI_MCA_ess_singleton_isolated", "1"},  // no daemon, which MPI_Comm_spawn would need
    // All isolated processes of a user have the same folder, which each one removes at its end.
    {"OMPI_MCA_orte_create_session_dirs", "0"},
    {"OMPI_MCA_pml", "ob1"},
    {"OMPI_MCA_btl", "self,vader,tcp"},
    {"HWLOC_COMPONENTS", "-opencl,-cuda,-nvml,-gl"},  // no driver of a GPU is opened by hwloc
}};

// Each launcher sets at least one of these for each process of a job.
constexpr std::array<const char*, 9> kSetByLaunchers = {
    "OMPI_COMM_WORLD_SIZE", "PMIX_RANK",   "PMIX_NAMESPACE",     "PMI_RANK",      "PMI_FD",
    "SLURM_STEP_ID",        "PALS_RANKID", "JSM_NAMESPACE_RANK", "FLUX_TASK_RANK"};

}  // namespace

bool started_by_a_launcher() {
  return std::ranges::any_of(kSetByLaunchers,
                             [](const char* name) { return std::getenv(name) != nullptr; });
}

QuickMpiStart::QuickMpiStart() {
  if (started_by_a_launcher()) return;
  for (const auto& [name, value] : kSettings) {
    if (std::getenv(name)) continue;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): see the class
    if (::setenv(name, value, 0) == 0) added_.emplace_back(name);
  }
}

QuickMpiStart::~QuickMpiStart() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): see the class
  for (const std::string& name : added_) ::unsetenv(name.c_str());
}

}  // namespace trireme
