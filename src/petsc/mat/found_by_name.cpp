// SPDX-License-Identifier: BSD-3-Clause
// Looks functions up, and composes them under other names.
#include "petsc/mat/found_by_name.hpp"

#include <fmt/format.h>
#include <trireme/petsc.h>

#include <string_view>

#include "petsc/private_headers.hpp"

namespace trireme {
namespace {

PetscOperation composed_function(Mat mat, const std::string& name) {
  PetscOperation function = nullptr;
  petsc_check(PetscObjectQueryFunction(object_of(mat), name.c_str(), &function));
  return function;
}

std::string name_of_product(const std::vector<Mat>& factors) {
  constexpr std::string_view kOwn = MATTRIREME;
  std::string name = "MatProductSetFromOptions";
  for (Mat factor : factors) {
    MatType type = nullptr;
    petsc_check(MatGetType(factor, &type));
    std::string_view plain = type;
    if (plain == MATSEQAIJTRIREME || plain == MATMPIAIJTRIREME) plain.remove_suffix(kOwn.size());
    name.append("_").append(plain);
  }
  return name + "_C";
}

// The first function of this name that is composed with a factor and is not `own`.
PetscOperation function_for(const std::vector<Mat>& factors, const std::string& name,
                            PetscOperation own) {
  for (Mat factor : factors)
    if (const PetscOperation found = composed_function(factor, name); found && found != own)
      return found;
  return nullptr;
}

}  // namespace

std::vector<NamedFunction> conversions_of(Mat mat, const std::string& aij,
                                          const std::string& type) {
  const std::string from_aij = fmt::format("MatConvert_{}_", aij);
  std::vector<NamedFunction> conversions;
  for (const std::string& name : composed_functions_of(object_of(mat))) {
    if (!name.starts_with(from_aij)) continue;
    const std::string target = name.substr(from_aij.size());
    if (target.starts_with(aij) || target == std::string(MATTRIREME) + "_C") continue;
    conversions.push_back(
        {fmt::format("MatConvert_{}_{}", type, target), composed_function(mat, name)});
  }
  return conversions;
}

PetscErrorCode prepare_product(Mat product) {
  return petsc_guard(comm_of(product), [&] {
    Mat a = nullptr, b = nullptr, c = nullptr;
    MatProductType kind = MATPRODUCT_UNSPECIFIED;
    petsc_check(MatProductGetMats(product, &a, &b, &c));
    petsc_check(MatProductGetType(product, &kind));
    std::vector<Mat> factors{a, b};
    if (kind == MATPRODUCT_ABC) factors.push_back(c);
    PetscOperation function = function_for(factors, name_of_product(factors), nullptr);
    if (!function)
      function = function_for(factors, kProductOfAnyType, petsc_operation(prepare_product));
    if (function) petsc_check(reinterpret_cast<PetscErrorCode (*)(Mat)>(function)(product));
  });
}

}  // namespace trireme
