// SPDX-License-Identifier: BSD-3-Clause
// The JSON of the files that a study writes. Its keys keep their order.
#pragma once

#include <nlohmann/json.hpp>

namespace trireme::study {

using Json = nlohmann::ordered_json;

}  // namespace trireme::study
