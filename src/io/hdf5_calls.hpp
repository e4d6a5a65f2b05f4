// SPDX-License-Identifier: BSD-3-Clause
// Helpers of io/hdf5*.cpp: calls into the HDF5 C API that print nothing and throw our errors.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "io/hdf5.hpp"

namespace trireme::hdf5 {

// HDF5 prints no errors while an object of this class lives. Its end restores the earlier setting.
class Quiet {
 public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

// The description by the innermost HDF5 function that failed, on one line. Where it quotes a
// message of the operating system, that message alone.
inline std::string innermost_reason() {
  std::string reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* entry, void* data) -> herr_t {
        auto& text = *static_cast<std::string*>(data);
        if (text.empty() && entry->desc) text = entry->desc;
        return 0;
      },
      &reason);
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  constexpr std::string_view before = "error message = '";
  if (const auto at = reason.find(before); at != std::string::npos) {
    const auto begin = at + before.size();
    return reason.substr(begin, reason.find('\'', begin) - begin);
  }
  return reason.empty() ? "unknown reason" : reason;
}

[[noreturn]] inline void fail_hdf5(const std::string& name, std::string_view doing, ExitCode code) {
  const std::string reason = innermost_reason();
  fail(code, "{}: cannot {}: {}", name, doing, reason);
}

// `code` is input for reading, and resource for writing, which fails because of the disk.
inline Handle checked(hid_t id, const std::string& name, std::string_view doing,
                      ExitCode code = ExitCode::input) {
  if (id < 0) fail_hdf5(name, doing, code);
  return Handle(id);
}

inline void check(herr_t status, const std::string& name, std::string_view doing,
                  ExitCode code = ExitCode::input) {
  if (status < 0) fail_hdf5(name, doing, code);
}

}  // namespace trireme::hdf5
