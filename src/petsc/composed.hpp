// SPDX-License-Identifier: BSD-3-Clause
// A C++ object that a PETSc object owns, found by its name.
#pragma once

#include <memory>

#include "petsc/shim.hpp"

namespace trireme {

#if PETSC_VERSION_LT(3, 23, 0)
template <class Data>
PetscErrorCode delete_composed(void* data) {
  delete static_cast<Data*>(data);
  return kPetscSuccess;
}
#else
// The address of the pointer to the data; its type is void** or void*, by release.
template <class Data, class Address>
PetscErrorCode delete_composed(Address address) {
  delete *reinterpret_cast<Data**>(address);
  return kPetscSuccess;
}
#endif

// `owner` deletes the data when it is destroyed or when something else is composed by this name.
template <class Data>
void compose(PetscObject owner, const char* name, std::unique_ptr<Data> data) {
  PetscContainer container = nullptr;
  petsc_check(PetscContainerCreate(comm_of(owner), &container));
  petsc_check(PetscContainerSetPointer(container, data.release()));
#if PETSC_VERSION_LT(3, 23, 0)
  petsc_check(PetscContainerSetUserDestroy(container, delete_composed<Data>));
#else
  PetscCtxDestroyFn* destroy = delete_composed<Data>;
  petsc_check(PetscContainerSetCtxDestroy(container, destroy));
#endif
  petsc_check(PetscObjectCompose(owner, name, reinterpret_cast<PetscObject>(container)));
  petsc_check(PetscContainerDestroy(&container));
}

// Null where nothing is composed by this name.
template <class Data>
Data* composed(PetscObject owner, const char* name) {
  PetscContainer container = nullptr;
  petsc_check(PetscObjectQuery(owner, name, reinterpret_cast<PetscObject*>(&container)));
  if (!container) return nullptr;
  void* data = nullptr;
  petsc_check(PetscContainerGetPointer(container, &data));
  return static_cast<Data*>(data);
}

}  // namespace trireme
