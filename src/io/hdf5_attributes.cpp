// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes HDF5 attributes (hdf5.hpp).
#include <algorithm>
#include <string>

#include "io/hdf5_calls.hpp"
#include "io/hdf5_types.hpp"

namespace trireme::hdf5 {
namespace {

Handle variable_string() {
  Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

}  // namespace

bool Object::has_attribute(const std::string& attribute) const {
  const Quiet quiet;
  return H5Aexists(id(), attribute.c_str()) > 0;
}

std::optional<std::string> Object::string_attribute(const std::string& attribute) const {
  const Quiet quiet;
  if (H5Aexists(id(), attribute.c_str()) <= 0) return std::nullopt;
  const std::string doing = fmt::format("read the attribute {}", attribute);
  const Handle handle = checked(H5Aopen(id(), attribute.c_str(), H5P_DEFAULT), name_, doing);
  const Handle type(H5Aget_type(handle.get()));
  const Handle space(H5Aget_space(handle.get()));
  if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1)
    return std::nullopt;
  if (H5Tis_variable_str(type.get()) > 0) {
    char* text = nullptr;
    check(H5Aread(handle.get(), type.get(), &text), name_, doing);
    const std::string value = text ? text : "";
    H5free_memory(text);
    return value;
  }
  std::string value(H5Tget_size(type.get()), '\0');
  check(H5Aread(handle.get(), type.get(), value.data()), name_, doing);
  value.resize(std::min(value.size(), value.find('\0')));
  while (!value.empty() && value.back() == ' ') value.pop_back();
  return value;
}

std::optional<std::vector<std::int64_t>> Object::integer_attribute(
    const std::string& attribute) const {
  const Quiet quiet;
  if (H5Aexists(id(), attribute.c_str()) <= 0) return std::nullopt;
  const std::string doing = fmt::format("read the attribute {}", attribute);
  const Handle handle = checked(H5Aopen(id(), attribute.c_str(), H5P_DEFAULT), name_, doing);
  const Handle type(H5Aget_type(handle.get()));
  if (H5Tget_class(type.get()) != H5T_INTEGER)
    fail(ExitCode::input, "{}: the attribute {} holds {}; it must hold integers", name_, attribute,
         type_in_words(type.get()));
  const Handle space(H5Aget_space(handle.get()));
  std::vector<std::int64_t> values(H5Sget_simple_extent_npoints(space.get()));
  check(H5Aread(handle.get(), H5T_NATIVE_INT64, values.data()), name_, doing);
  return values;
}

void Object::write_attribute(const std::string& attribute, std::string_view value) {
  const Quiet quiet;
  const Handle type = variable_string();
  const Handle space(H5Screate(H5S_SCALAR));
  const std::string copy(value);
  const char* text = copy.c_str();
  write_attribute(attribute, type.get(), space, &text);
}

void Object::write_attribute(const std::string& attribute, std::int64_t value) {
  const Quiet quiet;
  const Handle space(H5Screate(H5S_SCALAR));
  write_attribute(attribute, H5T_NATIVE_INT64, space, &value);
}

void Object::write_attribute(const std::string& attribute, std::span<const std::int64_t> values) {
  const Quiet quiet;
  const hsize_t count = values.size();
  const Handle space(H5Screate_simple(1, &count, nullptr));
  write_attribute(attribute, H5T_NATIVE_INT64, space, values.data());
}

void Object::write_attribute(const std::string& attribute, hid_t type, const Handle& space,
                             const void* from) {
  const std::string doing = fmt::format("write the attribute {}", attribute);
  const Handle handle =
      checked(H5Acreate2(id(), attribute.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT),
              name_, doing);
  check(H5Awrite(handle.get(), type, from), name_, doing);
}

}  // namespace trireme::hdf5
