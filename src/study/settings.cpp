// SPDX-License-Identifier: BSD-3-Clause
// Walks a YAML value; paths become absolute, so that a run may work in a folder of its own.
#include "study/settings.hpp"

#include <fnmatch.h>
#include <glob.h>

#include <algorithm>

#include "base/choices.hpp"
#include "base/error.hpp"
#include "config/keys.hpp"

namespace trireme::study {
namespace {

namespace fs = std::filesystem;

bool has_wildcard(const std::string& text) {
  return text.find_first_of("*?[") != std::string::npos;
}

std::string flow(const YAML::Node& node) {
  YAML::Emitter out;
  out.SetSeqFormat(YAML::Flow);
  out.SetMapFormat(YAML::Flow);
  out << node;
  return out.c_str();
}

std::string in_quotes(const std::string& text) {
  YAML::Emitter out;
  out << YAML::DoubleQuoted << text;
  return out.c_str();
}

// Whether the value is a path. A program without '/' is searched for in PATH.
bool is_path(std::string_view key, const std::string& text) {
  if (key == kProgram) return text.find('/') != std::string::npos;
  const Key* const of_case = find_key(key);
  return names_file(key) || (of_case && is_file_name(*of_case, text));
}

Setting leaf(const Written& written, const std::string& key, const YAML::Node& node) {
  Setting setting{.key = key, .text = {}, .yaml = {}, .origin = written.place(node)};
  if (!node.IsScalar()) {
    setting.text = setting.yaml = flow(node);
    return setting;
  }
  setting.text = node.Scalar();
  if (is_path(key, setting.text)) {
    setting.text = (written.folder / setting.text).lexically_normal().string();
    setting.yaml = in_quotes(setting.text);
  } else {
    setting.yaml = node.Tag() == "!" ? in_quotes(setting.text) : setting.text;
  }
  return setting;
}

void add_leaves(const Written& written, const std::string& key, const YAML::Node& node,
                Value& settings) {
  if (!node.IsMap()) {
    settings.push_back(leaf(written, key, node));
    return;
  }
  for (const auto& entry : node) {
    if (!entry.first.IsScalar())
      fail(ExitCode::usage, "{}: a key must be a plain word", written.place(entry.first));
    add_leaves(written, key + "." + entry.first.Scalar(), entry.second, settings);
  }
}

// A text under `problem` is a file.
std::string key_of(const Written& written, const YAML::Node& node) {
  return written.key == "problem" && node.IsScalar() ? std::string(kFileKey) : written.key;
}

}  // namespace

std::vector<fs::path> matching_files(const std::string& pattern, const fs::path& folder,
                                     const std::string& place) {
  const std::string whole = (folder / pattern).lexically_normal().string();
  std::vector<fs::path> files;
  if (!has_wildcard(pattern)) {
    std::error_code unknown;
    if (fs::exists(whole, unknown)) files.emplace_back(whole);
  } else {
    glob_t found = {};
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the study has one thread, and changes no variable.
    if (glob(whole.c_str(), 0, nullptr, &found) == 0)
      files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
  }
  if (files.empty())
    fail(ExitCode::usage, "{}: no file '{}'{}", place, whole,
         has_wildcard(pattern) ? ": the pattern matches nothing" : "");
  return files;
}

Value settings_of(const Written& written, const YAML::Node& node) {
  Value settings;
  add_leaves(written, key_of(written, node), node, settings);
  return settings;
}

std::vector<Value> values_of(const Written& written, const KernelNames& kernels) {
  const YAML::Node& list = written.value;
  std::vector<YAML::Node> items;
  if (list.IsSequence())
    for (const YAML::Node& item : list) items.push_back(item);
  else if (!list.IsNull())
    items.push_back(list);
  if (items.empty())
    fail(ExitCode::usage, "{}: {} needs a value or a list of values", written.place(list),
         written.key);

  std::vector<Value> values;
  const auto add = [&](Value value) {
    const bool again = std::ranges::any_of(values, [&](const Value& other) {
      return std::ranges::equal(value, other, [](const Setting& a, const Setting& b) {
        return a.key == b.key && a.text == b.text;
      });
    });
    if (!again) values.push_back(std::move(value));
  };
  for (const YAML::Node& item : items) {
    const std::string key = key_of(written, item);
    const std::string text = item.IsScalar() ? item.Scalar() : "";
    if (names_file(key) && text.find("{}") == std::string::npos) {  // {}: a number of a step
      if (text.empty()) fail(ExitCode::usage, "{}: {} must be a path", written.place(item), key);
      for (const fs::path& file : matching_files(text, written.folder, written.place(item)))
        add({{key, file.string(), in_quotes(file.string()), written.place(item)}});
    } else if (key == "kernel" && has_wildcard(text)) {
      const auto before = values.size();
      for (const std::string& name : kernels)
        if (fnmatch(text.c_str(), name.c_str(), 0) == 0)
          add({{key, name, name, written.place(item)}});
      if (values.size() == before)
        fail(ExitCode::usage, "{}: no further kernel matches '{}'", written.place(item), text);
    } else {
      add(settings_of(written, item));
    }
  }
  return values;
}

}  // namespace trireme::study
