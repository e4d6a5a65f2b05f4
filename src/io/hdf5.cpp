// SPDX-License-Identifier: BSD-3-Clause
// Datasets and groups: thin calls into the HDF5 C API.
#include "io/hdf5.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "io/hdf5_calls.hpp"
#include "io/hdf5_own_data.hpp"
#include "io/hdf5_types.hpp"

namespace trireme::hdf5 {
namespace {

// Creates missing groups of a path: /K and /K/stiffness for /K/stiffness/data.
Handle with_groups_on_the_way() {
  Handle creation(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(creation.get(), 1);
  return creation;
}

Kind kind_of(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return Kind::integer;
    case H5T_FLOAT:
      return Kind::real;
    default:
      return Kind::other;
  }
}

// Access with a cache that holds a whole chunk, so that a chunk that is read in pieces is inflated
// once.
Handle access_that_caches_a_chunk(hid_t dataset) {
  constexpr std::size_t max_bytes = std::size_t{64} << 20;
  Handle access(H5Dget_access_plist(dataset));
  const Handle creation(H5Dget_create_plist(dataset));
  if (H5Pget_layout(creation.get()) != H5D_CHUNKED) return access;
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  const int rank = H5Pget_chunk(creation.get(), H5S_MAX_RANK, chunk.data());
  const Handle type(H5Dget_type(dataset));
  std::size_t bytes = H5Tget_size(type.get());
  for (int i = 0; i < rank; ++i) bytes *= chunk[i];
  if (bytes > (std::size_t{1} << 20) && bytes <= max_bytes)
    H5Pset_chunk_cache(access.get(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, bytes,
                       H5D_CHUNK_CACHE_W0_DEFAULT);
  return access;
}

}  // namespace

Handle::~Handle() {
  if (id_ < 0) return;
  const Quiet quiet;
  switch (H5Iget_type(id_)) {
    case H5I_FILE:
      H5Fclose(id_);
      break;
    case H5I_GROUP:
      H5Gclose(id_);
      break;
    case H5I_DATASET:
      H5Dclose(id_);
      break;
    default:
      H5Idec_ref(id_);
  }
}

template <>
hid_t memory_type<std::int32_t>() {
  return H5T_NATIVE_INT32;
}
template <>
hid_t memory_type<std::int64_t>() {
  return H5T_NATIVE_INT64;
}
template <>
hid_t memory_type<float>() {
  return H5T_NATIVE_FLOAT;
}
template <>
hid_t memory_type<double>() {
  return H5T_NATIVE_DOUBLE;
}

// --- datasets ---------------------------------------------------------------------------------

Dataset::Dataset(Handle handle, std::string name) : Object(std::move(handle), std::move(name)) {
  const Handle type(H5Dget_type(id()));
  const Handle space(H5Dget_space(id()));
  kind_ = kind_of(type.get());
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int rank = H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  extents_.assign(extents.begin(), extents.begin() + std::max(rank, 0));
  direct_ = ContiguousData::of(id());
}

std::string Dataset::type_in_words() const {
  return hdf5::type_in_words(Handle(H5Dget_type(id())).get());
}

void Dataset::require_numbers() const {
  if (kind_ != Kind::other) return;
  const std::string type = type_in_words();
  fail(ExitCode::input, "{} holds {}; {}", name_, type,
       type == "complex numbers" ? "complex systems are not supported: give the real form"
                                 : "integers or real numbers are needed (numpy: .astype(float))");
}

Dataset::Block Dataset::rows(std::int64_t first, std::int64_t count) const {
  Block block{std::vector<hsize_t>(extents_.size(), 0), {extents_.begin(), extents_.end()}};
  block.start.at(0) = static_cast<hsize_t>(first);
  block.length.at(0) = static_cast<hsize_t>(count);
  return block;
}

Dataset::Block Dataset::in_row(std::int64_t row, std::int64_t first, std::int64_t count) {
  return {{static_cast<hsize_t>(row), static_cast<hsize_t>(first)},
          {1, static_cast<hsize_t>(count)}};
}

std::pair<Handle, Handle> Dataset::spaces_of(const Block& block) const {
  Handle in_file(H5Dget_space(id()));
  check(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, block.start.data(), nullptr,
                            block.length.data(), nullptr),
        name_, "select a part");
  const auto numbers = static_cast<hsize_t>(H5Sget_select_npoints(in_file.get()));
  return {std::move(in_file), Handle(H5Screate_simple(1, &numbers, nullptr))};
}

void Dataset::read_block(const Block& block, hid_t type, void* into) const {
  const Quiet quiet;
  const auto [in_file, in_memory] = spaces_of(block);
  check(H5Dread(id(), type, in_memory.get(), in_file.get(), H5P_DEFAULT, into), name_, "read data");
}

void Dataset::write_block(const Block& block, hid_t type, const void* from) {
  const Quiet quiet;
  const auto [in_file, in_memory] = spaces_of(block);
  check(H5Dwrite(id(), type, in_memory.get(), in_file.get(), H5P_DEFAULT, from), name_,
        "write data", ExitCode::resource);
}

void Dataset::resize_rows(std::int64_t rows) {
  const Quiet quiet;
  extents_.at(0) = rows;
  const std::vector<hsize_t> extents(extents_.begin(), extents_.end());
  check(H5Dset_extent(id(), extents.data()), name_, "add rows", ExitCode::resource);
}

// --- groups -----------------------------------------------------------------------------------

std::string Group::path_of(const std::string& path) const {
  if (path.starts_with('/')) return name_.substr(0, name_.find(": /") + 2) + path;
  return name_.ends_with('/') ? name_ + path : name_ + '/' + path;
}

bool Group::has(const std::string& path) const {
  const Quiet quiet;
  if (path == "/") return true;
  refuse_links_out_of_the_file(id(), path, path_of(path));
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    if (H5Oexists_by_name(id(), path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
  return H5Oexists_by_name(id(), path.c_str(), H5P_DEFAULT) > 0;
}

bool Group::has(const std::string& path, H5I_type_t type) const {
  if (!has(path)) return false;
  const Quiet quiet;
  const Handle object(H5Oopen(id(), path.c_str(), H5P_DEFAULT));
  return H5Iget_type(object.get()) == type;
}

bool Group::has_group(const std::string& path) const { return has(path, H5I_GROUP); }
bool Group::has_dataset(const std::string& path) const { return has(path, H5I_DATASET); }

std::vector<std::string> Group::children(H5I_type_t type) const {
  const Quiet quiet;
  std::vector<std::string> names;
  H5Literate(
      id(), H5_INDEX_NAME, H5_ITER_INC, nullptr,
      [](hid_t, const char* child, const H5L_info_t* link, void* data) -> herr_t {
        if (link->type == H5L_TYPE_HARD || link->type == H5L_TYPE_SOFT)
          static_cast<std::vector<std::string>*>(data)->push_back(child);
        return 0;
      },
      &names);
  std::erase_if(names, [&](const std::string& child) {
    try {
      refuse_links_out_of_the_file(id(), child, child);
    } catch (const Error&) {
      return true;
    }
    const Handle object(H5Oopen(id(), child.c_str(), H5P_DEFAULT));
    return object.get() < 0 || H5Iget_type(object.get()) != type;
  });
  return names;
}

std::vector<std::string> Group::groups() const { return children(H5I_GROUP); }
std::vector<std::string> Group::datasets() const { return children(H5I_DATASET); }

Group Group::group(const std::string& path) const {
  const Quiet quiet;
  const std::string name = path_of(path);
  refuse_links_out_of_the_file(id(), path, name);
  return Group(checked(H5Gopen2(id(), path.c_str(), H5P_DEFAULT), name, "open the group"), name);
}

Dataset Group::dataset(const std::string& path) const {
  const Quiet quiet;
  const std::string name = path_of(path);
  refuse_links_out_of_the_file(id(), path, name);
  Handle first = checked(H5Dopen2(id(), path.c_str(), H5P_DEFAULT), name, "open the dataset");
  refuse_data_of_other_files(first.get(), name);
  refuse_what_was_never_written(first.get(), name);
  refuse_missing_filters(first.get(), name);
  const Handle access = access_that_caches_a_chunk(first.get());
  first = Handle();
  return Dataset(checked(H5Dopen2(id(), path.c_str(), access.get()), name, "open the dataset"),
                 name);
}

Group Group::create_group(const std::string& path) {
  const Quiet quiet;
  const std::string name = path_of(path);
  const Handle way = with_groups_on_the_way();
  return Group(checked(H5Gcreate2(id(), path.c_str(), way.get(), H5P_DEFAULT, H5P_DEFAULT), name,
                       "create the group", ExitCode::usage),
               name);
}

Dataset Group::create_dataset(const std::string& path, hid_t type,
                              std::vector<std::int64_t> extents) {
  const Quiet quiet;
  const std::string name = path_of(path);
  const std::vector<hsize_t> sizes(extents.begin(), extents.end());
  const Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr));
  const Handle way = with_groups_on_the_way();
  return Dataset(checked(H5Dcreate2(id(), path.c_str(), type, space.get(), way.get(), H5P_DEFAULT,
                                    H5P_DEFAULT),
                         name, "create the dataset", ExitCode::usage),
                 name);
}

Dataset Group::create_growing_dataset(const std::string& path, hid_t type, std::int64_t columns,
                                      std::int64_t chunk) {
  const Quiet quiet;
  const std::string name = path_of(path);
  const auto width = static_cast<hsize_t>(columns);
  const std::array<hsize_t, 2> extents{0, width};
  const std::array<hsize_t, 2> limits{H5S_UNLIMITED, width};
  const std::array<hsize_t, 2> chunks{
      1, static_cast<hsize_t>(std::max<std::int64_t>(1, std::min(columns, chunk)))};
  const Handle space(H5Screate_simple(2, extents.data(), limits.data()));
  const Handle way = with_groups_on_the_way();
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_chunk(creation.get(), 2, chunks.data());
  H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);  // every number is written
  return Dataset(checked(H5Dcreate2(id(), path.c_str(), type, space.get(), way.get(),
                                    creation.get(), H5P_DEFAULT),
                         name, "create the dataset", ExitCode::usage),
                 name);
}

void Group::soft_link(const std::string& target, const std::string& link) {
  const Quiet quiet;
  check(H5Lcreate_soft(target.c_str(), id(), link.c_str(), H5P_DEFAULT, H5P_DEFAULT), path_of(link),
        "create the soft link");
}

}  // namespace trireme::hdf5
