// SPDX-License-Identifier: BSD-3-Clause
// Looks for cuSPARSE by the rules of the loader, then in the CUDA toolkit of the build.
#include "kernels/cusparse/library.hpp"

#include <dlfcn.h>

#include <string>

#include "base/error.hpp"

namespace trireme::cusparse {
namespace {

void* open_any() {
  const std::string name = fmt::format("libcusparse.so.{}", CUSPARSE_VER_MAJOR);
  if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  const std::string reason = dlerror();
  const std::string in_toolkit = fmt::format("{}/{}", TRIREME_CUDA_LIBRARY_DIR, name);
  if (void* handle = dlopen(in_toolkit.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  fail(ExitCode::resource,
       "cuSPARSE is not on this machine ({}); install it, set LD_LIBRARY_PATH, or choose another "
       "kernel",
       reason);
}

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (!function)
    fail(ExitCode::resource, "this libcusparse has no {}: CUDA 12.4 or newer is needed", name);
}

}  // namespace

Library::Library() : handle_(open_any()) {
  find(handle_, "cusparseCreate", create);
  find(handle_, "cusparseDestroy", destroy);
  find(handle_, "cusparseSetStream", set_stream);
  find(handle_, "cusparseGetErrorString", error_string);
  find(handle_, "cusparseCreateConstCsr", create_csr);
  find(handle_, "cusparseCreateConstCoo", create_coo);
  find(handle_, "cusparseCreateConstBsr", create_bsr);
  find(handle_, "cusparseCreateConstSlicedEll", create_sliced_ell);
  find(handle_, "cusparseDestroySpMat", destroy_matrix);
  find(handle_, "cusparseCreateDnVec", create_vector);
  find(handle_, "cusparseDestroyDnVec", destroy_vector);
  find(handle_, "cusparseDnVecSetValues", set_vector_values);
  find(handle_, "cusparseSpMV_bufferSize", spmv_buffer_size);
  find(handle_, "cusparseSpMV_preprocess", spmv_preprocess);
  find(handle_, "cusparseSpMV", spmv);
  find(handle_, "cusparseCreateDnMat", create_dense);
  find(handle_, "cusparseDestroyDnMat", destroy_dense);
  find(handle_, "cusparseDnMatSetValues", set_dense_values);
  find(handle_, "cusparseSpMM_bufferSize", spmm_buffer_size);
  find(handle_, "cusparseSpMM_preprocess", spmm_preprocess);
  find(handle_, "cusparseSpMM", spmm);
}

Library::~Library() {
  if (handle_) dlclose(handle_);
}

void Library::check(cusparseStatus_t status, std::source_location where) const {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  const std::string path = where.file_name();
  const bool memory =
      status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES;
  fail(memory ? ExitCode::resource : ExitCode::internal, "cuSPARSE: {} at {}:{}",
       error_string(status), path.substr(path.rfind('/') + 1), where.line());
}

std::shared_ptr<const Library> open_library() { return std::make_shared<const Library>(); }

}  // namespace trireme::cusparse
