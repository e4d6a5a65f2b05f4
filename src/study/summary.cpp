// SPDX-License-Identifier: BSD-3-Clause
// Settings of problems make rows, all other settings make columns.
#include "study/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace trireme::study {
namespace {

using Key = std::vector<std::pair<std::string, std::string>>;  // settings: key and text, sorted

Key key_of(const Value& settings) {
  Key key;
  for (const Setting& s : settings) key.emplace_back(s.key, s.text);
  std::ranges::sort(key);
  return key;
}

// The groups of results that have the same settings of one kind, in the order of their first
// result, with their labels.
class Groups {
 public:
  void add(const Value& settings) {
    if (std::ranges::find(keys_, key_of(settings)) != keys_.end()) return;
    keys_.push_back(key_of(settings));
    values_.push_back(settings);
  }
  std::size_t index_of(const Value& settings) const {
    return static_cast<std::size_t>(std::ranges::find(keys_, key_of(settings)) - keys_.begin());
  }
  std::size_t size() const { return keys_.size(); }

  // Joins the labels of those settings that differ among the groups, or of all if none does.
  std::vector<std::string> labels(const char* separator) const {
    std::map<std::string, std::set<std::string>> texts;
    std::map<std::string, std::size_t> counts;
    for (const Value& value : values_)
      for (const Setting& s : value) texts[s.key].insert(s.text), ++counts[s.key];
    const auto differs = [&](const std::string& key) {
      return texts[key].size() > 1 || counts[key] < size();
    };
    const auto join = [&](const Value& value, bool all, bool whole) {
      std::string text;
      for (const Setting& s : value)
        if (all || differs(s.key))
          text += (text.empty() ? "" : separator) + (whole ? s.text : label(s));
      return text;
    };
    std::vector<std::string> labels;
    for (const Value& value : values_) labels.push_back(join(value, size() == 1, false));
    if (std::set(labels.begin(), labels.end()).size() == labels.size()) return labels;
    for (std::size_t i = 0; i < size(); ++i) labels[i] = join(values_[i], size() == 1, true);
    return labels;
  }

 private:
  std::vector<Key> keys_;
  std::vector<Value> values_;
};

// A problem key that the baseline names is compared, so that it belongs to the columns.
bool makes_rows(const Study& study, const std::string& key) {
  return is_problem_key(key) &&
         std::ranges::find(study.baseline, key, &Setting::key) == study.baseline.end();
}

Value part(const Study& study, const Value& settings, bool of_rows) {
  Value some;
  for (const Setting& s : settings)
    if (makes_rows(study, s.key) == of_rows) some.push_back(s);
  return some;
}

// What runs that are compared with each other have in common.
Key compared_by(const Study& study, const Value& settings) {
  Value rest;
  for (const Setting& s : settings)
    if (std::ranges::find(study.baseline, s.key, &Setting::key) == study.baseline.end())
      rest.push_back(s);
  return key_of(rest);
}

Value with_baseline(const Study& study, Value settings) {
  for (const Setting& wanted : study.baseline) {
    const auto same = std::ranges::find(settings, wanted.key, &Setting::key);
    if (same == settings.end())
      settings.push_back(wanted);
    else
      *same = wanted;
  }
  return settings;
}

double median(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const std::size_t half = numbers.size() / 2;
  return numbers.size() % 2 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
}

struct Samples {
  std::vector<double> figures;
  std::string failure;  // the first one
};

Cell cell_of(const Samples& samples) {
  Cell cell;
  cell.failure = samples.failure;
  const auto& figures = samples.figures;
  if (!cell.failure.empty() && cell.failure != "not run") return cell;
  if (figures.empty()) {
    if (cell.failure.empty()) cell.failure = "no figure";
    return cell;
  }
  cell.failure.clear();
  cell.figure = median(figures);
  cell.repetitions = static_cast<int>(figures.size());
  if (*cell.figure > 0) {
    const auto [least, greatest] = std::ranges::minmax(figures);
    cell.spread = (greatest - least) / *cell.figure;
  }
  return cell;
}

Mean mean_of(const Table& table, std::size_t variant) {
  Mean mean;
  double logarithms = 0;
  std::vector<double> behind;
  for (const Row& row : table.rows) {
    const Cell& cell = row.cells[variant];
    if (!cell.figure && cell.failure != "not run") ++mean.failed;
    if (cell.behind) behind.push_back(*cell.behind);
    if (!cell.ratio) continue;
    logarithms += std::log(*cell.ratio);
    mean.least = mean.count == 0 ? *cell.ratio : std::min(mean.least, *cell.ratio);
    mean.greatest = std::max(mean.greatest, *cell.ratio);
    ++mean.count;
  }
  if (mean.count > 0) mean.geometric = std::exp(logarithms / mean.count);
  if (behind.empty()) return mean;
  std::ranges::sort(behind);
  mean.best = static_cast<int>(std::ranges::count(behind, 0.0));
  // The least number of cells that are 95 % of them.
  mean.behind_p95 = behind[(95 * behind.size() + 99) / 100 - 1];
  mean.behind_worst = behind.back();
  return mean;
}

class Summariser {
 public:
  Summariser(const Study& study, const std::vector<Result>& results)
      : study_(study), results_(results) {
    for (const Result& result : results) {
      rows_.add(part(study, result.settings, true));
      variants_.add(part(study, result.settings, false));
    }
    row_labels_ = rows_.labels(" ");
    variant_labels_ = variants_.labels(", ");
  }

  Summary summary() const {
    Summary s;
    s.name = study_.path.string();
    s.variants = variant_labels_;
    for (const Setting& setting : study_.baseline)
      s.baseline += (s.baseline.empty() ? "" : ", ") + label(setting);
    s.speed_up_of_baseline = study_.speed_up_of_baseline;
    s.repeat = study_.repeat;
    for (const std::string& figure : study_.figures) s.tables.push_back(table_of(figure));
    s.failures = failures();
    return s;
  }

 private:
  Table table_of(const std::string& figure) const {
    Table table{.figure = find_figure(figure), .rows = {}, .means = {}};
    std::vector<std::vector<Samples>> samples(rows_.size(), std::vector<Samples>(variants_.size()));
    table.rows.resize(rows_.size());
    for (std::size_t r = 0; r < rows_.size(); ++r) table.rows[r].label = row_labels_[r];
    for (const Result& result : results_) {
      const auto r = rows_.index_of(part(study_, result.settings, true));
      Samples& mine = samples[r][variants_.index_of(part(study_, result.settings, false))];
      if (result.finding.rows > 0) {
        table.rows[r].rows = result.finding.rows;
        table.rows[r].nnz = result.finding.nnz;
      }
      const auto found = result.finding.figures.find(figure);
      if (result.failure.empty() && found != result.finding.figures.end())
        mine.figures.push_back(found->second);
      // What has failed counts before what has not run.
      else if (mine.failure.empty() || mine.failure == "not run")
        mine.failure = result.failure.empty() ? "no figure" : result.failure;
    }
    for (std::size_t r = 0; r < rows_.size(); ++r)
      for (const Samples& one : samples[r]) table.rows[r].cells.push_back(cell_of(one));
    add_ratios(table);
    add_behind(table);
    for (std::size_t v = 0; v < variants_.size(); ++v) table.means.push_back(mean_of(table, v));
    return table;
  }

  void add_ratios(Table& table) const {
    if (study_.baseline.empty()) return;
    for (const Result& result : results_) {
      const Value base = with_baseline(study_, result.settings);
      const auto row = rows_.index_of(part(study_, result.settings, true));
      const auto variant = variants_.index_of(part(study_, result.settings, false));
      const auto base_variant = variants_.index_of(part(study_, base, false));
      if (base_variant == variants_.size()) continue;
      Cell& cell = table.rows[row].cells[variant];
      const Cell& other = table.rows[row].cells[base_variant];
      if (cell.figure && other.figure && *cell.figure > 0 && *other.figure > 0)
        cell.ratio = study_.speed_up_of_baseline ? *cell.figure / *other.figure
                                                 : *other.figure / *cell.figure;
    }
  }

  void add_behind(Table& table) const {
    std::map<Key, double> best;
    const auto cell_of_result = [&](const Result& result) -> Cell& {
      return table.rows[rows_.index_of(part(study_, result.settings, true))]
          .cells[variants_.index_of(part(study_, result.settings, false))];
    };
    for (const Result& result : results_)
      if (const Cell& cell = cell_of_result(result); cell.figure && *cell.figure > 0) {
        const auto [same, is_new] =
            best.emplace(compared_by(study_, result.settings), *cell.figure);
        same->second = std::min(same->second, *cell.figure);
      }
    for (const Result& result : results_)
      if (Cell& cell = cell_of_result(result); cell.figure && *cell.figure > 0)
        cell.behind = *cell.figure / best.at(compared_by(study_, result.settings)) - 1;
  }

  std::vector<Failure> failures() const {
    std::vector<Failure> all;
    for (const Result& result : results_) {
      if (result.failure.empty() || result.failure == "not run") continue;
      const auto& variant =
          variant_labels_[variants_.index_of(part(study_, result.settings, false))];
      const auto& row = row_labels_[rows_.index_of(part(study_, result.settings, true))];
      auto same = std::ranges::find_if(
          all, [&](const Failure& f) { return f.variant == variant && f.reason == result.reason; });
      if (same == all.end()) same = all.insert(all.end(), {variant, result.reason, {}});
      if (std::ranges::find(same->rows, row) == same->rows.end()) same->rows.push_back(row);
    }
    return merged(all);
  }

  // Variants that fail alike share one entry.
  std::vector<Failure> merged(const std::vector<Failure>& all) const {
    std::vector<Failure> some;
    std::vector<std::size_t> variants;
    for (const Failure& f : all) {
      const auto same = std::ranges::find_if(some, [&](const Failure& other) {
        return other.reason == f.reason && other.rows == f.rows;
      });
      if (same == some.end()) {
        some.push_back(f);
        variants.push_back(1);
      } else if (++variants[static_cast<std::size_t>(same - some.begin())] == variants_.size()) {
        same->variant = "every variant";
      } else {
        same->variant.append(", ").append(f.variant);
      }
    }
    return some;
  }

  const Study& study_;
  const std::vector<Result>& results_;
  Groups rows_, variants_;
  std::vector<std::string> row_labels_, variant_labels_;
};

}  // namespace

Summary summarise(const Study& study, const std::vector<Result>& results) {
  return Summariser(study, results).summary();
}

}  // namespace trireme::study
