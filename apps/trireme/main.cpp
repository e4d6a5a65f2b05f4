// SPDX-License-Identifier: BSD-3-Clause
// trireme: one name for all programs. It starts the program of a command in its own place, so that
// mpirun, signals and exit codes are those of the program.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "trireme/commands.hpp"

namespace trireme::front {
namespace {

namespace fs = std::filesystem;

constexpr int kNotThere = 127;  // as of a shell

// Of a job of several ranks, the first one speaks.
void say_error(const std::string& text) {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* rank = std::getenv(variable); rank && std::atoi(rank) > 0) return;
  print_text(stderr, "trireme: " + text + "\n");
}

// Where it is installed, beside this program, or in the folder of the build.
std::vector<fs::path> places_of(std::string_view program) {
  std::error_code unknown;
  const fs::path folder = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  const fs::path above = folder.parent_path();
  return {(folder / TRIREME_PROGRAMS / program).lexically_normal(), folder / program,
          above / program / program};
}

// Returns where it cannot start.
int start(const Call& call) {
  const std::vector<fs::path> places = places_of(call.program);
  for (const fs::path& place : places) {
    std::error_code unknown;
    if (!fs::is_regular_file(place, unknown)) continue;
    std::string name = place.string();
    std::vector<std::string> words = call.words;
    std::vector<char*> all = {name.data()};
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    execv(name.c_str(), all.data());
    say_error(fmt::format("{} cannot be started", name));
    return kNotThere;
  }
  say_error(fmt::format("the program {} is not there: {}; install Trireme again", call.program,
                        places.front().string()));
  return kNotThere;
}

}  // namespace
}  // namespace trireme::front

int main(int argc, char** argv) try {
  const trireme::front::Call call = trireme::front::call_for({argv + 1, argv + argc});
  if (!call.program.empty()) return trireme::front::start(call);
  std::fputs(call.text.c_str(), stdout);
  return 0;
} catch (const trireme::Error& error) {
  trireme::front::say_error(error.what());
  return static_cast<int>(error.code());
}
