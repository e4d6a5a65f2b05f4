// SPDX-License-Identifier: BSD-3-Clause
// Start and end of PETSc.
#include "petsc/session.hpp"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include "config/keys.hpp"
#include "petsc/shim.hpp"

#if defined(PETSC_HAVE_CUDA) && defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace trireme {
namespace {

// A PETSc with CUDA assumes that Open MPI is CUDA-aware, and aborts at the first use of the GPU
// where it is not. This function asks the MPI and tells PETSc.
void allow_plain_mpi() {
#if defined(PETSC_HAVE_CUDA)
  bool cuda_aware = false;
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  cuda_aware = MPIX_Query_cuda_support() == 1;
#endif
  if (!cuda_aware) petsc_check(PetscOptionsSetValue(nullptr, "-use_gpu_aware_mpi", "0"));
#endif
}

// PETSc compares the names of options in small letters.
std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& letter : small)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return small;
}

// The name in "-name" or "--name"; empty for a value, such as -1.
std::string option_name(std::string_view word) {
  if (!word.starts_with('-')) return {};
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  if (word.empty() || !std::isalpha(static_cast<unsigned char>(word.front()))) return {};
  return in_small_letters(word);
}

// The key of the case that decides what this option would decide.
std::optional<std::string> key_of(const std::string& option) {
  for (const OwnedOption& owned : owned_petsc_options())
    if (option == owned.option) return std::string(owned.key);
  return std::nullopt;
}

std::set<std::string> names_in(const std::vector<std::string>& arguments) {
  std::set<std::string> names;
  for (const std::string& word : arguments) {
    const std::string name = option_name(word);
    if (name.empty()) continue;
    if (const auto key = key_of(name))
      fail(ExitCode::usage, "after --: {} is decided by the key {}; use --set {}=VALUE", word, *key,
           *key);
    names.insert(name);
  }
  return names;
}

// ~/.petscrc where rank 0 has that file; rank 0 reads it for all.
std::string file_of_the_user() {
  const char* const home = std::getenv("HOME");
  std::string path = home && *home ? std::string(home) + "/.petscrc" : "";
  std::error_code ignored;
  int exists = !path.empty() && std::filesystem::is_regular_file(path, ignored) ? 1 : 0;
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized) MPI_Bcast(&exists, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!exists) return {};
  return path.empty() ? ".petscrc" : path;
}

// Every option that PETSc has, as the words "-name" and value.
std::vector<std::string> words_of_all_options() {
  std::istringstream in(PetscSession::all_options());
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace

PetscSession::PetscSession(const Options& options, const std::vector<std::string>& arguments) {
  allow_plain_mpi();
  // With signal handlers of PETSc, PetscFinalize would reset those of others too.
  petsc_check(PetscOptionsSetValue(nullptr, "-no_signal_handler", nullptr));
  std::set<std::string> ours = names_in(arguments);
  const auto set_option = [](const std::string& name, const std::string& value) {
    petsc_check(PetscOptionsSetValue(nullptr, fmt::format("-{}", name).c_str(),
                                     value.empty() ? nullptr : value.c_str()));
  };
  for (const auto& [name, value] : options) set_option(name, value);
  std::vector<std::string> words = {"trireme", "-skip_petscrc"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(words.size());
  char** values = pointers.data();
  const std::string file = file_of_the_user();
  const PetscErrorCode error =
      PetscInitialize(&count, &values, file.empty() ? nullptr : file.c_str(), nullptr);
  if (error != kPetscSuccess)
    fail(ExitCode::usage,
         "PETSc did not start; check the PETSc options (of the case, after --, in PETSC_OPTIONS "
         "and ~/.petscrc) and the MPI environment");
  petsc_check(PetscPushErrorHandler(petsc_return_error, nullptr));
  for (const auto& [name, value] : options)
    if (ours.insert(in_small_letters(name)).second) set_option(name, value);
  ours.insert({"no_signal_handler", "skip_petscrc", "use_gpu_aware_mpi"});
  judge_options_from_outside(ours);
}

void PetscSession::judge_options_from_outside(const std::set<std::string>& ours) {
  const std::vector<std::string> words = words_of_all_options();
  for (std::size_t k = 0; k < words.size(); ++k) {
    const std::string name = option_name(words[k]);
    const auto key = key_of(name);
    if (name.empty() || (ours.contains(name) && !key)) continue;
    std::string option = words[k];
    for (std::size_t v = k + 1; v < words.size() && option_name(words[v]).empty(); ++v)
      option += " " + words[v];
    if (key) {
      petsc_check(PetscOptionsClearValue(nullptr, words[k].c_str()));
      notes_.push_back(fmt::format("PETSc option {} is ignored: {} decides", option, *key));
    } else {
      notes_.push_back(
          fmt::format("PETSc option {} came from PETSC_OPTIONS or ~/.petscrc", option));
    }
  }
  std::error_code ignored;
  const std::filesystem::path here = ".petscrc";
  const char* const home = std::getenv("HOME");
  if (std::filesystem::exists(here, ignored) &&
      !(home && std::filesystem::equivalent(here, std::filesystem::path(home) / here, ignored)))
    notes_.emplace_back("the .petscrc of the working directory was not read");
}

PetscSession::~PetscSession() {
  if (error_in_flight()) return;  // PetscFinalize waits for the other ranks
  static_cast<void>(PetscPopErrorHandler());
  static_cast<void>(PetscFinalize());
}

std::string PetscSession::all_options() {
  char* text = nullptr;
  petsc_check(PetscOptionsGetAll(nullptr, &text));
  std::string options(text);
  petsc_check(PetscFree(text));
  return options;
}

std::vector<std::string> PetscSession::unused_options() {
  PetscInt count = 0;
  char** names = nullptr;
  char** values = nullptr;
  petsc_check(PetscOptionsLeftGet(nullptr, &count, &names, &values));
  std::vector<std::string> unused;
  for (PetscInt k = 0; k < count; ++k) {
    std::string option = fmt::format("-{}", names[k]);
    if (option == "-use_gpu_aware_mpi" || option == "-skip_petscrc") continue;  // ours
    if (values[k] && *values[k]) option += fmt::format(" {}", values[k]);
    unused.push_back(std::move(option));
  }
  petsc_check(PetscOptionsLeftRestore(nullptr, &count, &names, &values));
  return unused;
}

std::string petsc_version() {
  PetscInt major = 0, minor = 0, subminor = 0;
  petsc_check(PetscGetVersionNumber(&major, &minor, &subminor, nullptr));
  return fmt::format("{}.{}.{}", major, minor, subminor);
}

bool petsc_has_cuda() { return PetscDefined(HAVE_CUDA); }

}  // namespace trireme
