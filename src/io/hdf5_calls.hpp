// SPDX-License-Identifier: BSD-3-Clause
// How io/hdf5*.cpp call the HDF5 C API: quietly, with its reason in our error.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "io/hdf5.hpp"

namespace trireme::hdf5 {

// While it lives HDF5 prints nothing; then whatever the program had set holds again.
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

// The description that HDF5's deepest failing function left, on one line; where there is one, the
// operating system's word alone.
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

// `code`: input while reading; resource while writing, where the disk is what fails.
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
