// SPDX-License-Identifier: BSD-3-Clause
// trireme_pages: writes completions and man pages into a folder. It is a program of the build, and
// is not installed.
//   trireme_pages FOLDER [linked]    linked: the programs have links of their own names
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "pages/writers.hpp"

namespace trireme::pages {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + file.string());
}

void write_all(const fs::path& folder, bool linked) {
  const std::vector<Program> all = programs();
  std::vector<Completed> names = {{"trireme", ""}};
  if (linked)
    names.insert(names.end(),
                 {{"solve", "solve"}, {"problem", "problem"}, {"kernel_bench", "bench"}});
  write(folder / "bash/trireme", bash_completion(all, names));
  write(folder / "zsh/_trireme", zsh_completion(all, names));
  write(folder / "fish/trireme.fish", fish_completion(all, names));
  write(folder / "man1/trireme.1", front_page(TRIREME_VERSION));
  for (const Program& program : all)
    write(folder / ("man1/trireme-" + program.name + ".1"), program_page(program, TRIREME_VERSION));
  write(folder / "man5/trireme-case.5", case_page(TRIREME_VERSION));
}

}  // namespace
}  // namespace trireme::pages

int main(int argc, char** argv) try {
  if (argc < 2) throw std::runtime_error("usage: trireme_pages FOLDER [linked]");
  trireme::pages::write_all(argv[1], argc > 2 && std::string_view(argv[2]) == "linked");
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "trireme_pages: %s\n", error.what());
  return 1;
}
