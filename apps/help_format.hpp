// SPDX-License-Identifier: BSD-3-Clause
// Help texts of all programs, within 80 columns.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "base/wrap.hpp"

namespace trireme {

inline constexpr std::size_t kHelpWidth = 80;

class NarrowHelp : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option),
                 make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description());
  }

 private:
  static std::string entry(const std::string& name, const std::string& text) {
    constexpr std::size_t column = 24;
    const std::string indent(column, ' ');
    std::string out = "  " + name;
    if (out.size() + 1 > column)
      out += "\n" + indent;
    else
      out.resize(column, ' ');
    return out + wrap(text, kHelpWidth, column, column) + "\n";
  }
};

// Before subcommands are added, which take it over.
inline void narrow_help(CLI::App& app) { app.formatter(std::make_shared<NarrowHelp>()); }

}  // namespace trireme
