// SPDX-License-Identifier: BSD-3-Clause
// Looks for cuDSS where TRIREME_CUDSS says, else by the rules of the loader, in the CUDA toolkit of
// the build and among the packages of Python.
#include "petsc/factors/cudss/library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include "device/device.hpp"

#ifndef TRIREME_CUDA_LIBRARY_DIR
#define TRIREME_CUDA_LIBRARY_DIR "/usr/local/cuda/lib64"
#endif

namespace trireme::cudss {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "TRIREME_CUDSS";
constexpr const char* kNames[] = {"libcudss.so.1", "libcudss.so.0"};

// Opened ahead of cuDSS, which needs them and may not find them by itself: a wheel of Python has
// them beside it, and the toolkit in its folder.
constexpr const char* kNeeded[] = {"libnvrtc.so.13", "libcublasLt.so.13", "libcublas.so.13",
                                   "libnvrtc.so.12", "libcublasLt.so.12", "libcublas.so.12"};

void* open(const std::string& file) { return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); }

void open_needed(const std::vector<fs::path>& folders) {
  for (const char* name : kNeeded) {
    if (open(name)) continue;
    for (const fs::path& folder : folders)
      if (open((folder / name).string())) break;
  }
}

void add_folders(const fs::path& in, std::string_view beginning, const fs::path& below,
                 std::vector<fs::path>& into) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(in, error))
    if (entry.path().filename().string().starts_with(beginning) &&
        fs::is_directory(entry.path() / below, error))
      found.push_back(entry.path() / below);
  std::ranges::sort(found, std::greater<>());  // newer ones first: cu13 before cu12
  into.insert(into.end(), found.begin(), found.end());
}

// The folders of libraries of NVIDIA's packages for Python: of the environment in use, of the user
// and of the machine.
std::vector<fs::path> folders_of_python() {
  std::vector<fs::path> roots, pythons, folders;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* root = std::getenv(variable)) roots.emplace_back(root);
  if (const char* home = std::getenv("HOME")) roots.push_back(fs::path(home) / ".local");
  for (const char* root : {"/usr/local", "/usr"}) roots.emplace_back(root);
  for (const fs::path& root : roots)
    for (const char* packages : {"site-packages", "dist-packages"})
      add_folders(root / "lib", "python3", fs::path(packages) / "nvidia", pythons);
  for (const fs::path& python : pythons) add_folders(python, "", "lib", folders);
  return folders;
}

// Beside those that the loader knows.
std::vector<fs::path> folders_to_search() {
  std::vector<fs::path> folders = {TRIREME_CUDA_LIBRARY_DIR};
  std::ranges::copy(folders_of_python(), std::back_inserter(folders));
  return folders;
}

void* open_any(const std::string& named) {
  std::vector<std::string> files;
  std::vector<fs::path> folders = folders_to_search();
  std::error_code error;
  if (!named.empty()) {
    const fs::path place = named;
    const bool folder = fs::is_directory(place, error);
    folders.insert(folders.begin(), folder ? place : place.parent_path());
    if (!folder) files.push_back(place.string());
    for (const char* name : kNames)
      if (folder) files.push_back((place / name).string());
  } else {
    for (const char* name : kNames) files.emplace_back(name);
    for (const fs::path& folder : folders)
      for (const char* name : kNames) files.push_back((folder / name).string());
  }
  std::string reason;
  for (const std::string& file : files) {
    if (fs::path(file).is_absolute() && !fs::exists(file, error)) continue;
    if (void* handle = open(file)) return handle;
    const std::string why = dlerror();
    const bool needs_another = !why.starts_with(file);  // the message begins with what is missing
    if (needs_another) open_needed(folders);
    if (void* handle = needs_another ? open(file) : nullptr) return handle;
    if (reason.empty()) reason = why;
  }
  if (!named.empty())
    fail(ExitCode::resource, "{} is {}, where no cuDSS can be opened ({})", kVariable, named,
         reason.empty() ? "there is no such file" : reason);
  fail(ExitCode::resource, "cuDSS is not on this machine ({}); install it, or set {}", reason,
       kVariable);
}

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (!function)
    fail(ExitCode::resource, "this libcudss has no {}: version 0.7 or newer is needed", name);
}

// Beside the library that has the function.
std::string threading_layer_beside(const void* function, int major) {
  Dl_info info{};
  if (!dladdr(function, &info) || !info.dli_fname) return "";
  const fs::path file =
      fs::path(info.dli_fname).parent_path() / fmt::format("libcudss_mtlayer_gomp.so.{}", major);
  std::error_code error;
  return fs::exists(file, error) ? file.string() : "";
}

}  // namespace

Library::Library(const std::string& named) : handle_(open_any(named)) {
  try {
    bind();
  } catch (...) {
    dlclose(handle_);
    throw;
  }
}

void Library::bind() {
  find(handle_, "cudssCreate", create);
  find(handle_, "cudssDestroy", destroy);
  find(handle_, "cudssSetStream", set_stream);
  find(handle_, "cudssSetThreadingLayer", set_threading_layer);
  find(handle_, "cudssSetDeviceMemHandler", set_memory_handler);
  find(handle_, "cudssConfigCreate", create_config);
  find(handle_, "cudssConfigDestroy", destroy_config);
  find(handle_, "cudssConfigSet", set_config);
  find(handle_, "cudssDataCreate", create_data);
  find(handle_, "cudssDataDestroy", destroy_data);
  find(handle_, "cudssDataGet", get_data);
  find(handle_, "cudssExecute", execute);
  find(handle_, "cudssMatrixCreateDn", create_dense);
  find(handle_, "cudssMatrixCreateCsr", create_csr_);
  find(handle_, "cudssMatrixDestroy", destroy_matrix);
  find(handle_, "cudssGetProperty", get_property_);
  int* const parts[] = {&major_, &minor_, &patch_};
  for (const int part : {0, 1, 2})
    check(get_property_(part, parts[part]), "the question for its version");
  constexpr int kOldest = 7;
  if (major_ > 1 || (major_ == 0 && minor_ < kOldest))
    fail(ExitCode::resource, "cuDSS {} is here; versions 0.7 to 1 are known", version());
  threading_layer_ = threading_layer_beside(reinterpret_cast<const void*>(create), major_);
}

Library::~Library() {
  if (handle_) dlclose(handle_);
}

std::string Library::version() const { return fmt::format("{}.{}.{}", major_, minor_, patch_); }

void Library::check(int status, const char* what) const {
  if (status == kSuccess) return;
  if (status == kNoMemory) fail(ExitCode::resource, "cuDSS did not get the memory for {}", what);
  fail(ExitCode::internal, "cuDSS ended {} with status {}", what, status);
}

int Library::create_csr(Matrix* matrix, std::int64_t rows, std::int64_t nonzeros,
                        const void* row_ptr, const void* columns, const void* values,
                        MatrixType type, View view) const {
  using I = std::int64_t;
  using P = const void*;
  if (major_ == 0)  // one type for offsets and columns
    return reinterpret_cast<int (*)(Matrix*, I, I, I, P, P, P, P, int, int, int, int, int)>(
        create_csr_)(matrix, rows, rows, nonzeros, row_ptr, nullptr, columns, values, kInt32,
                     kFloat64, type, view, kFromZero);
  return reinterpret_cast<int (*)(Matrix*, I, I, I, P, P, P, P, int, int, int, int, int, int)>(
      create_csr_)(matrix, rows, rows, nonzeros, row_ptr, nullptr, columns, values, kInt32, kInt32,
                   kFloat64, type, view, kFromZero);
}

std::shared_ptr<const Library> open_library() {
  static std::shared_ptr<const Library> library;
  if (!cuda_available()) fail(ExitCode::resource, "cuDSS needs a GPU, and there is none here");
  const char* const named = std::getenv(kVariable);
  if (!library) library = std::make_shared<const Library>(named ? named : "");
  return library;
}

bool seems_installed() {
  if (std::getenv(kVariable)) return true;
  std::vector<fs::path> folders = folders_to_search();
  if (const char* const of_loader = std::getenv("LD_LIBRARY_PATH")) {
    std::istringstream paths(of_loader);
    for (std::string path; std::getline(paths, path, ':');) folders.emplace_back(path);
  }
  std::error_code error;
  return std::ranges::any_of(folders, [&](const fs::path& folder) {
    return std::ranges::any_of(kNames,
                               [&](const char* name) { return fs::exists(folder / name, error); });
  });
}

std::string why_missing() {
  try {
    open_library();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace trireme::cudss
