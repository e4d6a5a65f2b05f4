// SPDX-License-Identifier: BSD-3-Clause
// Finds the place of a dataset in its file, and reads there by pread().
//
// The file is not mapped into memory: a file that another process shortens would then end the
// program by a signal.
#include "io/contiguous_data.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "io/hdf5_calls.hpp"

namespace trireme::hdf5 {
namespace {

using Number = ContiguousData::Number;

constexpr std::int64_t kConverted = 1 << 14;  // numbers per step of a conversion: 128 KiB

std::optional<Number> number_of(hid_t type) {
  if (H5Tequal(type, H5T_NATIVE_INT32) > 0) return Number::int32;
  if (H5Tequal(type, H5T_NATIVE_INT64) > 0) return Number::int64;
  if (H5Tequal(type, H5T_NATIVE_FLOAT) > 0) return Number::float32;
  if (H5Tequal(type, H5T_NATIVE_DOUBLE) > 0) return Number::float64;
  return std::nullopt;
}

// The descriptor of the file, where pread() may use it; else -1.
int descriptor_of(hid_t file) {
  unsigned intent = 0;
  if (H5Fget_intent(file, &intent) < 0 || intent != H5F_ACC_RDONLY) return -1;
  const Handle access(H5Fget_access_plist(file));
  if (H5Pget_driver(access.get()) != H5FD_SEC2) return -1;
  void* descriptor = nullptr;
  if (H5Fget_vfd_handle(file, H5P_DEFAULT, &descriptor) < 0 || !descriptor) return -1;
  return *static_cast<const int*>(descriptor);
}

bool lies_within(hid_t file, haddr_t offset, hsize_t bytes) {
  hsize_t size = 0;
  return H5Fget_filesize(file, &size) >= 0 && offset <= size && bytes <= size - offset;
}

std::optional<std::int64_t> product_of(const std::vector<hsize_t>& extents) {
  std::int64_t product = 1;
  for (const hsize_t extent : extents)
    if (__builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  return product;
}

std::optional<std::int64_t> numbers_in(hid_t dataset) {
  const Handle space(H5Dget_space(dataset));
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 1) return std::nullopt;
  std::vector<hsize_t> extents(rank);
  H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  return product_of(extents);
}

void read_bytes(int file, std::int64_t offset, std::int64_t bytes, char* into,
                const std::string& name) {
  while (bytes > 0) {
    const ssize_t got = pread(file, into, static_cast<std::size_t>(bytes), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      fail(ExitCode::input, "{}: cannot read data: {}", name,
           std::generic_category().message(errno));
    if (got == 0)
      fail(ExitCode::input,
           "{}: cannot read data: the file ends within it; the file is damaged, or was shortened "
           "while it was read",
           name);
    offset += got;
    into += got;
    bytes -= got;
  }
}

template <class T, class Stored>
T converted(Stored number) {
  if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(Stored))
    return static_cast<T>(
        std::clamp<Stored>(number, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  else
    return static_cast<T>(number);
}

template <class Stored, class T>
void read_as(int file, std::int64_t offset, std::int64_t count, T* into, const std::string& name) {
  if constexpr (std::is_same_v<Stored, T>) {
    read_bytes(file, offset, count * std::int64_t{sizeof(T)}, reinterpret_cast<char*>(into), name);
  } else {
    std::array<Stored, kConverted> block;
    for (std::int64_t at = 0; at < count; at += kConverted) {
      const std::int64_t here = std::min(kConverted, count - at);
      read_bytes(file, offset + at * std::int64_t{sizeof(Stored)},
                 here * std::int64_t{sizeof(Stored)}, reinterpret_cast<char*>(block.data()), name);
      std::transform(block.begin(), block.begin() + here, into + at, converted<T, Stored>);
    }
  }
}

}  // namespace

std::optional<ContiguousData> ContiguousData::of(hid_t dataset) {
  const Quiet quiet;
  const Handle creation(H5Dget_create_plist(dataset));
  if (H5Pget_layout(creation.get()) != H5D_CONTIGUOUS || H5Pget_external_count(creation.get()) != 0)
    return std::nullopt;
  const Handle type(H5Dget_type(dataset));
  const std::optional<Number> number = number_of(type.get());
  const std::optional<std::int64_t> numbers = numbers_in(dataset);
  const hsize_t bytes = H5Dget_storage_size(dataset);
  if (!number || !numbers || bytes / H5Tget_size(type.get()) < static_cast<hsize_t>(*numbers))
    return std::nullopt;
  const Handle file(H5Iget_file_id(dataset));
  const int descriptor = descriptor_of(file.get());
  const haddr_t offset = H5Dget_offset(dataset);
  if (descriptor < 0 || offset == HADDR_UNDEF || !lies_within(file.get(), offset, bytes))
    return std::nullopt;
  return ContiguousData(descriptor, static_cast<std::int64_t>(offset), *number);
}

template <class T>
bool ContiguousData::readable_as() const {
  switch (number_) {
    case Number::int32:
    case Number::int64:
      return std::is_integral_v<T>;
    case Number::float32:
      return std::is_floating_point_v<T>;
    case Number::float64:
      return std::is_same_v<T, double>;
  }
  return false;
}

template <class T>
void ContiguousData::read(std::int64_t first, std::int64_t count, T* into,
                          const std::string& name) const {
  const auto offset = [&](std::int64_t bytes) { return offset_ + first * bytes; };
  if constexpr (std::is_integral_v<T>) {
    if (number_ == Number::int32)
      read_as<std::int32_t>(file_, offset(4), count, into, name);
    else
      read_as<std::int64_t>(file_, offset(8), count, into, name);
  } else {
    if (number_ == Number::float32)
      read_as<float>(file_, offset(4), count, into, name);
    else
      read_as<double>(file_, offset(8), count, into, name);
  }
}

template bool ContiguousData::readable_as<std::int32_t>() const;
template bool ContiguousData::readable_as<std::int64_t>() const;
template bool ContiguousData::readable_as<float>() const;
template bool ContiguousData::readable_as<double>() const;
template void ContiguousData::read(std::int64_t, std::int64_t, std::int32_t*,
                                   const std::string&) const;
template void ContiguousData::read(std::int64_t, std::int64_t, std::int64_t*,
                                   const std::string&) const;
template void ContiguousData::read(std::int64_t, std::int64_t, float*, const std::string&) const;
template void ContiguousData::read(std::int64_t, std::int64_t, double*, const std::string&) const;

}  // namespace trireme::hdf5
