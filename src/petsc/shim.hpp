// SPDX-License-Identifier: BSD-3-Clause
// PETSc 3.18 to 3.26 under one name each, its errors as exceptions, its objects as owners.
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "device/stream.hpp"

namespace trireme {

static_assert(std::is_same_v<PetscScalar, double>, "Trireme needs a PETSc of real doubles");

#if PETSC_VERSION_LT(3, 19, 0)
inline constexpr PetscErrorCode kPetscSuccess = 0;
#else
inline constexpr PetscErrorCode kPetscSuccess = PETSC_SUCCESS;
#endif

#if PETSC_VERSION_LT(3, 24, 0)
using PetscOperation = void (*)();
#else
using PetscOperation = PetscErrorCodeFn*;
#endif

// The communicator of any PETSc object.
template <class Object>
MPI_Comm comm_of(Object object) {
  return PetscObjectComm(reinterpret_cast<PetscObject>(object));
}

// Any function as the untyped pointer that Mat*SetOperation takes.
template <class Function>
PetscOperation petsc_operation(Function* function) {
  return reinterpret_cast<PetscOperation>(function);
}

// Throws what PETSc said about the error in one line: Error{resource} where memory is what lacks,
// otherwise `code`.
void petsc_check(PetscErrorCode error, ExitCode code = ExitCode::internal);

// How many arrays this rank's PETSc has copied between host and GPU so far; none: PETSc has no
// CUDA.
std::optional<std::int64_t> petsc_device_copies();

// Where this PETSc queues its work on the GPU; null, the default stream, also where it has no CUDA.
StreamRef petsc_stream();

// An error handler for PetscPushErrorHandler that prints nothing. What fails in PETSc's allocator
// is PETSC_ERR_MEM: PETSc 3.18 gives the number of the line that allocates in its place.
PetscErrorCode petsc_return_error(MPI_Comm comm, int line, const char* function, const char* file,
                                  PetscErrorCode error, PetscErrorType type, const char* message,
                                  void* context);

// For functions that PETSc calls: no exception may pass through C. The message becomes PETSc's.
PetscErrorCode petsc_raise(MPI_Comm comm, const std::exception& error);

template <class Work>
PetscErrorCode petsc_guard(MPI_Comm comm, Work&& work) {
  try {
    std::forward<Work>(work)();
    return kPetscSuccess;
  } catch (const std::exception& error) {
    return petsc_raise(comm, error);
  }
}

// Owns one reference to a PETSc object; destroy it before PetscFinalize. An exception on its way
// leaves the object behind.
template <class Object, PetscErrorCode (*destroy)(Object*)>
class PetscHandle {
 public:
  PetscHandle() = default;
  explicit PetscHandle(Object object) : object_(object) {}
  ~PetscHandle() {
    if (!error_in_flight()) reset();  // many objects end by a collective call
  }
  PetscHandle(PetscHandle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PetscHandle& operator=(PetscHandle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  // NOLINTNEXTLINE(google-explicit-constructor): PETSc's functions take the handle.
  operator Object() const { return object_; }
  Object* put() {  // for PETSc's creating functions
    reset();
    return &object_;
  }
  Object release() { return std::exchange(object_, nullptr); }
  void reset() {
    if (object_) static_cast<void>(destroy(&object_));
    object_ = nullptr;
  }

 private:
  Object object_ = nullptr;
};

using MatHandle = PetscHandle<Mat, MatDestroy>;
using VecHandle = PetscHandle<Vec, VecDestroy>;
using KspHandle = PetscHandle<KSP, KSPDestroy>;

}  // namespace trireme
