// SPDX-License-Identifier: BSD-3-Clause
// The part of HDF5 that Trireme uses, with owners for handles and one-line errors.
//
// Every rank opens a file for itself and reads its own slabs. Reading therefore needs no parallel
// HDF5, no rank waits for another, and compressed datasets work. Reading throws Error{input}, which
// names the file and the object and carries the innermost reason of HDF5; HDF5 itself prints
// nothing during a call. Links and storage that lead to other files are refused, and so are
// datasets that were never written (hdf5_own_data.hpp). Data that lie in the file as one piece are
// read without HDF5, by all threads of the rank (contiguous_data.hpp).
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/array.hpp"
#include "io/contiguous_data.hpp"

namespace trireme::hdf5 {

// Owns one HDF5 identifier of any kind.
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Handle();

  hid_t get() const { return id_; }

 private:
  hid_t id_ = H5I_INVALID_HID;
};

// The HDF5 type of T, for the types below. HDF5 converts the numbers of the file to it, and clips
// integers that do not fit.
template <class T>
hid_t memory_type();
template <>
hid_t memory_type<std::int32_t>();
template <>
hid_t memory_type<std::int64_t>();
template <>
hid_t memory_type<float>();
template <>
hid_t memory_type<double>();

// A group or a dataset: attributes, and a name for messages ("cant.h5: /A/indptr").
class Object {
 public:
  const std::string& name() const { return name_; }
  hid_t id() const { return handle_.get(); }

  bool has_attribute(const std::string& attribute) const;
  // A string of fixed or variable length, as C, Fortran and h5py (str, bytes) write it. Empty where
  // the attribute is missing or is no string.
  std::optional<std::string> string_attribute(const std::string& attribute) const;
  // A scalar or an array of any integer type. Empty where the attribute is missing. Throws
  // Error{input}, which names the type, where it has another type.
  std::optional<std::vector<std::int64_t>> integer_attribute(const std::string& attribute) const;

  void write_attribute(const std::string& attribute, std::string_view value);
  void write_attribute(const std::string& attribute, std::int64_t value);
  void write_attribute(const std::string& attribute, std::span<const std::int64_t> values);

 protected:
  Object() = default;
  Object(Handle handle, std::string name) : handle_(std::move(handle)), name_(std::move(name)) {}

  Handle handle_;
  std::string name_;

 private:
  void write_attribute(const std::string& attribute, hid_t type, const Handle& space,
                       const void* from);
};

enum class Kind { integer, real, other };

class Dataset : public Object {
 public:
  Dataset() = default;
  Dataset(Handle handle, std::string name);

  const std::vector<std::int64_t>& extents() const { return extents_; }
  Kind kind() const { return kind_; }
  std::string type_in_words() const;
  // Throws Error{input}, which names the type, where the dataset holds neither integers nor real
  // numbers.
  void require_numbers() const;

  // Sees numbers that were read: those from number `at` on, counted from the first one of the call.
  // Threads may call it at the same time, in any order, each while its numbers are in its cache.
  template <class T>
  using Look = std::function<void(std::int64_t at, std::span<const T> numbers)>;

  // The rows [first, first + count) of the leading dimension, with all of the other dimensions, in
  // C order. `into` and `from` have room for all of these numbers. All OpenMP threads read where
  // the numbers lie in the file as one piece in a native type; else HDF5's reader does. `look`, if
  // given, sees every number once.
  template <class T>
  void read(std::int64_t first, std::int64_t count, T* into,
            const std::type_identity_t<Look<T>>& look = {}) const;
  // The same for numbers that nobody keeps: `look` sees whole rows, in memory of this call.
  template <class T>
  void stream(std::int64_t first, std::int64_t count, const Look<T>& look) const;
  template <class T>
  void write(std::int64_t first, std::int64_t count, const T* from) {
    if (count > 0) write_block(rows(first, count), memory_type<T>(), from);
  }
  // The columns [first, first + count) of one row of a dataset of two dimensions.
  template <class T>
  void read_in_row(std::int64_t row, std::int64_t first, std::int64_t count, T* into,
                   const std::type_identity_t<Look<T>>& look = {}) const;
  template <class T>
  void write_in_row(std::int64_t row, std::int64_t first, std::int64_t count, const T* from) {
    if (count > 0) write_block(in_row(row, first, count), memory_type<T>(), from);
  }
  // Gives a dataset of create_growing_dataset() this many rows.
  void resize_rows(std::int64_t rows);

 private:
  // A part of the dataset: its first index and its length in each dimension.
  struct Block {
    std::vector<hsize_t> start, length;
  };
  Block rows(std::int64_t first, std::int64_t count) const;
  static Block in_row(std::int64_t row, std::int64_t first, std::int64_t count);
  // The block in the file, and as many numbers of memory.
  std::pair<Handle, Handle> spaces_of(const Block& block) const;
  void read_block(const Block& block, hid_t type, void* into) const;
  void write_block(const Block& block, hid_t type, const void* from);

  template <class T>
  bool readable_directly() const;
  std::int64_t row_numbers() const;  // numbers per row of the leading dimension

  std::vector<std::int64_t> extents_;
  Kind kind_ = Kind::other;
  std::optional<ContiguousData> direct_;
};

class Group : public Object {
 public:
  Group() = default;

  // Whether a path, relative to this group or absolute, leads to an object.
  bool has(const std::string& path) const;
  bool has_group(const std::string& path) const;
  bool has_dataset(const std::string& path) const;
  // The sorted names of the children that are groups, or datasets.
  std::vector<std::string> groups() const;
  std::vector<std::string> datasets() const;

  Group group(const std::string& path) const;
  Dataset dataset(const std::string& path) const;

  Group create_group(const std::string& path);
  template <class T>
  Dataset create_dataset(const std::string& path, std::vector<std::int64_t> extents) {
    return create_dataset(path, memory_type<T>(), std::move(extents));
  }
  // A dataset [0, columns] whose rows are added by resize_rows(). It is stored in chunks of at most
  // `chunk` columns of one row.
  template <class T>
  Dataset create_growing_dataset(const std::string& path, std::int64_t columns,
                                 std::int64_t chunk) {
    return create_growing_dataset(path, memory_type<T>(), columns, chunk);
  }
  void soft_link(const std::string& target, const std::string& link);

 protected:
  using Object::Object;

 private:
  Dataset create_dataset(const std::string& path, hid_t type, std::vector<std::int64_t> extents);
  Dataset create_growing_dataset(const std::string& path, hid_t type, std::int64_t columns,
                                 std::int64_t chunk);
  bool has(const std::string& path, H5I_type_t type) const;
  std::vector<std::string> children(H5I_type_t type) const;
  std::string path_of(const std::string& path) const;
};

// The root group of a file. The file stays open while this or any object of it lives.
class File : public Group {
 public:
  static File open(const std::filesystem::path& path);
  // Creates a file where there is none of this name, so that no symbolic link is followed and no
  // file is emptied. Messages name the file `shown_as` where that is given. Throws Error{usage}
  // where the file cannot be created.
  static File create(const std::filesystem::path& path, const std::filesystem::path& shown_as = {});
  // Closes a created file. Throws Error{resource} where its data could not be written, such as on a
  // full disk.
  void close();

 private:
  using Group::Group;
};

}  // namespace trireme::hdf5
