// SPDX-License-Identifier: BSD-3-Clause
// The tables become functions with `case`; the rest of the script is the same for all programs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/known_values.hpp"
#include "pages/writers.hpp"

namespace trireme::pages {
namespace {

constexpr const char* kBashEngine = R"BASH(
_trireme_has() { [[ " $1 " == *" $2 "* ]]; }

# Offers what kinds and words ($1) the current word ($2) may become; $3 stands before it.
_trireme_offer() {
  local kind head key file words='' current=$2 before=$3
  if _trireme_has "$1" @list && [[ $current == *,* ]]; then
    head=${current%,*},
    before+=$head current=${current#"$head"}
  fi
  for kind in $1; do
    case $kind in
      @list) ;;
      @file | @folder | @matrix)
        compopt -o filenames 2>/dev/null
        [[ $kind == @file ]] && mapfile -t file < <(compgen -f -- "$current")
        [[ $kind == @folder ]] && mapfile -t file < <(compgen -d -- "$current")
        [[ $kind == @matrix ]] && mapfile -t file < <(
          compgen -f -- "$current" | while IFS= read -r name; do
            if [[ -d $name ]] || _trireme_is_matrix "$name"; then printf '%s\n' "$name"; fi
          done)
        COMPREPLY+=("${file[@]/#/$before}")
        ;;
      @key) words+=" $(_trireme_keys)" ;;
      @assignment)
        if [[ $current == *=* ]]; then
          key=${current%%=*}
          _trireme_offer "$(_trireme_values "$key")" "${current#*=}" "$before$key="
        else
          compopt -o nospace 2>/dev/null
          for key in $(_trireme_keys); do words+=" $key="; done
        fi
        ;;
      *) words+=" $kind" ;;
    esac
  done
  mapfile -t file < <(compgen -W "$words" -- "$current")
  COMPREPLY+=("${file[@]/#/$before}")
}

# Completes the last of the words after the name of a command ($1: "solve", "problem import").
_trireme_words() {
  local context=$1 word option='' place=1
  shift
  while (($# > 1)); do
    word=$1
    shift
    if [[ -n $option ]]; then
      option=''
    elif [[ $word == -- ]]; then
      return # options of PETSc follow
    elif [[ $word == -* ]]; then
      [[ $word != *=* ]] && _trireme_takes "$context" "$word" >/dev/null && option=$word
    elif _trireme_has "$(_trireme_commands "$context")" "$word"; then
      context="${context:+$context }$word" place=1
    else
      ((++place))
    fi
  done
  word=${1-}
  if [[ -n $option ]]; then
    _trireme_offer "$(_trireme_takes "$context" "$option")" "$word" ''
  elif [[ $word == --*=* ]]; then
    option=${word%%=*}
    _trireme_offer "$(_trireme_takes "$context" "$option")" "${word#*=}" "$option="
  elif [[ $word == -* ]]; then
    _trireme_offer "$(_trireme_options "$context")" "$word" ''
  else
    _trireme_offer "$(_trireme_commands "$context") $(_trireme_argument "$context $place")" "$word" ''
  fi
}

_trireme() {
  local words before i
  COMPREPLY=()
  read -ra words <<<"${COMP_LINE:0:COMP_POINT}"
  [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=('')
  _trireme_words "$(_trireme_context "${words[0]##*/}")" "${words[@]:1}"
  # bash replaces what comes after the last of these two marks only.
  before=${words[-1]}
  before=${before%"${before##*[=:]}"}
  for i in "${!COMPREPLY[@]}"; do
    if [[ -z ${COMPREPLY[i]} ]]; then unset "COMPREPLY[i]"; else COMPREPLY[i]=${COMPREPLY[i]#"$before"}; fi
  done
}
)BASH";

// "@list csr albus"
std::string kinds_of(const Option& option) {
  std::string text;
  switch (option.values) {
    case Values::other:
      break;
    case Values::file:
      text = "@file ";
      break;
    case Values::matrix:
      text = "@matrix ";
      break;
    case Values::folder:
      text = "@folder ";
      break;
    case Values::assignment:
      text = "@assignment ";
      break;
    case Values::key:
      text = "@key ";
      break;
  }
  if (option.is_list) text += "@list ";
  return text + fmt::format("{}", fmt::join(option.words, " "));
}

struct BashTables {
  std::string options, takes, arguments, commands;

  void add(const Program& program, const std::string& context) {
    std::string names;
    for (const Option& option : program.options) {
      for (const std::string& name : option.names) names += " " + name;
      if (!option.value.empty())
        takes += fmt::format("    '{} '{}) echo '{}' ;;\n", context,
                             fmt::join(option.names, fmt::format(" | '{} '", context)),
                             kinds_of(option));
    }
    options +=
        fmt::format("    '{}') echo '{}' ;;\n", context, names.substr(names.empty() ? 0 : 1));
    int place = 1;
    for (const Option& argument : program.arguments)
      arguments += fmt::format("    '{} {}') echo '{}' ;;\n", context, place++, kinds_of(argument));
    std::string below;
    for (const Program& command : program.commands) {
      const std::string word = command.name.substr(command.name.rfind(' ') + 1);
      below += " " + word;
      add(command, fmt::format("{} {}", context, word));
    }
    if (!below.empty())
      commands += fmt::format("    '{}') echo '{}' ;;\n", context, below.substr(1));
  }
};

std::string bash_function(const char* name, const char* about, const std::string& cases) {
  return fmt::format("\n# {}\n{}() {{\n  case \"$1{}\" in\n{}    *) return 1 ;;\n  esac\n}}\n",
                     about, name, std::string_view(name) == "_trireme_takes" ? " $2" : "", cases);
}

}  // namespace

std::string bash_completion(const std::vector<Program>& programs,
                            const std::vector<Completed>& names) {
  BashTables tables;
  tables.options = "    '') echo '--help --version' ;;\n    report*) echo '--help' ;;\n";
  tables.commands =
      fmt::format("    '' | help) echo '{}' ;;\n    report) echo compare figures ;;\n",
                  fmt::join(command_names(), " "));
  tables.arguments =
      "    'report compare '[12] | 'report figures '[12]) echo @file ;;\n    help*) echo @key ;;\n";
  for (const Program& program : programs) {
    tables.add(program, program.name);
    if (program.name != "solve") continue;
    Program study = program;
    study.arguments = {
        {.names = {"FILE"}, .value = "FILE", .about = "", .words = {}, .values = Values::file}};
    tables.add(study, "study");
  }
  std::string values, contexts, completed;
  for (const Key& key : case_keys())
    if (const auto words = known_values(key); !words.empty())
      values += fmt::format("    {}) echo '{}' ;;\n", key.path, fmt::join(words, " "));
  for (const Completed& name : names) {
    contexts += fmt::format("    {}) echo '{}' ;;\n", name.name, name.context);
    completed += fmt::format(" {}", name.name);
  }
  std::string endings;
  for (const std::string& extension : matrix_extensions())
    endings += fmt::format("{}*.{}", endings.empty() ? "" : " | ", extension);
  return "# Completion for bash, made by the build from the tables of options and keys.\n" +
         bash_function("_trireme_context", "The words of trireme that a program stands for.",
                       contexts) +
         bash_function("_trireme_commands", "The commands below one.", tables.commands) +
         bash_function("_trireme_options", "The options of a command.", tables.options) +
         bash_function("_trireme_takes", "What an option takes, where it takes a value.",
                       tables.takes) +
         bash_function("_trireme_argument", "What an argument of a command may be, by its place.",
                       tables.arguments) +
         bash_function("_trireme_values", "The words that a key takes.", values) +
         bash_function("_trireme_is_matrix", "Whether a name is that of a file with a matrix.",
                       fmt::format("    {}) ;;\n", endings)) +
         fmt::format("\n_trireme_keys() {{\n  echo '{}'\n}}\n", fmt::join(key_names(), " ")) +
         kBashEngine + fmt::format("\ncomplete -F _trireme{}\n", completed);
}

}  // namespace trireme::pages
