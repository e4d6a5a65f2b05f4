// SPDX-License-Identifier: BSD-3-Clause
// Owners of typed device memory and pinned host memory, and copies between spans. This header
// compiles without CUDA.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "base/array.hpp"
#include "device/memory.hpp"
#include "device/span.hpp"

namespace trireme {

// How a buffer frees its memory.
enum class Lifetime {
  kernel,  // after waiting for the device: safe at any time, for arrays that live long
  stream   // in the stream of the allocation, without waiting: for scratch memory
};

// Owns uninitialised device memory for `count` numbers. The allocation is ordered in `stream`:
// another stream may use the memory once it has been synchronised with `stream`. A buffer of
// Lifetime::stream must be destroyed before `stream`. The constructor throws Error{resource} where
// the memory does not suffice.
template <class T, Lifetime lifetime>
class BasicDeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  BasicDeviceBuffer() = default;
  BasicDeviceBuffer(std::size_t count, StreamRef stream)
      : data_(static_cast<T*>(memory::allocate_device(count * sizeof(T), stream))),
        size_(count),
        stream_(stream) {}
  ~BasicDeviceBuffer() {
    if (!data_) return;
    if constexpr (lifetime == Lifetime::stream)
      memory::free_device_in_stream(data_, stream_);
    else
      memory::free_device(data_);
  }
  BasicDeviceBuffer(BasicDeviceBuffer&& other) noexcept { swap(other); }
  BasicDeviceBuffer& operator=(BasicDeviceBuffer&& other) noexcept {
    BasicDeviceBuffer(std::move(other)).swap(*this);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  DeviceSpan<T> span() const { return {data_, size_}; }
  DeviceSpan<const T> view() const { return {data_, size_}; }

 private:
  void swap(BasicDeviceBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(stream_, other.stream_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  StreamRef stream_ = nullptr;
};

template <class T>
using DeviceBuffer = BasicDeviceBuffer<T, Lifetime::kernel>;
template <class T>
using ScratchBuffer = BasicDeviceBuffer<T, Lifetime::stream>;

// Owns page-locked host memory, which the device can read and write directly.
template <class T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::size_t count)
      : data_(static_cast<T*>(memory::allocate_pinned(count * sizeof(T)))), size_(count) {}
  ~PinnedBuffer() {
    if (data_) memory::free_pinned(data_);
  }
  PinnedBuffer(PinnedBuffer&& other) noexcept { swap(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    PinnedBuffer(std::move(other)).swap(*this);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<T> span() const { return {data_, size_}; }
  DeviceSpan<T> device_span() const {
    return {static_cast<T*>(memory::device_address(data_)), size_};
  }

 private:
  void swap(PinnedBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// The following functions are asynchronous in `stream`. In a copy `to` has at least as many
// elements as `from`. A copy to or from host memory that is not pinned may wait.
template <class T>
void copy_to_device(std::span<const T> from, DeviceSpan<T> to, StreamRef stream) {
  memory::copy(to.data(), from.data(), from.size_bytes(), stream);
}
template <class T>
void copy_to_host(DeviceSpan<const T> from, std::span<T> to, StreamRef stream) {
  memory::copy(to.data(), from.data(), from.size() * sizeof(T), stream);
}
template <class T>
void copy_on_device(DeviceSpan<const T> from, DeviceSpan<T> to, StreamRef stream) {
  memory::copy(to.data(), from.data(), from.size() * sizeof(T), stream);
}
template <class T>
void fill_zero(DeviceSpan<T> data, StreamRef stream) {
  memory::fill(data.data(), 0, data.size() * sizeof(T), stream);
}
// Sets every byte to 0xff, which is NaN in double, float and half. Tests use it to find numbers
// that nobody wrote.
template <class T>
void fill_nan(DeviceSpan<T> data, StreamRef stream) {
  memory::fill(data.data(), 0xff, data.size() * sizeof(T), stream);
}

// Returns a copy of `from` in device memory; asynchronous in `stream`.
template <class T>
DeviceBuffer<T> to_device(std::span<const T> from, StreamRef stream) {
  DeviceBuffer<T> buffer(from.size(), stream);
  copy_to_device(from, buffer.span(), stream);
  return buffer;
}
// Returns a copy of `from` in host memory; waits for `stream`.
template <class T>
Array<T> to_host(DeviceSpan<const T> from, StreamRef stream) {
  Array<T> copy(from.size());
  copy_to_host(from, std::span<T>(copy), stream);
  synchronize(stream);
  return copy;
}
// Returns one number, such as a size that a build needs on the host; waits for `stream`.
template <class T>
T read_back(const T* device_address, StreamRef stream) {
  T value;
  memory::copy(&value, device_address, sizeof(T), stream);
  synchronize(stream);
  return value;
}

}  // namespace trireme
