// SPDX-License-Identifier: BSD-3-Clause
// A view of device memory. It is a separate type so that host code cannot read through it by
// mistake.
#pragma once

#include <cstddef>
#include <type_traits>

namespace trireme {

template <class T>
class DeviceSpan {
 public:
  constexpr DeviceSpan() = default;
  constexpr DeviceSpan(T* data, std::size_t size) : data_(data), size_(size) {}
  template <class U, class = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>>
  // NOLINTNEXTLINE(google-explicit-constructor): writable memory may be read, as with std::span.
  constexpr DeviceSpan(DeviceSpan<U> other) : data_(other.data()), size_(other.size()) {}

  // A device address, for kernel launches and copies only.
  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr DeviceSpan subspan(std::size_t offset, std::size_t count) const {
    return {data_ + offset, count};
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace trireme
