// SPDX-License-Identifier: BSD-3-Clause
// A PC type whose data is the operation of a loop (solvers/preconditioners/given.hpp): it works
// under any KSP by PCApply on the host, and KSP types of Trireme call the operation from their own
// loop.
#pragma once

#include <petscksp.h>

#include <optional>

#include "distributed/gpu_exchange.hpp"
#include "parallel/collective.hpp"
#include "petsc/mat/signed_entries.hpp"
#include "petsc/private_headers.hpp"
#include "petsc/shim.hpp"
#include "petsc/vec_product.hpp"
#include "solvers/preconditioners/given.hpp"

namespace trireme {

class GivenPc {
 public:
  virtual ~GivenPc() = default;
  virtual solvers::GivenPreconditioner& operation() = 0;
  // Where the next set_up() is for: GPUs, whose ranks exchange as `exchange` says, or the host
  // (none).
  virtual void place(const std::optional<ExchangeRequest>& exchange) = 0;
  // Makes the operation for the Pmat of `pc`, or brings it up to date, or does nothing where
  // neither the matrix nor the options have changed. Throws Error on every rank. Collective.
  virtual void set_up(PC pc) = 0;
  // The next set_up() makes patterns anew, too.
  virtual void forget_patterns() = 0;
};

// Null for a PC of another type.
GivenPc* given_pc_of(PC pc);

// The data of a PC type of an Operation (FsaiOperation, SpaiOperation, IluOperation) that is made
// with options of the type Options.
template <class Operation, class Options>
class OperationPc : public Operation, public GivenPc {
 public:
  solvers::GivenPreconditioner& operation() override { return *this; }
  void place(const std::optional<ExchangeRequest>& exchange) override {
    Operation::set_place(exchange);
  }
  void set_up(PC pc) override {
    Mat pmat = nullptr;
    petsc_check(PCGetOperators(pc, nullptr, &pmat));
    const MatEntries::Change change = entries_.take(pmat);
    const bool serves =
        change != MatEntries::Change::everything && Operation::is_built_with(options);
    if (serves && change == MatEntries::Change::none) return;
    if (serves) {
      Operation::renew();
      ++renewals;
    } else {
      Operation::build(entries_.matrix(), options);
      ++builds;
    }
  }
  void forget_patterns() override { Operation::forget(); }
  // The next set_up() makes everything anew.
  void forget() {
    Operation::forget();
    entries_.forget();
  }
  // Whether the operation is of -A, because the diagonal of A is negative throughout.
  bool negated() const { return entries_.negated(); }

  Options options{};  // of the next set_up()
  int builds = 0, renewals = 0;

 private:
  SignedEntries entries_;
};

// The functions that PETSc calls, for the data of a type: a GivenPc with forget(), negated(),
// apply() and apply_transposed().
template <class Data>
struct GivenPcFunctions {
  static Data& data(PC pc) { return *static_cast<Data*>(data_of(pc)); }

  static PetscErrorCode set_up(PC pc) {
    return petsc_guard(comm_of(pc), [&] { data(pc).set_up(pc); });
  }
  static PetscErrorCode apply(PC pc, Vec r, Vec z) {
    return petsc_guard(comm_of(pc), [&] {
      data(pc).apply(ReadSpan(r).span(), WriteSpan(z).span());
      // PETSc's methods may rely on M being an approximation of A itself.
      if (data(pc).negated()) petsc_check(VecScale(z, -1));
    });
  }
  static PetscErrorCode apply_transpose(PC pc, Vec r, Vec z) {
    return petsc_guard(comm_of(pc), [&] {
      data(pc).apply_transposed(ReadSpan(r).span(), WriteSpan(z).span());
      if (data(pc).negated()) petsc_check(VecScale(z, -1));
    });
  }
  // Calls print(pc, viewer) where the viewer shows text.
  template <PetscErrorCode (*print)(PC, PetscViewer)>
  static PetscErrorCode view(PC pc, PetscViewer viewer) {
    PetscFunctionBegin;
    PetscBool ascii = PETSC_FALSE;
    PetscCall(
        PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
    if (ascii) PetscCall(print(pc, viewer));
    PetscFunctionReturn(kPetscSuccess);
  }
  static PetscErrorCode reset(PC pc) {
    data(pc).forget();
    return kPetscSuccess;
  }
  static PetscErrorCode destroy(PC pc) {
    delete &data(pc);
    forget_data(pc);
    return kPetscSuccess;
  }
};

}  // namespace trireme
