// SPDX-License-Identifier: BSD-3-Clause
// The tree of the case takes the trees of the changes, and is written.
#include "config/case_text.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <cctype>

#include "config/keys.hpp"
#include "config/yaml_document.hpp"

namespace trireme {
namespace {

namespace fs = std::filesystem;

constexpr const char* kQuotedTag = "!";  // yaml-cpp's, of a scalar in quotes

std::string path_in(const std::string& section, const std::string& name) {
  return section.empty() ? name : fmt::format("{}.{}", section, name);
}

// A node that shares nothing with `node`, of the key `path`. Names of files get `folder`.
YAML::Node copy(const YAML::Node& node, const std::string& path, const fs::path& folder) {
  YAML::Node out(node.Type());
  if (node.IsMap())
    for (const auto& entry : node)
      out[entry.first.Scalar()] = copy(entry.second, path_in(path, entry.first.Scalar()), folder);
  if (node.IsSequence())
    for (const YAML::Node& item : node) out.push_back(copy(item, path, folder));
  if (node.IsScalar()) {
    const Key* const key = find_key(path);
    const bool is_file = key && is_file_name(*key, node.Scalar());
    out = is_file ? (folder / node.Scalar()).lexically_normal().string() : node.Scalar();
    out.SetTag(node.Tag());
  }
  return out;
}

// `changes` replaces what it names in `tree`, section by section.
void merge(YAML::Node tree, const YAML::Node& changes, const std::string& section) {
  for (const auto& entry : changes) {
    const std::string& name = entry.first.Scalar();
    const Key* const key = find_key(path_in(section, name));
    if (key && std::holds_alternative<field::Section>(key->field) && tree[name])
      merge(tree[name], entry.second, path_in(section, name));
    else
      tree[name] = entry.second;
  }
}

// Sets the key `path`, which lies in `tree` below `section`. A key of problem.steps belongs to the
// last entry.
void set(YAML::Node tree, const std::string& path, const YAML::Node& value,
         const std::string& section = "") {
  const std::size_t begin = section.empty() ? 0 : section.size() + 1;
  const std::string name = path.substr(begin, path.find('.', begin) - begin);
  YAML::Node change;
  if (path_in(section, name) == path) {
    change[name] = value;
    merge(tree, change, section);
    return;
  }
  if (!tree[name]) tree[name] = YAML::Node(YAML::NodeType::Map);
  YAML::Node below = tree[name];
  if (below.IsSequence()) below.reset(below[below.size() - 1]);
  set(below, path, value, path_in(section, name));
}

// Whether a scalar without quotes is read as this text, and not as a number or a word of YAML.
bool is_plain_text(const std::string& text) {
  for (const char* word : {"true", "false", "null", "Null", "NULL"})
    if (text == word) return false;
  return !text.empty() &&
         (std::isalpha(static_cast<unsigned char>(text.front())) || text.front() == '/');
}

void write(YAML::Emitter& out, const YAML::Node& node) {
  if (node.IsMap()) {
    out << YAML::BeginMap;
    for (const auto& entry : node) {
      out << YAML::Key << entry.first.Scalar() << YAML::Value;
      write(out, entry.second);
    }
    out << YAML::EndMap;
  } else if (node.IsSequence()) {
    out << YAML::Flow << YAML::BeginSeq;
    for (const YAML::Node& item : node) write(out, item);
    out << YAML::EndSeq;
  } else if (node.IsScalar()) {
    if (node.Tag() == kQuotedTag && !is_plain_text(node.Scalar())) out << YAML::DoubleQuoted;
    out << node.Scalar();
  } else {
    out << YAML::Null;
  }
}

YAML::Node flat(const std::vector<std::pair<std::string, std::string>>& petsc) {
  YAML::Node options(YAML::NodeType::Map);
  for (const auto& [name, value] : petsc) {
    options[name] = value;
    options[name].SetTag(kQuotedTag);
  }
  return options;
}

std::string text_of(const YAML::Node& tree) {
  YAML::Emitter out;
  write(out, tree);
  return std::string(out.c_str()) + "\n";
}

}  // namespace

std::string case_of_matrix(const std::string& file) {
  const VectorFile named = parse_vector_file(file, "");
  std::error_code ignored;
  const bool has_group = !named.name.empty() && !fs::exists(file, ignored);
  YAML::Node tree(YAML::NodeType::Map);
  const auto put = [&](const std::string& path, const std::string& value) {
    YAML::Node text(value);
    text.SetTag(kQuotedTag);
    set(tree, path, text);
  };
  put(std::string(kFileKey), has_group ? named.file.string() : file);
  if (has_group) put("problem.matrix", named.name);
  return text_of(tree);
}

std::string changed_case(const std::string& text, const fs::path& path, const Changes& changes) {
  const Case valid = parse_case(text, path, changes);
  YAML::Node tree = copy(load_yaml(text, path.string()), "", path.parent_path());
  for (const fs::path& preset : changes.presets)
    merge(tree, copy(load_yaml(read_case_text(preset, "preset"), preset.string()), "", {}), "");
  for (const Override& change : changes.overrides)
    if (!change.key.starts_with("petsc."))
      set(tree, change.key,
          copy(load_yaml(change.value, change.origin), change.key,
               change.folder.value_or(path.parent_path())));
  tree.remove("petsc");
  if (!valid.petsc.empty()) tree["petsc"] = flat(valid.petsc);
  return text_of(tree);
}

}  // namespace trireme
