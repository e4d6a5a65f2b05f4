// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE, opened when a kernel needs it, so that our programs also start on machines without it.
#pragma once

#include <cusparse.h>

#include <memory>
#include <source_location>

namespace trireme::cusparse {

// The functions of cuSPARSE that we call.
struct Library {
  Library();
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Throws an error with the text of cuSPARSE where `status` is not a success: Error{resource} for
  // lack of memory, Error{internal} otherwise.
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
  decltype(&cusparseCreateDnMat) create_dense = nullptr;
  decltype(&cusparseDestroyDnMat) destroy_dense = nullptr;
  decltype(&cusparseDnMatSetValues) set_dense_values = nullptr;
  decltype(&cusparseSpMM_bufferSize) spmm_buffer_size = nullptr;
  decltype(&cusparseSpMM_preprocess) spmm_preprocess = nullptr;
  decltype(&cusparseSpMM) spmm = nullptr;

 private:
  void* handle_ = nullptr;  // from dlopen
};

// Throws Error{resource} that says which file is missing.
std::shared_ptr<const Library> open_library();

}  // namespace trireme::cusparse
