// SPDX-License-Identifier: BSD-3-Clause
// The key table has the values; PETSc has its options.
#include "app/kept/settings_of.hpp"

#include <cctype>
#include <sstream>
#include <string>
#include <variant>

#include "petsc/session.hpp"

namespace trireme {
namespace {

std::string options_that_decide() {
  std::istringstream all(PetscSession::all_options());
  std::string text;
  bool decides = true;
  for (std::string word; all >> word;) {
    const bool is_name = word.size() > 1 && word[0] == '-' && std::isalpha(word[1]) != 0;
    const auto has = [&](const char* part) { return word.find(part) != std::string::npos; };
    if (is_name) decides = !has("monitor") && !has("view") && !has("log") && !has("reason");
    if (decides) text += word + " ";
  }
  return text;
}

}  // namespace

std::vector<KeyValue> settings_that_are(PartOf thing, const Case& c) {
  std::vector<KeyValue> settings = values_that_are(thing, c);
  for (KeyValue& setting : settings)
    if (std::holds_alternative<field::PetscOptions>(find_key(setting.path)->field))
      setting.value = options_that_decide();
  return settings;
}

}  // namespace trireme
