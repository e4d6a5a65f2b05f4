// SPDX-License-Identifier: BSD-3-Clause
// The one table of the keys of case.yaml: it drives parsing, messages and the JSON schema.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/case.hpp"
#include "config/part_of.hpp"

namespace trireme {

// How the value of a key is read and where it goes in a Case. `at` of a default Case is the
// default.
namespace field {

using KnownWords = std::vector<std::string> (*)();

struct Section {                          // a map of further keys
  bool (*in_use)(const Case&) = nullptr;  // whether the keys change anything; null: always
};
struct Sections {  // a map of further keys, or a list of such maps
  void (*clear)(Case&);
  void (*append)(Case&, const std::string& place);  // its keys are assigned to the last one
};
struct Text {
  std::string& (*at)(Case&);
  KnownWords known = nullptr;  // null: any text
};
struct TextList {  // one text or a list of them
  std::vector<std::string>& (*at)(Case&);
  KnownWords known;                // they differ from build to build, so the schema lists none
  std::string_view (*left_out)();  // says which words this build lacks; empty where it has all
};
struct Choice {  // one word of an enumeration
  KnownWords known;
  void (*assign)(Case&, std::string_view word);  // `word` is one of known()
  std::string (*word)(Case&);
};
struct ChoiceList {  // one word of an enumeration or a list of them
  KnownWords known;
  void (*assign)(Case&, const std::vector<std::string>& words);  // each is one of known()
  std::vector<std::string> (*words)(Case&);
};
struct Preconditioner {  // auto (empty), a name of the list or of PETSc
  std::optional<AnyPreconditioner>& (*at)(Case&);
};
struct Rhs {  // a file is relative to the case's folder
  std::optional<RightHandSide>& (*at)(Case&);
  bool automatic = false;  // knows the word auto, which is the default
};
struct Guess {  // a dataset, none, or a file, which is relative to the case's folder
  std::optional<InitialGuess>& (*at)(Case&);
};
struct File {  // relative to the case's folder
  std::filesystem::path& (*at)(Case&);
};
struct Directory {  // relative to the current directory
  std::filesystem::path& (*at)(Case&);
};
struct Integer {
  std::int64_t& (*at)(Case&);
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};
struct AutoInteger {  // auto (empty) or a whole number
  std::optional<std::int64_t>& (*at)(Case&);
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};
struct Seed {
  std::uint64_t& (*at)(Case&);
};
struct Real {  // min <= value < below
  double& (*at)(Case&);
  double min = 0;
  double below = std::numeric_limits<double>::infinity();
};
struct Duration {  // "90s", "10m", "1h30m"; above 0
  double& (*seconds)(Case&);
};
struct Flag {
  bool& (*at)(Case&);
};
struct PetscOptions {};  // any map: nested names are joined by '_'

}  // namespace field

using Field =
    std::variant<field::Section, field::Sections, field::Text, field::TextList, field::Choice,
                 field::ChoiceList, field::Preconditioner, field::Rhs, field::Guess, field::File,
                 field::Directory, field::Integer, field::AutoInteger, field::Seed, field::Real,
                 field::Duration, field::Flag, field::PetscOptions>;

struct Key {
  std::string_view path;  // "solver.rtol"
  Field field;
  PartOf part_of;
  std::string_view unit;  // empty where the value has none
  std::string_view description;
  std::string_view hint = {};  // ends the message about an unknown word
  // A key without which this one has no meaning, and one with which it has none; empty: none such.
  std::string_view needs = {}, excludes = {};
  std::string_view example = {};  // a value; empty: the kind of the field tells one

  constexpr Key needing(std::string_view other) const {
    Key key = *this;
    key.needs = other;
    return key;
  }
  constexpr Key such_as(std::string_view value) const {
    Key key = *this;
    key.example = value;
    return key;
  }
  constexpr Key excluding(std::string_view other) const {
    Key key = *this;
    key.excludes = other;
    return key;
  }
};

// A case has exactly one of these two.
inline constexpr std::string_view kFileKey = "problem.file", kGenerateKey = "problem.generate";
constexpr bool is_source(std::string_view key) { return key == kFileKey || key == kGenerateKey; }

// In the order of the schema; a section comes before its keys.
std::span<const Key> case_keys();
// Null where there is no such key.
const Key* find_key(std::string_view path);
// Whether `text`, as the value of the key, is the name of a file relative to a folder.
bool is_file_name(const Key& key, const std::string& text);
// The names directly under `section` ("" is the top): "problem", "solver", ...
std::vector<std::string> names_under(std::string_view section);

// A PETSc option that a key of the case sets, and that key.
struct OwnedOption {
  std::string_view option;  // "ksp_rtol"
  std::string_view key;     // "solver.rtol"
};
std::span<const OwnedOption> owned_petsc_options();

}  // namespace trireme
