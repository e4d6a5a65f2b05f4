// SPDX-License-Identifier: BSD-3-Clause
// The error for a key that case.yaml does not have.
#pragma once

#include <string>
#include <string_view>

namespace trireme {

// Throws Error{usage}: "<place>: unknown key 'solver.rtoll'; did you mean 'solver.rtol'?". Looks
// among the keys of the same section, then in all sections, else lists what the section has.
[[noreturn]] void refuse_unknown_key(const std::string& path, std::string_view place);

}  // namespace trireme
