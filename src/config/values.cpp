// SPDX-License-Identifier: BSD-3-Clause
// Conversion is strict, as in the JSON schema: a quoted number is a text, and a bare 12 is not.
#include "config/values.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace trireme {
namespace {

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> parse_real(std::string_view text) {
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

// Takes 10000 and 1e4.
template <class Integer>
std::optional<Integer> parse_integer(std::string_view text) {
  if (const auto number = parse_number<Integer>(text)) return number;
  const auto real = parse_real(text);
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (!real || *real != std::floor(*real) || std::abs(*real) > exact) return std::nullopt;
  if (std::is_unsigned_v<Integer> && *real < 0) return std::nullopt;
  return static_cast<Integer>(*real);
}

bool quoted(const YAML::Node& value) { return value.Tag() == "!"; }

bool is_boolean(const YAML::Node& value) {
  return value.IsScalar() && !quoted(value) &&
         (value.Scalar() == "true" || value.Scalar() == "false");
}

// What a YAML value is, in the words of a message.
std::string describe(const YAML::Node& value) {
  if (value.IsNull()) return "nothing";
  if (value.IsMap()) return "a map";
  if (value.IsSequence()) return value.size() == 0 ? "an empty list" : "a list";
  if (is_boolean(value)) return "the boolean value " + value.Scalar();
  return (quoted(value) ? "the text '" : "'") + value.Scalar() + "'";
}

std::string join(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

// Throws for one key, with its place.
struct Complaint {
  const PlaceOf& place;
  std::string_view key;
  std::string_view hint;
  std::string_view left_out = {};  // words that another build knows

  [[noreturn]] void wants(std::string_view what, const YAML::Node& value) const {
    fail(ExitCode::usage, "{}: {} must be {}, not {}", place(value), key, what, describe(value));
  }
  [[noreturn]] void unknown(const YAML::Node& value, const std::vector<std::string>& known) const {
    const std::string& word = value.Scalar();
    const auto near = hint.empty() ? nearest(word, known) : std::nullopt;
    fail(ExitCode::usage, "{}: unknown {} '{}'{}; known: {}{}{}{}{}", place(value), key, word,
         near ? fmt::format("; did you mean '{}'?", *near) : "", join(known),
         hint.empty() ? "" : "; ", hint, left_out.empty() ? "" : "; ", left_out);
  }
};

std::string text_of(const YAML::Node& value, const Complaint& complaint) {
  if (!value.IsScalar()) complaint.wants("a text", value);
  const std::string& text = value.Scalar();
  if (is_boolean(value) || (!quoted(value) && parse_real(text)))
    complaint.wants(fmt::format("a text (if you mean it, write \"{}\")", text), value);
  return text;
}

std::string word_of(const YAML::Node& value, field::KnownWords known, const Complaint& complaint) {
  std::string text = text_of(value, complaint);
  if (known) {
    const auto words = known();
    if (std::ranges::find(words, text) == words.end()) complaint.unknown(value, words);
  }
  return text;
}

std::string non_empty(const YAML::Node& value, const Complaint& complaint) {
  std::string text = text_of(value, complaint);
  if (text.empty()) complaint.wants("a path", value);
  return text;
}

struct Assign {
  Case& c;
  const std::filesystem::path& folder;
  const YAML::Node& value;
  Complaint complaint;

  void operator()(const field::Section&) const {}
  void operator()(const field::Sections&) const {}
  void operator()(const field::PetscOptions&) const {}

  void operator()(const field::Text& f) const { f.at(c) = word_of(value, f.known, complaint); }

  void operator()(const field::TextList& f) const {
    Assign assign = *this;
    assign.complaint.left_out = f.left_out();
    f.at(c) = assign.words(f.known);
  }
  void operator()(const field::Choice& f) const { f.assign(c, word_of(value, f.known, complaint)); }
  void operator()(const field::ChoiceList& f) const { f.assign(c, words(f.known)); }

  void operator()(const field::Preconditioner& f) const {
    const std::string text = text_of(value, complaint);
    f.at(c).reset();
    if (text != kAuto) f.at(c).emplace(text);
  }

  void operator()(const field::Rhs& f) const {
    const std::string text = text_of(value, complaint);
    if (f.automatic && text == kAuto)
      f.at(c).reset();
    else
      f.at(c) = right_hand_side(text);
  }

  RightHandSide right_hand_side(const std::string& text) const {
    return resolved(parse_right_hand_side(text), text, "/b", "ones, random, from-ones");
  }
  void operator()(const field::Guess& f) const {
    const std::string text = text_of(value, complaint);
    f.at(c) = resolved(parse_initial_guess(text), text, "/x0", kNoDataset);
  }

  // A file of vectors is relative to the folder, and must be there, unless a number of a step
  // belongs into its name. An absolute name of two parts or more is a file where there is one, else
  // a dataset. `dataset` is the usual one, and `words` are the other known texts.
  template <class Source>
  Source resolved(Source source, const std::string& text, const std::string& dataset,
                  std::string_view words) const {
    const auto is_file = [](const std::filesystem::path& path) {
      std::error_code ignored;
      return std::filesystem::is_regular_file(path, ignored);
    };
    if (std::holds_alternative<Dataset>(source)) {
      VectorFile absolute = parse_vector_file(text, dataset);
      const bool in_a_folder = absolute.file.parent_path() != absolute.file.root_path();
      if (in_a_folder && is_file(absolute.file)) return absolute;
      return source;
    }
    auto* vectors = std::get_if<VectorFile>(&source);
    if (!vectors) return source;
    vectors->file = (folder / vectors->file).lexically_normal();
    if (text.find("{}") == std::string::npos && !is_file(vectors->file))
      fail(ExitCode::usage,
           "{}: {} '{}' is neither a dataset ({}) nor {}, nor a file: there is no {}",
           complaint.place(value), complaint.key, text, dataset, words, vectors->file.string());
    return source;
  }

  void operator()(const field::File& f) const {
    f.at(c) = (folder / non_empty(value, complaint)).lexically_normal();
  }
  void operator()(const field::Directory& f) const { f.at(c) = non_empty(value, complaint); }

  void operator()(const field::Integer& f) const {
    const auto number = scalar<std::int64_t>(parse_integer<std::int64_t>);
    if (!number || *number < f.min || *number > f.max)
      complaint.wants(fmt::format("a whole number from {} to {}", f.min, f.max), value);
    f.at(c) = *number;
  }

  void operator()(const field::AutoInteger& f) const {
    if (value.IsScalar() && value.Scalar() == kAuto) {
      f.at(c) = std::nullopt;
      return;
    }
    const auto number = scalar<std::int64_t>(parse_integer<std::int64_t>);
    if (!number || *number < f.min || *number > f.max)
      complaint.wants(fmt::format("auto or a whole number from {} to {}", f.min, f.max), value);
    f.at(c) = *number;
  }

  void operator()(const field::Seed& f) const {
    const auto number = scalar<std::uint64_t>(parse_integer<std::uint64_t>);
    if (!number) complaint.wants("a whole number, 0 or more", value);
    f.at(c) = *number;
  }

  void operator()(const field::Real& f) const {
    const auto number = scalar<double>(parse_real);
    if (!number || *number < f.min || *number >= f.below)
      complaint.wants(std::isinf(f.below)
                          ? fmt::format("a number, {} or more", f.min)
                          : fmt::format("a number from {} to below {}", f.min, f.below),
                      value);
    f.at(c) = *number;
  }

  void operator()(const field::Duration& f) const {
    const auto seconds = value.IsScalar() ? parse_duration(value.Scalar()) : std::nullopt;
    if (!seconds) complaint.wants("a time such as 90s, 10m or 1h30m", value);
    f.seconds(c) = *seconds;
  }

  void operator()(const field::Flag& f) const {
    if (!is_boolean(value)) complaint.wants("true or false", value);
    f.at(c) = value.Scalar() == "true";
  }

 private:
  // One word or a list of different ones.
  std::vector<std::string> words(field::KnownWords known) const {
    std::vector<std::string> words;
    if (value.IsSequence()) {
      for (const YAML::Node& item : value) words.push_back(word_of(item, known, complaint));
    } else if (value.IsScalar()) {
      words.push_back(word_of(value, known, complaint));
    }
    if (words.empty()) complaint.wants("a name or a list of names", value);
    for (auto word = words.begin(); word != words.end(); ++word)
      if (std::find(words.begin(), word, *word) != word)
        fail(ExitCode::usage, "{}: {} lists '{}' twice", complaint.place(value), complaint.key,
             *word);
    return words;
  }

  template <class Number>
  std::optional<Number> scalar(std::optional<Number> (*parse)(std::string_view)) const {
    if (!value.IsScalar() || quoted(value)) return std::nullopt;
    return parse(value.Scalar());
  }
};

}  // namespace

std::optional<double> parse_duration(std::string_view text) {
  double seconds = 0;
  std::size_t next_unit = 0;
  constexpr std::pair<char, double> kUnits[] = {{'h', 3600}, {'m', 60}, {'s', 1}};
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto number = parse_real(text.substr(0, digits));
    while (next_unit < 3 && (digits == text.size() || kUnits[next_unit].first != text[digits]))
      ++next_unit;
    if (!number || next_unit == 3) return std::nullopt;
    seconds += *number * kUnits[next_unit++].second;
    text.remove_prefix(digits + 1);
  }
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

void assign_value(Case& c, const Key& key, const YAML::Node& value, const PlaceOf& place,
                  const std::filesystem::path& folder) {
  std::visit(Assign{c, folder, value, Complaint{place, key.path, key.hint}}, key.field);
}

std::string petsc_value(const YAML::Node& value, std::string_view name, const PlaceOf& place) {
  if (value.IsNull()) return "";
  if (value.IsScalar()) return value.Scalar();
  std::vector<std::string> items;
  for (const YAML::Node& item : value) {
    if (!item.IsScalar()) Complaint{place, name, ""}.wants("a value or a list of values", item);
    items.push_back(item.Scalar());
  }
  return fmt::format("{}", fmt::join(items, ","));
}

}  // namespace trireme
