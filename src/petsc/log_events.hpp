// SPDX-License-Identifier: BSD-3-Clause
// Trireme's events in PETSc's -log_view: TriremeBuild and TriremeUpdateValues of a matrix,
// TriremeHalo, TriremeLocal and TriremeGhost within each product.
#pragma once

#include "distributed/operator.hpp"
#include "petsc/shim.hpp"

namespace trireme {

struct LogEvents {
  PetscLogEvent build = 0, update = 0, halo = 0, local = 0, ghost = 0;
};

// Registers the events at the first call in a PETSc session; later calls find them by their names.
LogEvents log_events();

// Puts the parts of each product into the log. The operator that it observes must not outlive it
// while it is the observer.
class LoggedProduct final : public Operator::ProductObserver {
 public:
  LoggedProduct() : events_(log_events()) {}
  void begin(Part part) override;
  void end(Part part) override;

 private:
  PetscLogEvent event(Part part) const;
  LogEvents events_;
};

}  // namespace trireme
