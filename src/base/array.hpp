// SPDX-License-Identifier: BSD-3-Clause
// Array<T>: a std::vector whose resize() leaves numbers uninitialised. The threads that fill the
// array are then the first to touch its pages, and nothing is written twice. Large arrays lie in huge
// pages.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/huge_pages.hpp"

namespace trireme {

template <class T>
struct DefaultInitAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = DefaultInitAllocator<U>;
  };
  using std::allocator<T>::allocator;
  T* allocate(std::size_t count) {
    T* data = std::allocator<T>::allocate(count);
    if (count * sizeof(T) >= kHugePagesFromBytes) prefer_huge_pages(data, count * sizeof(T));
    return data;
  }
  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
};

template <class T>
using Array = std::vector<T, DefaultInitAllocator<T>>;

}  // namespace trireme
