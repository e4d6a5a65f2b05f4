// SPDX-License-Identifier: BSD-3-Clause
// Walks the YAML tree along the key table, then the changes, then checks the whole.
#include "config/read_case.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "config/keys.hpp"
#include "config/unknown_key.hpp"
#include "config/validate.hpp"
#include "config/values.hpp"
#include "config/yaml_document.hpp"

namespace trireme {
namespace {

constexpr std::uintmax_t kMaxBytes = 1 << 20;  // a larger file is a matrix, given by mistake
constexpr int kMaxDepth = 16;                  // of maps within maps under petsc

std::string joined(std::string_view section, std::string_view name) {
  return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

class CaseReader {
 public:
  explicit CaseReader(const std::filesystem::path& path) : folder_(path.parent_path()) {
    case_.path = path;
  }
  CaseReader(const CaseReader&) = delete;
  CaseReader& operator=(const CaseReader&) = delete;

  // Reads a whole file of keys, which replace those read before.
  void read_text(const std::string& text, const std::filesystem::path& file) {
    file_ = file;
    const YAML::Node root = load_yaml(text, file.string());
    if (!root.IsMap())
      fail(ExitCode::usage, "{}: not a case: expected keys such as 'problem:' and 'solver:'",
           file.string());
    read_section(root, "");
    case_.text += text;
    if (!text.ends_with('\n')) case_.text += '\n';
  }

  void read_preset(const std::string& text, const std::filesystem::path& file) {
    case_.text += fmt::format("# --preset {}\n", file.string());
    const auto before = std::exchange(places_, {});
    read_text(text, file);
    if (places_.contains("problem"))
      fail(ExitCode::usage, "{}: a preset may not set keys of problem; set them in the case",
           places_.at("problem"));
    places_.insert(before.begin(), before.end());
  }

  void apply(const Override& change) {
    origin_ = change.origin;
    folder_ = change.folder.value_or(case_.path.parent_path());
    const YAML::Node value = load_yaml(change.value, change.origin);
    constexpr std::string_view petsc = "petsc.";
    if (change.key.starts_with(petsc)) {
      add_petsc(change.key.substr(petsc.size()), value, 0);
    } else {
      const Key* key = find_key(change.key);
      if (!key) refuse_unknown_key(change.key, origin_);
      read_key(*key, value, origin_);
    }
    case_.text += fmt::format("# {}\n", change.origin);
  }

  Case finish() {
    check_whole(case_, places_);
    take_dependent_defaults(case_, places_);
    return std::move(case_);
  }

 private:
  std::string place(const YAML::Node& node) const {
    if (!origin_.empty()) return origin_;
    return fmt::format("{}:{}:{}", file_.string(), node.Mark().line + 1, node.Mark().column + 1);
  }

  void read_section(const YAML::Node& map, const std::string& section) {
    std::map<std::string, YAML::Mark> seen;
    for (const auto& entry : map) {
      const YAML::Node &name = entry.first, &value = entry.second;
      const std::string at = place(name);
      if (!name.IsScalar()) fail(ExitCode::usage, "{}: a key must be a plain word", at);
      const auto [before, is_new] = seen.emplace(name.Scalar(), name.Mark());
      const std::string path = joined(section, name.Scalar());
      if (!is_new)
        fail(ExitCode::usage, "{}: duplicate key '{}', first given in line {}", at, path,
             before->second.line + 1);
      const Key* key = find_key(path);
      if (!key) refuse_unknown_key(path, at);
      read_key(*key, value, at);
    }
  }

  void read_key(const Key& key, const YAML::Node& value, const std::string& key_place) {
    const std::string path(key.path);
    places_[path] = key_place;
    if (std::holds_alternative<field::Section>(key.field)) {
      if (!value.IsMap())
        fail(ExitCode::usage, "{}: {} must hold keys: {}", key_place, path,
             fmt::join(names_under(path), ", "));
      read_section(value, path);
    } else if (const auto* sections = std::get_if<field::Sections>(&key.field)) {
      sections->clear(case_);
      const auto read_one = [&](const YAML::Node& entry) {
        if (!entry.IsMap())
          fail(ExitCode::usage, "{}: {} must be a map of the keys {}, or a list of such maps",
               place(entry), path, fmt::join(names_under(path), ", "));
        sections->append(case_, place(entry));
        read_section(entry, path);
      };
      if (value.IsSequence() && value.size() > 0)
        for (const YAML::Node& entry : value) read_one(entry);
      else
        read_one(value);
    } else if (std::holds_alternative<field::PetscOptions>(key.field)) {
      if (!value.IsMap() && !value.IsNull())
        fail(ExitCode::usage, "{}: {} must be a map of PETSc options", key_place, path);
      add_petsc("", value, 0);
    } else {
      if (value.IsNull()) fail(ExitCode::usage, "{}: {} has no value", key_place, path);
      assign_value(case_, key, value, place_of_, folder_);
    }
  }

  // Makes flat options of the sub-tree under petsc; their names are joined by '_'.
  void add_petsc(std::string name, const YAML::Node& value, int depth) {
    if (value.IsMap()) {
      if (depth == kMaxDepth)
        fail(ExitCode::usage, "{}: PETSc options are nested too deeply; write one as a_b_c: value",
             place(value));
      std::map<std::string, bool> seen;
      for (const auto& entry : value) {
        const YAML::Node& part = entry.first;
        std::string word = part.IsScalar() ? part.Scalar() : "";
        word.erase(0, word.find_first_not_of('-'));
        if (word.empty())
          fail(ExitCode::usage, "{}: a PETSc option must be a plain word", place(part));
        if (!seen.emplace(word, true).second)
          fail(ExitCode::usage, "{}: duplicate PETSc option '{}'", place(part), word);
        add_petsc(name.empty() ? word : fmt::format("{}_{}", name, word), entry.second, depth + 1);
      }
      return;
    }
    for (const OwnedOption& owned : owned_petsc_options())
      if (name == owned.option)
        fail(ExitCode::usage, "{}: petsc.{} is set by the key {}: use that", place(value), name,
             owned.key);
    const std::string text = petsc_value(value, "petsc." + name, place_of_);
    const auto same =
        std::ranges::find(case_.petsc, name, &std::pair<std::string, std::string>::first);
    if (same != case_.petsc.end())
      same->second = text;
    else
      case_.petsc.emplace_back(name, text);
  }

  PlaceOf place_of_ = [this](const YAML::Node& node) { return place(node); };
  Case case_;
  Places places_;
  std::filesystem::path file_;    // being read
  std::filesystem::path folder_;  // to which names of files are relative
  std::string origin_;            // of the override being applied; empty while the file is read
};

}  // namespace

std::string read_case_text(const std::filesystem::path& path, std::string_view what) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    fail(ExitCode::usage, "{}: no such {}", path.string(), what);
  if (std::filesystem::is_directory(status))
    fail(ExitCode::usage, "{}: is a folder; give the {} in it", path.string(), what);
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > kMaxBytes)
    fail(ExitCode::usage, "{}: too large for a {} ({} bytes); matrices go to problem.file",
         path.string(), what, size);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) fail(ExitCode::usage, "{}: cannot be read", path.string());
  return std::move(text).str();
}

std::string read_case_text(std::istream& input) {
  std::string text(kMaxBytes + 1, '\0');
  input.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(input.gcount()));
  if (text.size() > kMaxBytes)
    fail(ExitCode::usage, "{}: too large for a case; matrices go to problem.file", kStandardInput);
  return text;
}

Override parse_override(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0)
    fail(ExitCode::usage, "--set {}: expected key=value, such as --set solver.rtol=1e-10",
         assignment);
  return {.key = std::string(assignment.substr(0, equals)),
          .value = std::string(assignment.substr(equals + 1)),
          .origin = fmt::format("--set {}", assignment)};
}

Override text_override(std::string key, const std::string& text, std::string origin) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return {.key = std::move(key), .value = quoted + "'", .origin = std::move(origin)};
}

Case parse_case(const std::string& text, const std::filesystem::path& path,
                const Changes& changes) {
  CaseReader reader(path);
  reader.read_text(text, path);
  for (const auto& preset : changes.presets)
    reader.read_preset(read_case_text(preset, "preset"), preset);
  for (const Override& change : changes.overrides) reader.apply(change);
  return reader.finish();
}

Case read_case(const std::filesystem::path& path, const Changes& changes) {
  return parse_case(read_case_text(path), path, changes);
}

}  // namespace trireme
