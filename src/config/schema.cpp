// SPDX-License-Identifier: BSD-3-Clause
// One JSON object per key, by the type in the key table; defaults are those of a default Case.
#include "config/schema.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "config/keys.hpp"

namespace trireme {
namespace {

using Json = nlohmann::ordered_json;

class Describe {
 public:
  Describe(Case& defaults, std::string_view path) : defaults_(defaults), path_(path) {}

  Json operator()(const field::Section&) const {
    return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
  }
  // The map itself is a definition, under the path of the key.
  Json operator()(const field::Sections&) const {
    const Json entry = {{"$ref", "#/$defs/" + std::string(path_)}};
    return {{"oneOf", {entry, {{"type", "array"}, {"items", entry}, {"minItems", 1}}}}};
  }
  Json operator()(const field::Text& f) const {
    Json json = {{"type", "string"}};
    if (f.known) json["enum"] = f.known();
    if (const std::string& text = f.at(defaults_); !text.empty()) json["default"] = text;
    return json;
  }
  Json operator()(const field::TextList& f) const {
    return one_or_several({{"type", "string"}}, f.at(defaults_));
  }
  Json operator()(const field::Choice& f) const {
    return {{"type", "string"}, {"enum", f.known()}, {"default", f.word(defaults_)}};
  }
  Json operator()(const field::ChoiceList& f) const {
    return one_or_several({{"type", "string"}, {"enum", f.known()}}, f.words(defaults_));
  }
  Json operator()(const field::Preconditioner& f) const {
    return {{"type", "string"}, {"default", f.at(defaults_)->name()}};
  }
  Json operator()(const field::Rhs& f) const {
    Json json = {{"type", "string"}};
    if (f.automatic) json["default"] = kAuto;
    return json;
  }
  Json operator()(const field::Guess&) const { return {{"type", "string"}}; }
  Json operator()(const field::File&) const { return {{"type", "string"}, {"minLength", 1}}; }
  Json operator()(const field::Directory& f) const {
    return {{"type", "string"}, {"minLength", 1}, {"default", f.at(defaults_).string()}};
  }
  Json operator()(const field::Integer& f) const {
    Json json = {{"type", "integer"}, {"minimum", f.min}, {"maximum", f.max}};
    if (f.at(defaults_) >= f.min) json["default"] = f.at(defaults_);
    return json;
  }
  Json operator()(const field::AutoInteger& f) const {
    return {{"oneOf",
             {{{"const", kAuto}}, {{"type", "integer"}, {"minimum", f.min}, {"maximum", f.max}}}},
            {"default", kAuto}};
  }
  Json operator()(const field::Seed& f) const {
    return {{"type", "integer"}, {"minimum", 0}, {"default", f.at(defaults_)}};
  }
  Json operator()(const field::Real& f) const {
    Json json = {{"type", "number"}, {"minimum", f.min}};
    if (std::isfinite(f.below)) json["exclusiveMaximum"] = f.below;
    json["default"] = f.at(defaults_);
    return json;
  }
  Json operator()(const field::Duration&) const {
    return {
        {"type", "string"},
        {"pattern", "^(?=.)([0-9]+(\\.[0-9]+)?h)?([0-9]+(\\.[0-9]+)?m)?([0-9]+(\\.[0-9]+)?s)?$"}};
  }
  Json operator()(const field::Flag& f) const {
    return {{"type", "boolean"}, {"default", f.at(defaults_)}};
  }
  Json operator()(const field::PetscOptions&) const {
    Json refused = Json::array();
    for (const OwnedOption& owned : owned_petsc_options()) refused.push_back(owned.option);
    return {{"type", {"object", "null"}}, {"propertyNames", {{"not", {{"enum", refused}}}}}};
  }

 private:
  static Json one_or_several(const Json& item, const std::vector<std::string>& defaults) {
    const Json list = {{"type", "array"}, {"items", item}, {"minItems", 1}, {"uniqueItems", true}};
    return {{"oneOf", {item, list}}, {"default", defaults}};
  }

  Case& defaults_;
  std::string_view path_;  // of the key
};

// The object that describes a section: the whole schema for "", a definition, or the section's
// place within the section around it.
Json& section_of(Json& schema, Json& definitions, const std::string& section) {
  if (section.empty()) return schema;
  if (definitions.contains(section)) return definitions[section];
  const std::size_t dot = section.rfind('.');
  Json& around = section_of(schema, definitions,
                            dot == std::string::npos ? std::string() : section.substr(0, dot));
  return around["properties"][section.substr(dot + 1)];  // npos + 1 == 0
}

// What check_whole() demands of the source of the matrix.
Json source_rule() { return {Json{{"required", {"file"}}}, Json{{"required", {"generate", "n"}}}}; }

}  // namespace

std::string case_schema() {
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "A Trireme case"},
                 {"description", "What `solve --config case.yaml` reads."},
                 {"type", "object"},
                 {"required", {"problem"}},
                 {"additionalProperties", false},
                 {"properties", Json::object()}};
  Json definitions = Json::object();
  Case defaults;
  for (const Key& key : case_keys()) {
    Json entry = std::visit(Describe{defaults, key.path}, key.field);
    entry["description"] = key.description;
    if (!key.unit.empty()) entry["x-unit"] = key.unit;
    const std::size_t dot = key.path.rfind('.');
    const std::string section(key.path.substr(0, dot == std::string_view::npos ? 0 : dot));
    section_of(schema, definitions, section)["properties"][std::string(key.path.substr(dot + 1))] =
        std::move(entry);  // npos + 1 == 0
    if (std::holds_alternative<field::Sections>(key.field))
      definitions[std::string(key.path)] = Describe{defaults, key.path}(field::Section{});
  }
  schema["properties"]["problem"]["oneOf"] = source_rule();
  schema["$defs"] = std::move(definitions);
  return schema.dump(2) + "\n";
}

}  // namespace trireme
