// SPDX-License-Identifier: BSD-3-Clause
// Looks at the halves of each number.
#include "io/single_complex.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/error.hpp"

namespace trireme {
namespace {

// The first values that differ from each other, as many as the rules ask for.
class FewDistinct {
 public:
  void add(std::uint32_t value) {
    if (full() || std::find(seen_.begin(), seen_.begin() + count_, value) != seen_.begin() + count_)
      return;
    seen_[count_++] = value;
  }
  bool full() const { return count_ == std::ssize(seen_); }

 private:
  std::array<std::uint32_t, 16> seen_{};
  int count_ = 0;
};

}  // namespace

bool looks_like_single_complex(std::span<const double> numbers) {
  constexpr std::uint32_t kSign = 0x80000000;
  constexpr int kFraction = 20;  // bits of the fraction in an upper half
  FewDistinct imaginary, real_with_many_digits;
  bool no_imaginary = true, usual_imaginary = true, integers = true, ones = false, others = false;
  int lowest = std::numeric_limits<int>::max(), highest = std::numeric_limits<int>::min();
  for (const double number : numbers) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    const auto upper = static_cast<std::uint32_t>(bits >> 32);
    const auto lower = static_cast<std::uint32_t>(bits);
    if ((lower & ~kSign) != 0) {
      no_imaginary = false;
      const float part = std::abs(std::bit_cast<float>(lower));
      usual_imaginary = usual_imaginary && part >= 0x1p-40F && part <= 0x1p40F;
      if (!usual_imaginary) return false;
      imaginary.add(lower);
    }
    if (number == 0) continue;
    const float part = std::abs(std::bit_cast<float>(upper));
    integers = integers && part <= 0x1p20F && part == std::floor(part);
    ones = ones || part == 1;
    others = others || part != 1;
    if ((upper & 0xff) != 0) real_with_many_digits.add(upper);
    const int first_digit = std::ilogb(number);
    const int last_digit = first_digit - kFraction + std::min(kFraction, std::countr_zero(upper));
    lowest = std::min(lowest, last_digit);
    highest = std::max(highest, first_digit);
  }
  if (!no_imaginary) return imaginary.full();
  if (!others && !ones) return false;  // all are zero
  return (real_with_many_digits.full() && highest - lowest > 32) || (integers && ones && others);
}

void refuse_single_complex(const std::string& file, std::span<const double> numbers) {
  if (looks_like_single_complex(numbers))
    fail(ExitCode::input,
         "{}: its values look like single complex numbers, which a PETSc binary file does not tell "
         "from double ones; complex systems are not supported: write the real form with a PETSc of "
         "double precision",
         file);
}

}  // namespace trireme
