// SPDX-License-Identifier: BSD-3-Clause
#include "api/numbers.hpp"

#include <algorithm>
#include <cmath>

#include "api/caller_matrix.hpp"

namespace trireme::api {

Numbers Numbers::part(std::size_t first, std::size_t count) const {
  Numbers part = *this;
  part.data_ += first;
  part.size_ = count;
  return part;
}

Array<double> Numbers::copy_on_host() const {
  if (!gpu_) return {data_, data_ + size_};
  Array<double> copy(size_);
  gpu_->download(on_gpu(), copy);
  return copy;
}

Vector::Vector(std::size_t size, Gpu* gpu) : size_(size), gpu_(gpu) {
  if (gpu) {
    owned_on_gpu_ = DeviceBuffer<double>(size, gpu->stream());
    data_ = owned_on_gpu_.data();
  } else {
    owned_.resize(size);
    data_ = owned_.data();
  }
}

Vector Vector::part(std::size_t first, std::size_t count) {
  Vector part;
  part.data_ = data_ + first;
  part.size_ = count;
  part.gpu_ = gpu_;
  return part;
}

Vector Vector::copy() const {
  Vector made(size_, gpu_);
  made.take(*this);
  return made;
}

void Vector::set_zero() {
  if (gpu_)
    fill_zero(on_gpu(), gpu_->stream());
  else
    std::ranges::fill(on_host(), 0.0);
}

void Vector::take(const Numbers& from, int exponent, bool negated) {
  if (gpu_ && from.gpu()) {
    if (exponent == 0 && !negated)
      copy_on_device(from.on_gpu(), on_gpu(), gpu_->stream());
    else
      scale_on_device(from.on_gpu(), exponent, negated, on_gpu(), gpu_->stream());
    return;
  }
  if (gpu_) {
    gpu_->upload(from.on_host(), on_gpu());
    if (exponent != 0 || negated)
      scale_on_device(on_gpu(), exponent, negated, on_gpu(), gpu_->stream());
    return;
  }
  if (from.gpu())
    from.gpu()->download(from.on_gpu(), on_host());
  else if (from.on_host().data() != data_)
    std::ranges::copy(from.on_host(), data_);
  if (exponent == 0 && !negated) return;
  const double sign = negated ? -1 : 1;
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < size_; ++i) data_[i] = sign * std::ldexp(data_[i], exponent);
}

void require_finite(const Ranks& ranks, const Numbers& numbers, const char* name) {
  if (!numbers.gpu()) return ranks.checked([&] { require_finite(numbers.on_host(), name); });
  if (!numbers.gpu()->facts_of(numbers.on_gpu()).finite)
    require_finite(std::span<const double>(numbers.copy_on_host()), name);
}

VectorSize size_of_finite(const Ranks& ranks, const Numbers& numbers, const char* name) {
  if (numbers.gpu()) {
    const VectorFacts facts = numbers.gpu()->facts_of(numbers.on_gpu());
    if (!facts.finite) require_finite(ranks, numbers, name);
    return {facts.largest, std::sqrt(facts.squares)};
  }
  const std::span<const double> v = numbers.on_host();
  require_finite(ranks, numbers, name);
  double largest = 0;
#pragma omp parallel for simd schedule(static) reduction(max : largest)
  for (std::size_t i = 0; i < v.size(); ++i) largest = std::max(largest, std::abs(v[i]));
  ranks.largest({&largest, 1});
  return {largest, ranks.norm(v)};
}

bool is_zero(const Ranks& ranks, const Numbers& numbers) {
  if (numbers.gpu()) return numbers.gpu()->facts_of(numbers.on_gpu()).largest == 0;
  return !ranks.any(std::ranges::any_of(numbers.on_host(), [](double v) { return v != 0; }));
}

double norm_of(const Ranks& ranks, const Numbers& numbers) {
  return numbers.gpu() ? std::sqrt(numbers.gpu()->facts_of(numbers.on_gpu()).squares)
                       : ranks.norm(numbers.on_host());
}

}  // namespace trireme::api
