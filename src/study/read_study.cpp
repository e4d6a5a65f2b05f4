// SPDX-License-Identifier: BSD-3-Clause
// Collects what was written, applies the changes, then gives each key its meaning.
#include "study/read_study.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <sstream>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "config/values.hpp"
#include "config/yaml_document.hpp"
#include "kernels/registry.hpp"
#include "study/figures.hpp"
#include "study/product_words.hpp"
#include "study/settings.hpp"
#include "study/written_values.hpp"

namespace trireme::study {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKeys[] = {
    "case",   "cases",  "measure", "vary",  "set",    "baseline", "speed_up_of", "figure",
    "accept", "repeat", "limit",   "total", "memory", "launcher", "directory"};
constexpr std::uintmax_t kMaxBytes = 1 << 20;

std::string place_in(const fs::path& file, const YAML::Node& node) {
  return fmt::format("{}:{}:{}", file.string(), node.Mark().line + 1, node.Mark().column + 1);
}

class StudyReader {
 public:
  explicit StudyReader(const fs::path& path) { study_.path = path; }

  void read_file() {
    std::error_code error;
    const fs::path& file = study_.path;
    if (!fs::exists(file, error)) fail(ExitCode::usage, "{}: no such study", file.string());
    if (fs::file_size(file, error) > kMaxBytes)
      fail(ExitCode::usage, "{}: too large for a study", file.string());
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    read_top(load_yaml(std::move(text).str(), file.string()));
  }

  void read_folder() {
    YAML::Node cases;
    cases.push_back("*.yaml");
    give({"cases", cases, fs::absolute(study_.path),
          [this](const YAML::Node&) { return study_.path.string(); }});
  }

  void apply(const Override& change) {
    Written written{change.key, load_yaml(change.value, change.origin), fs::current_path(),
                    [origin = change.origin](const YAML::Node&) { return origin; }};
    std::string& key = written.key;
    const bool adds = key.ends_with('+');
    if (adds) key.pop_back();
    const std::string head = key.substr(0, key.find('.'));
    if (head == "baseline" && head != key) {
      key = key.substr(head.size() + 1);
      baseline_.push_back(std::move(written));
    } else if (std::ranges::find(kKeys, key) != std::end(kKeys) && key != "vary" && key != "set") {
      give(written);
    } else {
      for (const std::string_view prefix : {"vary.", "set."})
        if (key.starts_with(prefix)) key.erase(0, prefix.size());
      if (!adds) remove_settings_of(key);
      vary_.push_back(std::move(written));
    }
  }

  Study finish() {
    read_words();
    read_limits();
    read_lists();
    read_cases();
    append(study_.fixed, fixed_);
    for (const Written& written : vary_) add_dimension(written);
    sort_dimensions();
    read_baseline();
    if (study_.measure == Measure::products) join_kernels();
    if (study_.directory.empty())
      study_.directory =
          "results-of-" + fs::absolute(study_.path).lexically_normal().stem().string();
    return std::move(study_);
  }

 private:
  static void append(Value& settings, Value more) {
    settings.insert(settings.end(), more.begin(), more.end());
  }

  void give(const Written& written) {
    top_.erase(written.key);
    top_.emplace(written.key, written);
  }

  Written in_file(const std::string& key, const YAML::Node& value) const {
    return {key, value, fs::absolute(study_.path).parent_path(),
            [file = study_.path](const YAML::Node& node) { return place_in(file, node); }};
  }

  // Calls `use(key, name, value)` for each key of a map. Throws for a duplicate.
  template <class Use>
  void for_each_key(const YAML::Node& map, Use&& use) const {
    std::set<std::string> seen;
    for (const auto& entry : map) {
      const std::string at = place_in(study_.path, entry.first);
      if (!entry.first.IsScalar()) fail(ExitCode::usage, "{}: a key must be a plain word", at);
      if (!seen.insert(entry.first.Scalar()).second)
        fail(ExitCode::usage, "{}: duplicate key '{}'", at, entry.first.Scalar());
      use(entry.first.Scalar(), at, entry.second);
    }
  }

  void read_top(const YAML::Node& root) {
    if (!root.IsMap())
      fail(ExitCode::usage, "{}: not a study: expected keys such as 'case:' and 'vary:'",
           study_.path.string());
    for_each_key(root, [&](const std::string& key, const std::string& at, const YAML::Node& value) {
      if (std::ranges::find(kKeys, key) == std::end(kKeys)) refuse(key, at);
      if (value.IsNull()) fail(ExitCode::usage, "{}: {} has no value", at, key);
      if (key == "vary" || key == "set" || key == "baseline" || (key == "case" && value.IsMap()))
        read_map(key, at, value);
      else
        give(in_file(key, value));
    });
  }

  void read_map(const std::string& section, const std::string& at, const YAML::Node& map) {
    if (!map.IsMap())
      fail(ExitCode::usage, "{}: {} must hold keys of a case, such as kernel: ...", at, section);
    for_each_key(map,
                 [&](const std::string& key, const std::string& key_at, const YAML::Node& value) {
                   if (value.IsNull())
                     fail(ExitCode::usage, "{}: {}.{} has no value", key_at, section, key);
                   const Written written = in_file(key, value);
                   if (section == "vary")
                     vary_.push_back(written);
                   else if (section == "baseline")
                     baseline_.push_back(written);
                   else
                     append(fixed_, settings_of(written, value));
                 });
  }

  [[noreturn]] static void refuse(const std::string& key, const std::string& at) {
    if (const auto near = nearest(key, kKeys))
      fail(ExitCode::usage, "{}: unknown key '{}'; did you mean '{}'?", at, key, *near);
    fail(ExitCode::usage,
         "{}: unknown key '{}'; keys of a case stand under vary or set, and the keys of a study "
         "are {}",
         at, key, fmt::join(kKeys, ", "));
  }

  // Takes away what a change of `key` replaces or would contradict. Other settings that it
  // concerns stay, because a later setting of the same key wins.
  void remove_settings_of(const std::string& key) {
    const auto goes = [&](const std::string& other) {
      if (other == key || other.starts_with(key + ".")) return true;
      if (!is_source(key)) return false;
      const Key* const of_case = find_key(other);
      return other == "problem" || is_source(other) ||
             (of_case && is_source(of_case->needs) && of_case->needs != key);
    };
    std::vector<Written> kept;
    for (const Written& other : vary_)
      if (!goes(other.key)) kept.push_back(other);
    vary_.swap(kept);
    std::erase_if(fixed_, [&](const Setting& setting) { return goes(setting.key); });
    if (key == kCase) top_.erase("cases");
  }

  const Written* given(const std::string& key) const {
    const auto found = top_.find(key);
    return found == top_.end() ? nullptr : &found->second;
  }

  // True for `second`. Throws Error{usage} where the value is neither of the two words.
  bool is_second(const Written& written, std::string_view first, std::string_view second) const {
    const auto word = [&](const std::string& text) {
      return text == first || text == second ? std::optional(text) : std::nullopt;
    };
    return parsed(written, written.value, word,
                  fmt::format("'{}' or '{}'", first, second).c_str()) == second;
  }

  void read_words() {
    if (const auto* w = given("measure"))
      study_.measure = is_second(*w, "solve", "products") ? Measure::products : Measure::solve;
    if (const auto* w = given("speed_up_of"))
      study_.speed_up_of_baseline = is_second(*w, "variants", "baseline");
  }

  // One process measures all kernels in turns, so that the values of a dimension become one list.
  void join_kernels() {
    for (Dimension& dimension : study_.dimensions) {
      if (dimension.key != "kernel") continue;
      Setting all = dimension.values.front().front();
      std::vector<std::string> names;
      for (const Value& value : dimension.values)
        for (const std::string& name : kernels_of(value)) names.push_back(name);
      all.text = all.yaml = fmt::format("[{}]", fmt::join(names, ", "));
      dimension.values = {{all}};
    }
  }

  void read_limits() {
    constexpr const char* time = "a time such as 90s, 10m or 1h30m";
    if (const auto* w = given("limit")) study_.limit = parsed(*w, w->value, parse_duration, time);
    if (const auto* w = given("total")) study_.total = parsed(*w, w->value, parse_duration, time);
    if (const auto* w = given("memory"))
      study_.memory = parsed(*w, w->value, bytes_of, "a size such as 500M or 8G");
    if (const auto* w = given("repeat"))
      study_.repeat = parsed(*w, w->value, positive, "a whole number from 1 to 100000");
    if (const auto* w = given("directory"))
      study_.directory = parsed(*w, w->value, not_empty, "a path");
    if (const auto* w = given("launcher"))
      study_.launcher = parsed(*w, w->value, with_place_for_ranks,
                               "a command with {} for the number of ranks, such as mpirun -n {}");
  }

  void read_lists() {
    if (const auto* w = given("figure")) {
      study_.figures.clear();
      for_each_item(*w, [&](const YAML::Node& item) {
        const std::string name = parsed(*w, item, not_empty, "the name of a figure");
        if (!find_figure(name))
          fail(ExitCode::usage, "{}: unknown figure '{}'; known: {}", w->place(item), name,
               fmt::join(figure_names(), ", "));
        if (std::ranges::find(study_.figures, name) == study_.figures.end())
          study_.figures.push_back(name);
      });
    }
    if (const auto* w = given("accept")) {
      study_.accept.clear();
      for_each_item(*w, [&](const YAML::Node& item) {
        const auto code = parsed(*w, item, whole, "an exit code or a list of them");
        study_.accept.push_back(static_cast<int>(code));
      });
    }
  }

  void read_cases() {
    const Written *one = given("case"), *several = given("cases");
    if (one && several)
      fail(ExitCode::usage, "{}: case and cases exclude each other; keep one",
           several->place(several->value));
    if (several)
      add_dimension({std::string(kCase), several->value, several->folder, several->place});
    if (!one) return;
    auto files = values_of({std::string(kCase), one->value, one->folder, one->place}, {});
    if (files.size() != 1)
      fail(ExitCode::usage, "{}: case is one file; use cases for several", one->place(one->value));
    append(study_.fixed, files.front());
  }

  void add_dimension(const Written& written) {
    auto values = values_of(written, kernels());
    const auto same = std::ranges::find(study_.dimensions, written.key, &Dimension::key);
    if (same == study_.dimensions.end())
      study_.dimensions.push_back({written.key, std::move(values)});
    else
      for (Value& value : values) same->values.push_back(std::move(value));
  }

  // The kernels that a pattern may match: those of the devices that the study names, else of CPUs.
  KernelNames kernels() const {
    bool cuda = false, cpu = false;
    const auto look = [&](const std::string& device) {
      cuda |= device == "cuda";
      cpu |= device == "cpu";
    };
    bool varied = false;
    for (const Written& written : vary_)
      if (written.key == "device") {
        varied = true;
        for_each_item(written, [&](const YAML::Node& item) {
          if (item.IsScalar()) look(item.Scalar());
        });
      }
    for (const Setting& setting : fixed_)
      if (setting.key == "device" && !varied) look(setting.text);
    KernelNames names;
    for (const KernelEntry& kernel : kernel_registry())
      if (cuda ? kernel.runs_on(Device::cuda) || (cpu && kernel.runs_on(Device::cpu))
               : kernel.runs_on(Device::cpu))
        names.emplace_back(kernel.name);
    if ((cpu || !cuda) && study_.measure == Measure::solve) names.emplace_back(kPetscAij);
    return names;
  }

  // The problems come first, so that the runs of one problem follow each other.
  void sort_dimensions() {
    std::stable_partition(study_.dimensions.begin(), study_.dimensions.end(),
                          [](const Dimension& d) { return is_problem_key(d.key); });
  }

  void read_baseline() {
    for (const Written& written : baseline_) {
      Value settings = settings_of(written, written.value);
      for (const Setting& setting : settings)
        std::erase_if(study_.baseline, [&](const Setting& s) { return s.key == setting.key; });
      append(study_.baseline, std::move(settings));
    }
    if (!study_.baseline.empty()) return;
    for (const Dimension& dimension : study_.dimensions)
      if (!is_problem_key(dimension.key) && dimension.values.size() > 1) {
        study_.baseline = dimension.values.front();
        return;
      }
  }

  Study study_;
  std::map<std::string, Written> top_;
  std::vector<Written> vary_, baseline_;
  Value fixed_;  // of set
};

}  // namespace

Study read_study(const fs::path& path, const std::vector<Override>& changes) {
  StudyReader reader(path);
  std::error_code unknown;
  if (fs::is_directory(path, unknown))
    reader.read_folder();
  else
    reader.read_file();
  for (const Override& change : changes) reader.apply(change);
  return reader.finish();
}

}  // namespace trireme::study
