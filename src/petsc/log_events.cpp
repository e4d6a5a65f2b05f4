// SPDX-License-Identifier: BSD-3-Clause
// Registration and use of the log events.
#include "petsc/log_events.hpp"

namespace trireme {
namespace {

PetscLogEvent find_or_register(const char* name, PetscClassId family) {
  PetscLogEvent event = -1;
  petsc_check(PetscLogEventGetId(name, &event));
  if (event < 0) petsc_check(PetscLogEventRegister(name, family, &event));
  return event;
}

}  // namespace

LogEvents log_events() {
  return {.build = find_or_register("TriremeBuild", MAT_CLASSID),
          .update = find_or_register("TriremeUpdateValues", MAT_CLASSID),
          .halo = find_or_register("TriremeHalo", MAT_CLASSID),
          .local = find_or_register("TriremeLocal", MAT_CLASSID),
          .ghost = find_or_register("TriremeGhost", MAT_CLASSID)};
}

PetscLogEvent LoggedProduct::event(Part part) const {
  switch (part) {
    case Part::halo:
      return events_.halo;
    case Part::local:
      return events_.local;
    case Part::ghost:
      return events_.ghost;
  }
  return events_.local;
}

void LoggedProduct::begin(Part part) {
  static_cast<void>(PetscLogEventBegin(event(part), 0, 0, 0, 0));
}

void LoggedProduct::end(Part part) { static_cast<void>(PetscLogEventEnd(event(part), 0, 0, 0, 0)); }

}  // namespace trireme
