// SPDX-License-Identifier: BSD-3-Clause
// Array<T>: a std::vector whose resize() leaves numbers uninitialised. The threads that fill the
// array are then the first to touch its pages, and nothing is written twice.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace trireme {

template <class T>
struct DefaultInitAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = DefaultInitAllocator<U>;
  };
  using std::allocator<T>::allocator;
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
