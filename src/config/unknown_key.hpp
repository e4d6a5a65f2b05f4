// SPDX-License-Identifier: BSD-3-Clause
// The error for a key that case.yaml does not have.
#pragma once

#include <string>
#include <string_view>

namespace trireme {

// Throws Error{usage}: "<place>: unknown key 'solver.rtoll'; did you mean 'solver.rtol'?". The
// suggestion is a key of the same section, or else of any section. Where no key is near, the
// message lists the keys of the section.
[[noreturn]] void refuse_unknown_key(const std::string& path, std::string_view place);

}  // namespace trireme
