// SPDX-License-Identifier: BSD-3-Clause
// Start and end of PETSc.
#include "krylov/petsc_session.hpp"

#include "operators/petsc_shim.hpp"

#if defined(PETSC_HAVE_CUDA) && defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace trireme {
namespace {

// A PETSc built with CUDA takes Open MPI for CUDA-aware when it is not, and aborts at the first use
// of the GPU. So the MPI is asked.
void allow_plain_mpi() {
#if defined(PETSC_HAVE_CUDA)
  bool cuda_aware = false;
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  cuda_aware = MPIX_Query_cuda_support() == 1;
#endif
  if (!cuda_aware) petsc_check(PetscOptionsSetValue(nullptr, "-use_gpu_aware_mpi", "0"));
#endif
}

}  // namespace

PetscSession::PetscSession(const Options& options, const std::vector<std::string>& arguments) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  allow_plain_mpi();
  // PetscFinalize would reset the handlers of others with its own.
  petsc_check(PetscOptionsSetValue(nullptr, "-no_signal_handler", nullptr));
  for (const auto& [name, value] : options)
    petsc_check(PetscOptionsSetValue(nullptr, fmt::format("-{}", name).c_str(),
                                     value.empty() ? nullptr : value.c_str()));
  std::vector<std::string> words = {"trireme"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(words.size());
  char** values = pointers.data();
  const PetscErrorCode error = PetscInitialize(&count, &values, nullptr, nullptr);
  if (error != kPetscSuccess)
    fail(ExitCode::usage, "PETSc did not start; check the PETSc options and the MPI environment");
  petsc_check(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
}

PetscSession::~PetscSession() {
  static_cast<void>(PetscPopErrorHandler());
  static_cast<void>(PetscFinalize());
}

std::vector<std::string> PetscSession::unused_options() {
  PetscInt count = 0;
  char** names = nullptr;
  char** values = nullptr;
  petsc_check(PetscOptionsLeftGet(nullptr, &count, &names, &values));
  std::vector<std::string> unused;
  for (PetscInt k = 0; k < count; ++k) {
    std::string option = fmt::format("-{}", names[k]);
    if (option == "-use_gpu_aware_mpi") continue;  // ours
    if (values[k] && *values[k]) option += fmt::format(" {}", values[k]);
    unused.push_back(std::move(option));
  }
  petsc_check(PetscOptionsLeftRestore(nullptr, &count, &names, &values));
  return unused;
}

std::string petsc_version() {
  PetscInt major = 0, minor = 0, subminor = 0;
  petsc_check(PetscGetVersionNumber(&major, &minor, &subminor, nullptr));
  return fmt::format("{}.{}.{}", major, minor, subminor);
}

bool petsc_has_cuda() { return PetscDefined(HAVE_CUDA); }

}  // namespace trireme
