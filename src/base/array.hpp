// SPDX-License-Identifier: BSD-3-Clause
// Array<T>: a std::vector whose resize() leaves numbers uninitialised. The threads that fill the
// array are then the first to touch its pages, and nothing is written twice. Large arrays lie in
// huge pages.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
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

// The same, beginning at a cache line.
template <class T>
struct LineAllocator : DefaultInitAllocator<T> {
  static constexpr std::align_val_t kLine{64};
  template <class U>
  struct rebind {
    using other = LineAllocator<U>;
  };
  using DefaultInitAllocator<T>::DefaultInitAllocator;
  T* allocate(std::size_t count) {
    auto* data = static_cast<T*>(::operator new(count * sizeof(T), kLine));
    if (count * sizeof(T) >= kHugePagesFromBytes) prefer_huge_pages(data, count * sizeof(T));
    return data;
  }
  void deallocate(T* data, std::size_t) { ::operator delete(data, kLine); }
};

template <class T>
using Array = std::vector<T, DefaultInitAllocator<T>>;
template <class T>
using LineArray = std::vector<T, LineAllocator<T>>;

}  // namespace trireme
