// SPDX-License-Identifier: BSD-3-Clause
// Tells doubles from pairs of single numbers that were read as doubles.
#pragma once

#include <span>
#include <string>

namespace trireme {

// Whether numbers that were read as doubles look like single complex numbers, whose real part fills
// the upper and whose imaginary part the lower half of each eight bytes. The halves are taken for
// singles, and one of these must hold, none of which is to be expected of doubles:
//   - At least 16 lower halves differ, and all that are not zero have magnitudes of 2^-40 to 2^40.
//     The lower digits of doubles take any value, two thirds of which are outside.
//   - All lower halves are zero, at least 16 upper halves differ that use the last byte of their
//     fraction, and the first digit of the largest double is more than 32 binary places before the
//     last digit of any. Doubles of so few digits are integers or fixed-point numbers, for which
//     20 places suffice.
//   - All lower halves are zero and all upper halves are integers, of which some are +-1 and some
//     are not. Read as doubles these are powers of two such as 512 and 1/128: 4 and -1.
bool looks_like_single_complex(std::span<const double> numbers);

// Throws Error{input} that names the file where they do.
void refuse_single_complex(const std::string& file, std::span<const double> numbers);

}  // namespace trireme
