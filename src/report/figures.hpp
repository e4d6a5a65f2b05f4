// SPDX-License-Identifier: BSD-3-Clause
// The tables of figures: each object of report.json has one, from which the object, its schema
// (configs/report.schema.json) and its part of docs/reports.md are made.
#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "report/account.hpp"
#include "report/outcome.hpp"

namespace trireme::json {

using Json = nlohmann::ordered_json;

// Of report.json. It rises when a figure is removed or changes its meaning.
inline constexpr int kSchema = 2;

template <class Owner>
struct Figure;

template <class Owner>
using Figures = std::vector<Figure<Owner>>;

// The table of an object, in the order of report.json. Every type of object has its own
// specialisation, which stands in one of the files *_figures.cpp.
template <class Owner>
const Figures<Owner>& figures() = delete;

template <class Owner>
Json object_of(const Owner& owner);
template <class Owner>
void read_object(const Json& object, Owner& owner);
template <class Owner>
Json schema_of_object();

template <class T>
concept Range = requires(const T& t) {
  typename T::value_type;
  t.begin();
}
&&!std::convertible_to<T, std::string_view>;
template <class T>
concept Chosen = requires {
  WordsOf<T>::all;
};
template <class T>
concept Optional = std::same_as<T, std::optional<typename T::value_type>>;

// A number that is not finite and an empty optional become null.
template <class T>
Json value_of(const T& value) {
  if constexpr (Chosen<T>) {
    return to_string(value);
  } else if constexpr (Optional<T>) {
    return value ? value_of(*value) : Json(nullptr);
  } else if constexpr (std::constructible_from<Json, T>) {
    return value;
  } else if constexpr (Range<T>) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(value_of(item));
    return list;
  } else {
    return object_of(value);
  }
}

// A value of a file is not what its figure has. what() is its place: "runs.iterations".
struct WrongFigure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool fits) {
  if (!fits) throw WrongFigure("");
}

// The inverse of value_of(). A number that is null becomes NaN.
template <class T>
void read_value(const Json& json, T& value) {
  if constexpr (Chosen<T>) {
    require(json.is_string());
    const auto choice = choice_of<T>(json.get<std::string>());
    require(choice.has_value());
    value = *choice;
  } else if constexpr (Optional<T>) {
    value.reset();
    if (!json.is_null()) read_value(json, value.emplace());
  } else if constexpr (std::same_as<T, bool>) {
    require(json.is_boolean());
    value = json.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    require(json.is_number_integer());
    value = json.get<T>();
  } else if constexpr (std::is_floating_point_v<T>) {
    require(json.is_number() || json.is_null());
    value = json.is_null() ? std::numeric_limits<T>::quiet_NaN() : json.get<T>();
  } else if constexpr (std::same_as<T, std::string>) {
    require(json.is_string());
    value = json.get<std::string>();
  } else if constexpr (Range<T>) {
    require(json.is_array());
    value.clear();
    for (const Json& item : json) read_value(item, value.emplace_back());
  } else {
    read_object(json, value);
  }
}

// What a type allows, as JSON Schema. Numbers are not negative.
template <class T>
Json schema_of() {
  if constexpr (Chosen<T>) {
    Json words = Json::array();
    for (const auto& entry : WordsOf<T>::all) words.push_back(entry.word);
    return {{"enum", std::move(words)}};
  } else if constexpr (Optional<T>) {
    Json schema = schema_of<typename T::value_type>();
    schema["type"] = {schema.at("type"), "null"};
    return schema;
  } else if constexpr (std::same_as<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_arithmetic_v<T>) {
    return {{"type", std::is_integral_v<T> ? "integer" : "number"}, {"minimum", 0}};
  } else if constexpr (std::convertible_to<T, std::string_view>) {
    return {{"type", "string"}};
  } else if constexpr (std::same_as<T, Json>) {
    return Json::object();
  } else if constexpr (Range<T>) {
    return {{"type", "array"}, {"items", schema_of<typename T::value_type>()}};
  } else {
    return schema_of_object<T>();
  }
}

// The place of a text of which an empty one is unknown.
template <class Owner>
struct Known {
  std::string Owner::*text;
  std::optional<std::string> operator()(const Owner& owner) const {
    return (owner.*text).empty() ? std::nullopt : std::optional(owner.*text);
  }
};
template <class Owner>
Known<Owner> known(std::string Owner::*text) {
  return {text};
}

// One figure of an Owner: its name and unit in report.json, what it says, and where it is: a
// member, or a function of the owner. `rules` are merged into the schema of its type, where it
// allows less or more.
template <class Owner>
struct Figure {
  template <class Place>
  Figure(const char* name_, const char* unit_, const char* says_, Place place, Json rules_ = {})
      : name(name_),
        unit(unit_),
        says(says_),
        rules(std::move(rules_)),
        value([place](const Owner& owner) { return value_of(std::invoke(place, owner)); }),
        schema_of_type(schema_of<std::remove_cvref_t<std::invoke_result_t<Place, const Owner&>>>) {
    if constexpr (std::is_member_object_pointer_v<Place>)
      read = [place](const Json& json, Owner& owner) { read_value(json, owner.*place); };
    else if constexpr (std::same_as<Place, Known<Owner>>)
      read = [place](const Json& json, Owner& owner) {
        (owner.*place.text).clear();
        if (!json.is_null()) read_value(json, owner.*place.text);
      };
  }

  Json schema() const {
    Json schema = schema_of_type();
    if (!rules.is_null()) schema.merge_patch(rules);
    if (*unit) schema["unit"] = unit;
    schema["description"] = says;
    return schema;
  }

  const char *name, *unit, *says;
  Json rules;
  std::function<Json(const Owner&)> value;
  std::function<void(const Json&, Owner&)> read;  // empty: the figure follows from others
  Json (*schema_of_type)();
};

template <class Owner>
Json object_of(const Owner& owner) {
  Json object = Json::object();
  for (const Figure<Owner>& figure : figures<Owner>()) object[figure.name] = figure.value(owner);
  return object;
}

// A figure that the object does not have, because an earlier Trireme wrote it, stays as it is.
template <class Owner>
void read_object(const Json& object, Owner& owner) {
  require(object.is_object());
  for (const Figure<Owner>& figure : figures<Owner>()) {
    const auto found = object.find(figure.name);
    if (!figure.read || found == object.end()) continue;
    try {
      figure.read(*found, owner);
    } catch (const WrongFigure& inner) {
      const std::string below = inner.what();
      throw WrongFigure(below.empty() ? figure.name : figure.name + ("." + below));
    }
  }
}

template <class Owner>
Json schema_of_object() {
  Json names = Json::array(), properties = Json::object();
  for (const Figure<Owner>& figure : figures<Owner>()) {
    names.push_back(figure.name);
    properties[figure.name] = figure.schema();
  }
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", std::move(names)},
          {"properties", std::move(properties)}};
}

// Rules of figures: a number that may be no number, a text that says something, a positive count.
inline Json nan_is_null() { return {{"type", {"number", "null"}}}; }
inline Json nan_is_null_in_list() { return {{"items", nan_is_null()}}; }
inline Json not_empty() { return {{"minLength", 1}}; }
inline Json at_least_one() { return {{"minimum", 1}}; }

// What "account" is made of.
struct AccountPart {
  explicit AccountPart(const CaseOutcome& of) : outcome(of), account(account_of(of)) {}
  const CaseOutcome& outcome;
  Account account;
};

template <>
const Figures<Seconds>& figures();
template <>
const Figures<StartSeconds>& figures();
template <>
const Figures<MultigridSetUp>& figures();
template <>
const Figures<RunOutcome>& figures();
template <>
const Figures<MultigridOutcome>& figures();
template <>
const Figures<LadderOutcome>& figures();
template <>
const Figures<PreconditionerChoice>& figures();
template <>
const Figures<DistributionOutcome>& figures();
template <>
const Figures<AccountPart>& figures();
template <>
const Figures<PatternPicture>& figures();
template <>
const Figures<CaseOutcome>& figures();

}  // namespace trireme::json
