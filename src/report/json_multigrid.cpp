// SPDX-License-Identifier: BSD-3-Clause
// "multigrid" and "preconditioner_choice" of a run in report.json.
#include "report/json.hpp"

namespace trireme::json {
namespace {

Json level(const LevelOutcome& l) {
  return {{"rows", l.rows},
          {"nnz", l.nnz},
          {"prolongator", l.prolongator.empty() ? Json(nullptr) : Json(l.prolongator)},
          {"replicated", l.replicated},
          {"kernel", l.kernel},
          {"precision", to_string(l.precision)},
          {"product_us", l.product_us},
          {"spectral_radius", l.spectral_radius}};
}

Json set_up(const MultigridSetUp& s) {
  return {
      {"strength", s.strength},   {"aggregation", s.aggregation},   {"prolongator", s.prolongator},
      {"products", s.products},   {"distribution", s.distribution}, {"kernels", s.kernels},
      {"smoothers", s.smoothers}, {"coarsest", s.coarsest},         {"read", s.read},
      {"total", s.total}};
}

Json read(const std::optional<ReadHierarchy>& read) {
  if (!read) return nullptr;
  return {{"building_seconds", read->building_seconds},
          {"saved_seconds", read->saved_seconds},
          {"bytes", read->bytes}};
}

Json kept(const std::optional<KeptHierarchy>& kept) {
  if (!kept) return nullptr;
  return {{"seconds", kept->seconds}, {"bytes", kept->bytes}};
}

}  // namespace

Json multigrid(const std::optional<MultigridOutcome>& m) {
  if (!m) return nullptr;
  Json levels = Json::array();
  for (const LevelOutcome& l : m->levels) levels.push_back(level(l));
  return {{"levels", std::move(levels)},
          {"operator_complexity", m->operator_complexity},
          {"grid_complexity", m->grid_complexity},
          {"cycle", m->cycle},
          {"smoother", m->smoother},
          {"bytes", m->bytes},
          {"set_up_seconds", set_up(m->set_up)},
          {"remark", m->remark},
          {"read_from_cache", read(m->read)},
          {"kept_in_cache", kept(m->kept)}};
}

Json preconditioner_choice(const std::optional<PreconditionerChoice>& choice) {
  if (!choice) return nullptr;
  Json candidates = Json::array();
  for (const PreconditionerCandidate& c : choice->candidates)
    candidates.push_back({{"name", c.name},
                          {"chosen", c.chosen},
                          {"measured", c.measured},
                          {"set_up_seconds", optional(c.set_up_seconds)},
                          {"iteration_us", optional(c.iteration_us)},
                          {"solve_seconds", optional(c.solve_seconds)},
                          {"pays_after", optional(c.pays_after)},
                          {"verdict", c.verdict}});
  return {{"began_with", choice->began_with},
          {"solves", choice->solves},
          {"changed_at", optional(choice->changed_at)},
          {"candidates", std::move(candidates)}};
}

}  // namespace trireme::json
