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

// Registers the events the first time in a PETSc session; afterwards finds them by name.
LogEvents log_events();

// Puts the parts of a product into the log.
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
