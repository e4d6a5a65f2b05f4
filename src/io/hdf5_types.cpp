// SPDX-License-Identifier: BSD-3-Clause
// Asks HDF5 for classes, members and filters.
#include "io/hdf5_types.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/error.hpp"
#include "io/hdf5.hpp"

namespace trireme::hdf5 {
namespace {

// The names of the members of a compound or an enumeration.
std::vector<std::string> members_of(hid_t type) {
  std::vector<std::string> names;
  const int count = H5Tget_nmembers(type);
  for (int i = 0; i < count; ++i) {
    char* name = H5Tget_member_name(type, static_cast<unsigned>(i));
    names.emplace_back(name ? name : "");
    H5free_memory(name);
  }
  return names;
}

}  // namespace

std::string type_in_words(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return "integers";
    case H5T_FLOAT:
      return "real numbers";
    case H5T_STRING:
      return "strings";
    case H5T_ENUM: {
      const std::vector<std::string> names = members_of(type);
      const bool boolean =
          names.size() == 2 && std::ranges::find(names, "TRUE") != names.end();  // as h5py does
      return boolean ? "booleans" : "an enumeration";
    }
    case H5T_COMPOUND: {
      const std::vector<std::string> names = members_of(type);
      const std::vector<std::string> h5py = {"r", "i"}, matlab = {"real", "imag"},
                                     julia = {"re", "im"};
      if (names == h5py || names == matlab || names == julia) return "complex numbers";
      return fmt::format("a compound of {}", fmt::join(names, ", "));
    }
    case H5T_REFERENCE:
      return "references to other objects";
    case H5T_VLEN:
      return "lists of different lengths";
    case H5T_ARRAY:
      return "arrays";
    default:
      return "bits of no number type";
  }
}

void refuse_missing_filters(hid_t dataset, const std::string& name) {
  const Handle creation(H5Dget_create_plist(dataset));
  const int filters = H5Pget_nfilters(creation.get());
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0, settings = 0;
    std::size_t values = 0;
    std::array<char, 64> filter{};
    const H5Z_filter_t id =
        H5Pget_filter2(creation.get(), static_cast<unsigned>(i), &flags, &values, nullptr,
                       filter.size() - 1, filter.data(), &settings);
    if (id < 0 || H5Zfilter_avail(id) > 0) continue;
    fail(ExitCode::input,
         "{} is compressed by the filter {} (number {}), which is not here; write it with gzip "
         "(h5py: compression=\"gzip\") or without compression",
         name, filter[0] == '\0' ? "without a name" : filter.data(), static_cast<int>(id));
  }
}

}  // namespace trireme::hdf5
