// SPDX-License-Identifier: BSD-3-Clause
// NVIDIA's cuDSS, opened at run time, so that our programs also start on machines without it. The
// functions and numbers that we use are declared here, so that the build does not need its header.
// Versions 0.7 and 1 differ in some of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "device/stream.hpp"

namespace trireme::cudss {

// Opaque pointers of cuDSS.
using Handle = void*;
using Config = void*;
using Data = void*;
using Matrix = void*;

enum Status : int { kSuccess = 0, kNoMemory = 2 };
enum Phase : int { kAnalysis = 3, kFactorise = 4, kFactoriseAgain = 8, kSolve = 1008 };
enum MatrixType : int { kGeneral = 0, kSymmetric = 1, kPositive = 3 };  // positive definite
enum View : int { kFull = 0, kUpper = 2 };
inline constexpr int kFromZero = 0, kByColumns = 0;
inline constexpr int kInt32 = 10, kFloat64 = 1;  // of cudaDataType

// What cuDSS allocates by.
struct MemoryHandler {
  void* context;
  int (*allocate)(void* context, void** data, std::size_t bytes, StreamRef stream);
  int (*free)(void* context, void* data, std::size_t bytes, StreamRef stream);
  char name[64];
};

class Library {
 public:
  // `named`: the file, or the folder that has it; empty: the loader looks for it. Throws
  // Error{resource} that says what is missing.
  explicit Library(const std::string& named);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  std::string version() const;  // "0.7.1"
  // The library by which cuDSS uses several threads; empty where it does not lie beside cuDSS.
  const std::string& threading_layer() const { return threading_layer_; }
  // Throws Error{resource} where memory was missing, Error{internal} otherwise. `what` is what
  // cuDSS did: "the analysis".
  void check(int status, const char* what) const;

  // Numbers that differ between the versions.
  int config_matching() const { return 3; }
  int matching() const { return major_ == 0 ? 1 : 6; }  // 0: off
  int data_info() const { return 0; }
  int data_nonzeros() const { return 1; }
  int data_pivots() const { return 2; }
  int data_memory() const { return major_ == 0 ? 12 : 13; }

  int create_csr(Matrix* matrix, std::int64_t rows, std::int64_t nonzeros, const void* row_ptr,
                 const void* columns, const void* values, MatrixType type, View view) const;

  int (*create)(Handle*) = nullptr;
  int (*destroy)(Handle) = nullptr;
  int (*set_stream)(Handle, StreamRef) = nullptr;
  int (*set_threading_layer)(Handle, const char*) = nullptr;
  int (*set_memory_handler)(Handle, const MemoryHandler*) = nullptr;
  int (*create_config)(Config*) = nullptr;
  int (*destroy_config)(Config) = nullptr;
  int (*set_config)(Config, int, const void*, std::size_t) = nullptr;
  int (*create_data)(Handle, Data*) = nullptr;
  int (*destroy_data)(Handle, Data) = nullptr;
  int (*get_data)(Handle, Data, int, void*, std::size_t, std::size_t*) = nullptr;
  int (*execute)(Handle, int, Config, Data, Matrix, Matrix, Matrix) = nullptr;
  int (*create_dense)(Matrix*, std::int64_t, std::int64_t, std::int64_t, const void*, int,
                      int) = nullptr;
  int (*destroy_matrix)(Matrix) = nullptr;

 private:
  void bind();
  int (*get_property_)(int, int*) = nullptr;
  void* create_csr_ = nullptr;
  void* handle_ = nullptr;  // from dlopen
  int major_ = 0, minor_ = 0, patch_ = 0;
  std::string threading_layer_;
};

// The library that the variable TRIREME_CUDSS names, or that the loader finds; it stays open.
// Throws what the constructor throws, and Error{resource} where there is no GPU.
std::shared_ptr<const Library> open_library();
// Whether a file of that name is there, without opening it, which takes some 50 ms with what it
// needs. False where only the loader knows of it.
bool seems_installed();
// Why open_library() throws; empty: it does not.
std::string why_missing();

}  // namespace trireme::cudss
