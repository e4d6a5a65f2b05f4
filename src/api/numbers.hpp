// SPDX-License-Identifier: BSD-3-Clause
// The vectors of a solve, on the host or on the GPU of its loops.
#pragma once

#include <cstddef>
#include <span>

#include "api/gpu.hpp"
#include "api/ranks.hpp"
#include "base/array.hpp"
#include "device/buffer.hpp"
#include "device/span.hpp"

namespace trireme::api {

// Refers to numbers that are read.
class Numbers {
 public:
  Numbers() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): as with std::span.
  Numbers(std::span<const double> on_host) : data_(on_host.data()), size_(on_host.size()) {}
  Numbers(DeviceSpan<const double> on_gpu, Gpu& gpu)
      : data_(on_gpu.data()), size_(on_gpu.size()), gpu_(&gpu) {}

  Gpu* gpu() const { return gpu_; }  // null: they are on the host
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const double* data() const { return data_; }
  // Each for numbers that are there.
  std::span<const double> on_host() const { return {data_, size_}; }
  DeviceSpan<const double> on_gpu() const { return {data_, size_}; }
  Numbers part(std::size_t first, std::size_t count) const;
  // Waits for the numbers.
  Array<double> copy_on_host() const;

 private:
  const double* data_ = nullptr;
  std::size_t size_ = 0;
  Gpu* gpu_ = nullptr;
};

// Owns numbers, or refers to those of a caller, that are written. What is written on a GPU is
// queued in its stream.
class Vector {
 public:
  Vector() = default;
  // Owned and not initialised. Null: on the host.
  Vector(std::size_t size, Gpu* gpu);
  // These refer.
  explicit Vector(std::span<double> on_host) : data_(on_host.data()), size_(on_host.size()) {}
  Vector(DeviceSpan<double> on_gpu, Gpu& gpu)
      : data_(on_gpu.data()), size_(on_gpu.size()), gpu_(&gpu) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as with std::span.
  operator Numbers() const { return gpu_ ? Numbers({data_, size_}, *gpu_) : on_host(); }
  Gpu* gpu() const { return gpu_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const double* data() const { return data_; }
  std::span<const double> on_host() const { return {data_, size_}; }
  std::span<double> on_host() { return {data_, size_}; }
  DeviceSpan<const double> on_gpu() const { return {data_, size_}; }
  DeviceSpan<double> on_gpu() { return {data_, size_}; }

  Vector part(std::size_t first, std::size_t count);  // refers to it
  Vector copy() const;                                // owns it, where this one is
  void set_zero();
  // Takes the numbers of one of the same size, here or there.
  void take(const Numbers& from) { take(from, 0, false); }
  // The same times 2^exponent, or that times -1.
  void take(const Numbers& from, int exponent, bool negated);

 private:
  Array<double> owned_;
  DeviceBuffer<double> owned_on_gpu_;
  double* data_ = nullptr;
  std::size_t size_ = 0;
  Gpu* gpu_ = nullptr;
};

// Of vectors whose parts lie on the ranks. Collective.

// Throws Error{input} that names the first number which is not finite: "b[17] = nan".
void require_finite(const Ranks& ranks, const Numbers& numbers, const char* name);
struct VectorSize {
  double largest = 0;  // magnitude
  double norm = 0;     // Euclidean; on a GPU 0 or infinite where squares leave the range of double
};
// Throws what require_finite() throws.
VectorSize size_of_finite(const Ranks& ranks, const Numbers& numbers, const char* name);
bool is_zero(const Ranks& ranks, const Numbers& numbers);
// Where the squares of the numbers are within double.
double norm_of(const Ranks& ranks, const Numbers& numbers);

}  // namespace trireme::api
