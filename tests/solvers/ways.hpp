// SPDX-License-Identifier: BSD-3-Clause
// Every method of the list with every preconditioner of the list that serves it, for tests.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "solvers/solver.hpp"

namespace trireme::test {

struct Way {
  solvers::Method method;
  solvers::Variant variant;
  solvers::PreconditionerKind kind;
  std::string name;
};
inline void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

enum class Place { host, gpu };

inline std::vector<Way> ways(Place place = Place::host) {
  using namespace solvers;
  std::vector<Way> all;
  for_each_algorithm([&](auto entry) {
    using Algorithm = typename decltype(entry)::type;
    for_each_preconditioner([&](PreconditionerKind kind, auto m) {
      const PreconditionerInfo& info = decltype(m)::type::info;
      if (info.symmetric && !Algorithm::info.symmetric) return;
      if (info.nonsymmetric && Algorithm::info.symmetric) return;
      // The operation that these tests give has no form for GPUs.
      if (decltype(m)::type::info.data == PreconditionerData::operation && place == Place::gpu)
        return;
      all.push_back(
          {entry.method, Algorithm::variant, kind,
           std::string(Algorithm::info.name) +
               (Algorithm::variant == Variant::single_reduction ? "SingleReduction" : "") +
               "Preconditioner" + std::to_string(static_cast<int>(kind))});
    });
  });
  return all;
}

// These ways, and those that only the solver of one right-hand side on the host has.
inline std::vector<Way> ways_of_one() {
  using namespace solvers;
  std::vector<Way> all = ways();
  for_each_entry<HostMethodList>([&](auto entry) {
    using Algorithm = typename decltype(entry)::type;
    for (const Way& way : ways())
      if (way.method == entry.method && way.variant == Variant::classic)
        all.push_back({entry.method, Algorithm::variant, way.kind,
                       std::string(Algorithm::info.name) + "Preconditioner" +
                           std::to_string(static_cast<int>(way.kind))});
  });
  return all;
}

}  // namespace trireme::test
