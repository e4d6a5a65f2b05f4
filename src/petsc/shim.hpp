// SPDX-License-Identifier: BSD-3-Clause
// One interface for PETSc 3.18 to 3.26: errors of PETSc become exceptions, and PETSc objects have
// owners.
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

template <class Object>
PetscObject object_of(Object object) {
  return reinterpret_cast<PetscObject>(object);
}

// The communicator of any PETSc object.
template <class Object>
MPI_Comm comm_of(Object object) {
  return PetscObjectComm(object_of(object));
}

// Any function as the untyped pointer that MatSetOperation and MatShellSetOperation take.
template <class Function>
PetscOperation petsc_operation(Function* function) {
  return reinterpret_cast<PetscOperation>(function);
}

// Throws PETSc's message about the error as one line: Error{resource} where memory was missing,
// otherwise Error{code}.
void petsc_check(PetscErrorCode error, ExitCode code = ExitCode::internal);

// How many arrays PETSc has copied between host and GPU on this rank so far. Empty where PETSc has
// no CUDA.
std::optional<std::int64_t> petsc_device_copies();

// The stream in which PETSc queues its work on the GPU. Null, the default stream, where PETSc has
// no CUDA.
StreamRef petsc_stream();

// An error handler for PetscPushErrorHandler that prints nothing. It turns every failure of PETSc's
// allocator into PETSC_ERR_MEM, because PETSc 3.18 gives a line number in place of that code.
PetscErrorCode petsc_return_error(MPI_Comm comm, int line, const char* function, const char* file,
                                  PetscErrorCode error, PetscErrorType type, const char* message,
                                  void* context);

// Makes the exception an error of PETSc with the same message, and returns its code.
PetscErrorCode petsc_raise(MPI_Comm comm, const std::exception& error);

// Runs the body of a function that PETSc calls. No exception may pass through C, so every exception
// becomes an error of PETSc.
template <class Work>
PetscErrorCode petsc_guard(MPI_Comm comm, Work&& work) {
  try {
    std::forward<Work>(work)();
    return kPetscSuccess;
  } catch (const std::exception& error) {
    return petsc_raise(comm, error);
  }
}

// Owns one reference to a PETSc object, which must end before PetscFinalize. While an exception
// unwinds the stack, the object is left behind: the other ranks may not come to the collective call
// that destroys it.
template <class Object, PetscErrorCode (*destroy)(Object*)>
class PetscHandle {
 public:
  PetscHandle() = default;
  explicit PetscHandle(Object object) : object_(object) {}
  ~PetscHandle() {
    if (!error_in_flight()) reset();
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
using PcHandle = PetscHandle<PC, PCDestroy>;

}  // namespace trireme
