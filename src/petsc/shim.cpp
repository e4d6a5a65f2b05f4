// SPDX-License-Identifier: BSD-3-Clause
// PETSc errors to exceptions and back.
#include "petsc/shim.hpp"

#include <new>
#include <string>
#include <string_view>

#if defined(PETSC_HAVE_CUDA) && defined(TRIREME_WITH_CUDA)
#include <petscdevice_cuda.h>
#endif

namespace trireme {

namespace {

// The type of the specific text is char* or const char*, by release.
template <class Code, class Text>
std::string message_of(PetscErrorCode error, PetscErrorCode (*ask)(Code, const char**, Text*)) {
  const char* general = nullptr;
  Text specific = nullptr;
  static_cast<void>(ask(error, &general, &specific));
  return specific && *specific ? specific : general ? general : "unknown error";
}

}  // namespace

void petsc_check(PetscErrorCode error, ExitCode code) {
  if (error == kPetscSuccess) return;
  std::string text = message_of(error, PetscErrorMessage);
  for (char& c : text)
    if (c == '\n') c = ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  if (error == PETSC_ERR_MEM)
    fail(ExitCode::resource,
         "not enough memory for PETSc on this rank ({}); use more ranks or nodes", text);
  fail(code, "PETSc: {}{}", text,
       code == ExitCode::usage ? "; check the PETSc options, of the case and after --" : "");
}

std::optional<std::int64_t> petsc_device_copies() {
#if PetscDefined(HAVE_CUDA) && PetscDefined(USE_LOG)
  return static_cast<std::int64_t>(petsc_ctog_ct + petsc_gtoc_ct);
#else
  return std::nullopt;
#endif
}

StreamRef petsc_stream() {
#if defined(PETSC_HAVE_CUDA) && defined(TRIREME_WITH_CUDA)
#if PETSC_VERSION_GE(3, 20, 0)
  cudaStream_t stream = nullptr;
  petsc_check(PetscGetCurrentCUDAStream(&stream));
  return stream;
#else
  return PetscDefaultCudaStream;
#endif
#else
  return nullptr;
#endif
}

PetscErrorCode petsc_raise(MPI_Comm comm, const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
                      (ours && ours->code() == ExitCode::resource);
  return PetscError(comm, __LINE__, "petsc_raise", __FILE__, memory ? PETSC_ERR_MEM : PETSC_ERR_LIB,
                    PETSC_ERROR_INITIAL, "%s", error.what());
}

PetscErrorCode petsc_return_error(MPI_Comm, int, const char*, const char* file,
                                  PetscErrorCode error, PetscErrorType type, const char*, void*) {
  const bool first = type == PETSC_ERROR_INITIAL;
  return first && std::string_view(file).ends_with("/mal.c") ? PETSC_ERR_MEM : error;
}

}  // namespace trireme
