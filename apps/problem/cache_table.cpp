// SPDX-License-Identifier: BSD-3-Clause
// Lays out the texts of problem cache.
#include "cache_table.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>

#include "base/printable.hpp"
#include "base/wrap.hpp"
#include "report/words.hpp"

namespace trireme::problem_app {
namespace {

// The first digits of an entry's file name, which are enough to name it.
constexpr std::size_t kShortName = 12;

std::string name_of(const CacheListing& listing) {
  return listing.path.stem().string().substr(0, kShortName);
}

// The value of a part of a key, or an empty text.
std::string part_of(const std::string& key, const std::string& name) {
  const std::string text = "\n" + key, start = "\n" + name + ": ";
  const std::size_t at = text.find(start);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + start.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string age_text(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  if (seconds < 2 * kMinute) return fmt::format("{} s", std::max<std::int64_t>(seconds, 0));
  if (seconds < 2 * kHour) return fmt::format("{} min", seconds / kMinute);
  if (seconds < 2 * kDay) return fmt::format("{} h", seconds / kHour);
  return fmt::format("{} days", seconds / kDay);
}

std::string optional_text(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "-";
}

constexpr std::size_t kShortHash = 8;

// "4 levels of the matrix 0a1b2c3d"
std::string purpose_of(const HierarchyOutline& hierarchy, const std::string& key) {
  const std::string matrix = part_of(key, "matrix").substr(0, kShortHash);
  if (hierarchy.levels == 0) return fmt::format("remark: to build is faster, matrix {}", matrix);
  return fmt::format("{} level{} of the matrix {}", hierarchy.levels,
                     hierarchy.levels == 1 ? "" : "s", matrix);
}

// "sell in the order rcm, for 4096000 rows, 28 nonzeros, on NVIDIA H200"
std::string purpose(const CacheRow& row) {
  const std::string& key = row.listing.head.key;
  std::string text;
  if (row.decision) {
    text = row.decision->kernel;
    if (row.decision->ordering != "given") text += " in the order " + row.decision->ordering;
  } else if (row.hierarchy) {
    text = purpose_of(*row.hierarchy, key);
  } else {
    text = part_of(key, "ordering");
  }
  if (!text.empty()) text += ", ";
  if (const std::string rank = part_of(key, "rank"); !rank.empty()) text += "rank " + rank + ", ";
  text += fmt::format("{} rows, {} nonzeros", part_of(key, "rows"), part_of(key, "nonzeros"));
  const std::string gpu = part_of(key, "gpu");
  const std::string device = gpu.empty() ? part_of(key, "cpu") : gpu;
  return device.empty() ? text : text + ", " + device;
}

void add_decision(std::string& text, const KernelDecision& decision) {
  const TrialOutcome& trial = decision.trial;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "\nThe choice is {} in the row order \"{}\", for {} expected products ({}).\n",
                 printable_line(decision.kernel), printable_line(decision.ordering),
                 trial.expected_products, printable_line(trial.expected_from));
  fmt::format_to(out, "The trial took {} of at most {}.\n", words::seconds(trial.seconds),
                 words::seconds(trial.budget_seconds));
  if (decision.iterations > 0)
    fmt::format_to(out, "A solve with it took {} iterations.\n", decision.iterations);
  fmt::format_to(out, "\n  {:<12} {:<9} {:>13} {:>10} {:>11}\n", "kernel", "order", "predicted, us",
                 "build, s", "product, us");
  for (const TrialCandidate& candidate : trial.candidates)
    fmt::format_to(
        out, "  {:<12} {:<9} {:>13} {:>10} {:>11}  {}\n", printable_line(candidate.kernel),
        printable_line(candidate.ordering),
        std::isfinite(candidate.predicted_us) ? fmt::format("{:.1f}", candidate.predicted_us) : "-",
        optional_text(candidate.build_seconds, "{:.4f}"),
        optional_text(candidate.product_us, "{:.1f}"), printable_line(candidate.verdict));
}

void add_hierarchy(std::string& text, const HierarchyOutline& hierarchy) {
  const auto out = std::back_inserter(text);
  if (hierarchy.levels == 0) {
    fmt::format_to(out, "\nReading was slower than building the hierarchy, which took {}.\n",
                   words::seconds(hierarchy.set_up_seconds));
    return;
  }
  fmt::format_to(out, "\nBuilding took {}. Of the levels below the matrix this rank has:\n\n",
                 words::seconds(hierarchy.set_up_seconds));
  fmt::format_to(out, "  {:>5} {:>12} {:>12}\n", "level", "rows", "nonzeros");
  for (std::size_t l = 0; l < hierarchy.coarse.size(); ++l)
    fmt::format_to(out, "  {:>5} {:>12} {:>12}\n", l + 1, hierarchy.coarse[l].rows,
                   hierarchy.coarse[l].nonzeros);
}

}  // namespace

std::string cache_table(const std::filesystem::path& directory, const std::vector<CacheRow>& rows,
                        std::int64_t now) {
  std::uint64_t bytes = 0;
  for (const CacheRow& row : rows) bytes += row.listing.file_bytes;
  std::string text =
      fmt::format("{}: {} {}, {}\n", directory.string(), rows.size(),
                  rows.size() == 1 ? "entry" : "entries", words::bytes(static_cast<double>(bytes)));
  if (rows.empty()) return text;
  fmt::format_to(std::back_inserter(text), "\n{:<12}  {:<11} {:>9} {:>10} {:>9}\n", "name", "kind",
                 "size", "unused for", "made in");
  for (const CacheRow& row : rows) {
    const CacheListing& listing = row.listing;
    const bool whole = listing.fault.empty();
    fmt::format_to(std::back_inserter(text), "{:<12}  {:<11} {:>9} {:>10} {:>9}\n  {}\n",
                   name_of(listing), whole ? printable_line(listing.head.kind) : "?",
                   words::bytes(static_cast<double>(listing.file_bytes)),
                   age_text(now - listing.last_used),
                   whole ? words::seconds(listing.head.made_in_seconds) : "-",
                   wrap(whole ? printable_line(purpose(row)) : "damaged: the file " + listing.fault,
                        words::kTextWidth, 2, 2));
  }
  return text;
}

std::string cache_explanation(const CacheRow& row, std::int64_t now) {
  const CacheListing& listing = row.listing;
  std::string text = fmt::format(
      "{}\n{}, kept on {:%Y-%m-%d %H:%M} UTC, unused for {}, made in {}\n\nIt is valid for\n",
      listing.path.string(), words::bytes(static_cast<double>(listing.file_bytes)),
      fmt::gmtime(static_cast<std::time_t>(listing.head.created)),
      age_text(now - listing.last_used), words::seconds(listing.head.made_in_seconds));
  const std::string& key = listing.head.key;
  for (std::size_t at = 0; at < key.size();) {
    const std::size_t end = std::min(key.find('\n', at), key.size());
    const std::string line = key.substr(at, end - at);
    const std::size_t colon = std::min(line.find(": "), line.size());
    fmt::format_to(std::back_inserter(text), "  {:<20} {}\n", line.substr(0, colon),
                   colon + 2 <= line.size() ? line.substr(colon + 2) : "");
    at = end + 1;
  }
  if (row.decision) add_decision(text, *row.decision);
  if (row.hierarchy) add_hierarchy(text, *row.hierarchy);
  return text;
}

}  // namespace trireme::problem_app
