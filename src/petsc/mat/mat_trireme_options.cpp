// SPDX-License-Identifier: BSD-3-Clause
// Reads PETSc's options database.
#include "petsc/mat/mat_trireme_options.hpp"

#include <optional>
#include <string>

namespace trireme {
namespace {

constexpr std::size_t kLongestWord = 64;

constexpr const char* kKernel = "-mat_trireme_kernel";
constexpr const char* kDevice = "-mat_trireme_device";
constexpr const char* kPrecision = "-mat_trireme_precision";

// An option within MatSetFromOptions, where -help shows it.
std::optional<std::string> word_of_option(OptionItems PetscOptionsObject, const char* name,
                                          const char* help, const char* function,
                                          const std::string& current) {
  char word[kLongestWord] = "";
  PetscBool given = PETSC_FALSE;
  petsc_check([&]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(PetscOptionsString(name, help, function, current.c_str(), word, sizeof word, &given));
    PetscFunctionReturn(kPetscSuccess);
  }());
  return given ? std::optional<std::string>(word) : std::nullopt;
}

std::optional<std::string> word_of_option(Mat mat, const char* name) {
  char word[kLongestWord] = "";
  PetscBool given = PETSC_FALSE;
  PetscOptions options = nullptr;
  const char* prefix = nullptr;
  petsc_check(PetscObjectGetOptions(reinterpret_cast<PetscObject>(mat), &options));
  petsc_check(PetscObjectGetOptionsPrefix(reinterpret_cast<PetscObject>(mat), &prefix));
  petsc_check(PetscOptionsGetString(options, prefix, name, word, sizeof word, &given));
  return given ? std::optional<std::string>(word) : std::nullopt;
}

}  // namespace

ProductSettings settings_from_options(OptionItems items, const ProductSettings& current) {
  ProductSettings settings = current;
  if (const auto word = word_of_option(items, kKernel, "Kernel of the products, or auto",
                                       "MatTriremeSetKernel", current.kernel.value_or("auto")))
    settings.kernel = kernel_of_word(*word);
  if (const auto word = word_of_option(items, kDevice, "Device of the products: auto, cpu or cuda",
                                       "MatTriremeSetDevice",
                                       word_of(current.device.value_or(WantedDevice::automatic))))
    settings.device = device_of_word(*word);
  if (const auto word = word_of_option(
          items, kPrecision, "Precision in the loop of a trireme KSP: double or mixed",
          "MatTriremeSetPrecision", word_of(current.precision.value_or(Precision::full))))
    settings.precision = precision_of_word(*word);
  return settings;
}

void read_missing_options(Mat mat, AijProducts& products) {
  if (products.options_read) return;
  products.options_read = true;
  ProductSettings settings = products.settings();
  if (!settings.kernel)
    if (const auto word = word_of_option(mat, kKernel)) settings.kernel = kernel_of_word(*word);
  if (!settings.device)
    if (const auto word = word_of_option(mat, kDevice)) settings.device = device_of_word(*word);
  if (!settings.precision)
    if (const auto word = word_of_option(mat, kPrecision))
      settings.precision = precision_of_word(*word);
  products.set(settings);
}

}  // namespace trireme
