// SPDX-License-Identifier: BSD-3-Clause
// Counts through the dimensions like an odometer; the last one turns fastest.
#include "study/expand.hpp"

#define XXH_INLINE_ALL
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/error.hpp"
#include "config/read_case.hpp"
#include "config/right_hand_sides_beside.hpp"
#include "study/product_words.hpp"

namespace trireme::study {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxRuns = 100'000;
constexpr std::size_t kMaxName = 120;

int count_of(const Setting& setting, int max) {
  int number = 0;
  const std::string& text = setting.text;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > max)
    fail(ExitCode::usage, "{}: {} must be a whole number from 1 to {}, not '{}'", setting.origin,
         setting.key, max, text);
  return number;
}

void replace_or_add(Value& settings, const Setting& setting) {
  const auto same = std::ranges::find(settings, setting.key, &Setting::key);
  if (same == settings.end())
    settings.push_back(setting);
  else
    *same = setting;
}

// Settings of problems come first, and in an order that reads well: "poisson3d n=32".
int place_of(const Setting& setting) {
  if (setting.key == kCase) return 0;
  if (is_source(setting.key)) return 1;
  return is_problem_key(setting.key) ? 2 : 3;
}

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return std::move(text).str();
}

// A matrix may be large, so that its size and its time stand for its content.
std::string state_of(const fs::path& file) {
  std::error_code unknown;
  const auto size = fs::file_size(file, unknown);
  const auto time = fs::last_write_time(file, unknown).time_since_epoch().count();
  return fmt::format("{} {} {}", file.string(), size, time);
}

// A hash of texts in their order, the same on every machine.
class TextHash {
 public:
  // Adds a text and its end, so that "ab", "c" differs from "a", "bc".
  void add(std::string_view text) { texts_.append(text).push_back('\0'); }
  std::string text() const {
    return fmt::format("{:016x}", XXH3_64bits(texts_.data(), texts_.size()));
  }

 private:
  std::string texts_;
};

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

class Expansion {
 public:
  Expansion(const Study& study, fs::path no_case) : study_(study), no_case_(std::move(no_case)) {}

  StudyRun run_of(Value settings, std::int64_t repetition) const {
    StudyRun run;
    run.settings = std::move(settings);
    run.repetition = repetition;
    if (study_.measure == Measure::products) return run_of_products(std::move(run));
    fs::path case_file = no_case_;
    Changes changes;
    std::vector<std::string> further;
    TextHash hash;
    for (const Setting& s : run.settings) {
      if (s.key == kCase) {
        case_file = s.text;
      } else if (s.key == kPreset) {
        changes.presets.emplace_back(s.text);
        hash.add(content(s.text));
      } else if (s.key == kProgram) {
        run.program = s.text;
        hash.add(s.text);
      } else if (s.key == kRanks) {
        run.ranks = count_of(s, 1'000'000);
      } else if (s.key == kThreads) {
        run.threads = std::to_string(count_of(s, 10'000));
      } else if (s.key == kOptions) {
        further = words_in(s.text);
      } else {
        changes.overrides.push_back({s.key, s.yaml, s.origin});
      }
    }
    const auto defaults = overrides_of_studies();
    changes.overrides.insert(changes.overrides.begin(), defaults.begin(), defaults.end());
    Case c = case_file == no_case_ ? parse_case("{}\n", study_.path, changes)
                                   : read_case(case_file, changes);
    if (std::ranges::find(c.report.formats, ReportFormat::json) == c.report.formats.end())
      changes.overrides.push_back(with_json(c));

    run.words = {"--config", case_file.string()};
    for (const auto& preset : changes.presets) {
      run.words.insert(run.words.end(), {"--preset", preset.string()});
    }
    for (const Override& o : changes.overrides) {
      run.words.insert(run.words.end(), {"--set", o.key + "=" + o.value});
    }
    run.words.insert(run.words.end(), study_.words.begin(), study_.words.end());
    run.words.insert(run.words.end(), further.begin(), further.end());

    for (const std::string& word : run.words) hash.add(word == no_case_ ? "" : word);
    if (case_file != no_case_) hash.add(content(case_file));
    if (const auto* source = std::get_if<SystemFile>(&c.problem.source)) {
      hash.add(state_of(source->file));
      if (const fs::path beside = right_hand_sides_beside(source->file); !beside.empty())
        hash.add(state_of(beside));
    }
    if (const auto* vectors = c.problem.rhs ? std::get_if<VectorFile>(&*c.problem.rhs) : nullptr)
      hash.add(state_of(vectors->file));
    hash.add(fmt::format("{} {} {}", run.ranks, run.threads, repetition));
    if (run.ranks > 1) hash.add(study_.launcher);
    run.hash = hash.text();
    return run;
  }

 private:
  static StudyRun run_of_products(StudyRun run) {
    Value rest;
    std::vector<std::string> further;
    TextHash hash;
    for (const Setting& s : run.settings) {
      if (s.key == kProgram) {
        run.program = s.text;
        hash.add(s.text);
      } else if (s.key == kThreads) {
        run.threads = std::to_string(count_of(s, 10'000));
      } else if (s.key == kOptions) {
        further = words_in(s.text);
      } else {
        rest.push_back(s);
        if (names_file(s.key)) hash.add(state_of(s.text));
      }
    }
    run.words = product_words(rest);
    run.words.insert(run.words.end(), further.begin(), further.end());
    for (const std::string& word : run.words) hash.add(word);
    hash.add(fmt::format("products {} {}", run.threads, run.repetition));
    run.hash = hash.text();
    return run;
  }

  static std::vector<Override> overrides_of_studies() {
    return {{"report.solution", "false", "study"}};
  }
  static Override with_json(const Case& c) {
    std::vector<std::string_view> words = {"json"};
    for (const ReportFormat format : c.report.formats) words.push_back(to_string(format));
    return {"report.formats", fmt::format("[{}]", fmt::join(words, ", ")), "study"};
  }

  const Study& study_;
  const fs::path no_case_;
};

// Settings that differ among the runs make a run's name.
void name_runs(std::vector<StudyRun>& runs, bool repeated) {
  std::map<std::string, std::set<std::string>> texts;
  for (const StudyRun& run : runs)
    for (const Setting& s : run.settings) texts[s.key].insert(s.text);
  for (StudyRun& run : runs) {
    for (const Setting& s : run.settings) {
      if (texts[s.key].size() < 2) continue;
      if (!run.name.empty()) run.name += ',';
      run.name += label(s);
    }
    if (run.name.empty()) run.name = label(run.settings.front());
    if (run.name.size() > kMaxName) run.name = run.name.substr(0, kMaxName) + "~" + run.hash;
    if (repeated) run.name += fmt::format(",{}", run.repetition);
    for (char& c : run.name)
      if (!isalnum(static_cast<unsigned char>(c)) && !strchr("._=+,~-", c)) c = '-';
    if (run.name.front() == '.') run.name.front() = '-';
  }
}

// Kernels and precisions that a case compares within one run are known from its report only.
bool known_later(const std::string& key) { return key == "kernel" || key == "precision"; }

void check_baseline(const Study& study, const std::vector<StudyRun>& runs) {
  for (const Setting& wanted : study.baseline) {
    bool key_is_there = known_later(wanted.key), there = false;
    std::set<std::string> known;
    for (const StudyRun& run : runs) {
      const auto mine = std::ranges::find(run.settings, wanted.key, &Setting::key);
      if (mine == run.settings.end()) {
        there |= known_later(wanted.key);
        continue;
      }
      key_is_there = true;
      known.insert(mine->text);
      there |= mine->text == wanted.text ||
               (known_later(wanted.key) && mine->text.find(wanted.text) != std::string::npos &&
                mine->text.starts_with('['));
    }
    if (!key_is_there)
      fail(ExitCode::usage, "{}: the baseline's key '{}' is neither under vary nor under set",
           wanted.origin, wanted.key);
    if (!there)
      fail(ExitCode::usage, "{}: the baseline matches no run: {} is never '{}', but one of {}",
           wanted.origin, wanted.key, wanted.text, fmt::join(known, ", "));
  }
}

bool is_number(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string label(const Setting& setting) {
  const std::string& text = setting.text;
  if (names_file(setting.key)) {
    std::string name = fs::path(text).filename().string();
    for (const char* ending : {".gz", ".mtx", ".h5", ".hdf5", ".petsc", ".bin", ".yaml"})
      if (name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
    return name;
  }
  if (setting.key == kRanks || setting.key == kThreads)
    return fmt::format("{} {}{}", text, setting.key.substr(0, setting.key.size() - 1),
                       text == "1" ? "" : "s");
  if (is_number(text) || text == "true" || text == "false")
    return fmt::format("{}={}", setting.key.substr(setting.key.rfind('.') + 1), text);
  return text.empty() ? "no " + setting.key : text;
}

std::vector<StudyRun> expand(const Study& study, const fs::path& no_case) {
  std::size_t combinations = 1;
  for (const Dimension& dimension : study.dimensions)
    if ((combinations *= dimension.values.size()) * static_cast<std::size_t>(study.repeat) >
        kMaxRuns)
      fail(ExitCode::usage, "{}: more than {} runs; vary less", study.path.string(), kMaxRuns);

  const Expansion expansion(study, no_case);
  std::vector<StudyRun> runs;
  std::set<std::string> seen;  // A setting may hide the difference between two combinations.
  for (std::int64_t repetition = 1; repetition <= study.repeat; ++repetition)
    for (std::size_t number = 0; number < combinations; ++number) {
      Value settings = study.fixed;
      std::size_t rest = number, of_these = combinations;
      for (const Dimension& dimension : study.dimensions) {
        of_these /= dimension.values.size();
        for (const Setting& setting : dimension.values[rest / of_these])
          replace_or_add(settings, setting);
        rest %= of_these;
      }
      std::ranges::stable_sort(settings, {}, place_of);
      StudyRun run = expansion.run_of(std::move(settings), repetition);
      if (seen.insert(run.hash).second) runs.push_back(std::move(run));
    }
  check_baseline(study, runs);
  name_runs(runs, study.repeat > 1);
  return runs;
}

}  // namespace trireme::study
