// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE, opened when a kernel first asks for it, so that our programs start without it.
#pragma once

#include <cusparse.h>

#include <memory>
#include <source_location>

namespace trireme::cusparse {

// The functions that we call, under their own names.
struct Library {
  Library();
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Throws Error{internal}, or Error{resource} for lack of memory, with cuSPARSE's own text.
  void check(cusparseStatus_t status,
             std::source_location where = std::source_location::current()) const;

  decltype(&cusparseCreate) create = nullptr;
  decltype(&cusparseDestroy) destroy = nullptr;
  decltype(&cusparseSetStream) set_stream = nullptr;
  decltype(&cusparseGetErrorString) error_string = nullptr;
  decltype(&cusparseCreateConstCsr) create_csr = nullptr;
  decltype(&cusparseCreateConstCoo) create_coo = nullptr;
  decltype(&cusparseCreateConstBsr) create_bsr = nullptr;
  decltype(&cusparseCreateConstSlicedEll) create_sliced_ell = nullptr;
  decltype(&cusparseDestroySpMat) destroy_matrix = nullptr;
  decltype(&cusparseCreateDnVec) create_vector = nullptr;
  decltype(&cusparseDestroyDnVec) destroy_vector = nullptr;
  decltype(&cusparseDnVecSetValues) set_vector_values = nullptr;
  decltype(&cusparseSpMV_bufferSize) spmv_buffer_size = nullptr;
  decltype(&cusparseSpMV_preprocess) spmv_preprocess = nullptr;
  decltype(&cusparseSpMV) spmv = nullptr;

 private:
  void* handle_ = nullptr;  // from dlopen
};

// Throws Error{resource} that says which file is missing.
std::shared_ptr<const Library> open_library();

}  // namespace trireme::cusparse
