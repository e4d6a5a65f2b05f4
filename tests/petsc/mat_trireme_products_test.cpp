// SPDX-License-Identifier: BSD-3-Clause
// All that AIJ can do, a Mat of type trireme can do too: the functions of the two are compared by
// the lists that PETSc has of them, and products of matrices by their results; run on 1 and 3
// ranks.
#include <gtest/gtest.h>
#include <petscmat.h>
#include <trireme/petsc.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "petsc/compare_mats.hpp"
#include "petsc/mat_trireme_fixture.hpp"
#include "petsc/private_headers.hpp"

namespace trireme {
namespace {

using namespace test;

constexpr PetscInt kNodes = 24;

// An AIJ matrix of so many rows and columns, `per_node` of each for a node. Its values vary by
// `seed`.
MatHandle square_aij(PetscInt per_node, int seed) {
  PetscInt nodes = PETSC_DECIDE, all = kNodes, first = 0, last = 0;
  petsc_check(PetscSplitOwnership(MPI_COMM_WORLD, &nodes, &all));
  MatHandle mat;
  petsc_check(MatCreateAIJ(MPI_COMM_WORLD, per_node * nodes, per_node * nodes, PETSC_DETERMINE,
                           PETSC_DETERMINE, 4, nullptr, 4, nullptr, mat.put()));
  petsc_check(MatGetOwnershipRange(mat, &first, &last));
  const PetscInt rows = per_node * kNodes;
  for (PetscInt row = first; row < last; ++row)
    for (const PetscInt distance : {0, 1, 7, 20})
      petsc_check(MatSetValue(mat, row, (row + distance) % rows,
                              Random(rows * row + distance + seed).value<double>(), INSERT_VALUES));
  assemble(mat);
  return mat;
}

// Each kind of square matrix, made of an AIJ matrix or, where `trireme`, of the same of type
// trireme.
std::map<std::string, MatHandle> factors(bool trireme) {
  std::map<std::string, MatHandle> made;
  const MatHandle aij = square_aij(2, 1);
  made["aij"] = square_aij(2, 2);
  made["tested"] = trireme ? trireme_of(aij) : square_aij(2, 1);
  petsc_check(MatCreateTranspose(made["tested"], made["transpose"].put()));
  petsc_check(MatConvert(made["aij"], MATDENSE, MAT_INITIAL_MATRIX, made["dense"].put()));
  const MatHandle nodes = square_aij(1, 3);
  petsc_check(MatCreateMAIJ(nodes, 2, made["maij"].put()));
  return made;
}

// A B, A^T B, ...; null where PETSc has no such product of these types.
MatHandle product_of(Mat a, Mat b, Mat c, MatProductType kind) {
  MatHandle product;
  petsc_check(MatProductCreate(a, b, c, product.put()));
  petsc_check(MatProductSetType(product, kind));
  if (MatProductSetFromOptions(product) || MatProductSymbolic(product) ||
      MatProductNumeric(product))
    return {};
  return product;
}

TEST(MatTriremeProducts, AreThoseOfAij) {
  const auto plain = factors(false), ours = factors(true);
  std::set<std::string> products;
  const auto expect_same = [&](MatProductType kind, const std::string& a, const std::string& b,
                               const std::string& c) {
    const std::string name = std::string(MatProductTypes[kind]) + " " + a + " " + b + " " + c;
    SCOPED_TRACE(name);
    const auto of = [&](const auto& all) {
      return product_of(all.at(a), all.at(b),
                        c.empty() ? Mat{nullptr} : static_cast<Mat>(all.at(c)), kind);
    };
    const MatHandle expected = of(plain);
    if (!expected) return;
    products.insert(name);
    const MatHandle product = of(ours);
    ASSERT_NE(static_cast<Mat>(product), nullptr);
    EXPECT_LT(relative_difference(expected, product, mult), 1e-13);
    // Numbers that change once more.
    petsc_check(MatScale(plain.at("tested"), 2));
    petsc_check(MatScale(ours.at("tested"), 2));
    petsc_check(MatProductNumeric(expected));
    petsc_check(MatProductNumeric(product));
    EXPECT_LT(relative_difference(expected, product, mult), 1e-13) << "numbers only";
  };
  for (const char* other : {"tested", "aij", "dense", "maij", "transpose"})
    for (const MatProductType kind :
         {MATPRODUCT_AB, MATPRODUCT_AtB, MATPRODUCT_ABt, MATPRODUCT_PtAP, MATPRODUCT_RARt}) {
      expect_same(kind, "tested", other, "");
      expect_same(kind, other, "tested", "");
    }
  for (const char* left : {"aij", "tested", "dense"})
    for (const char* right : {"aij", "tested"}) expect_same(MATPRODUCT_ABC, left, "tested", right);
  for (const char* name :
       {"PtAP tested maij ", "AB dense tested ", "AB tested dense ", "AB aij tested ",
        "AtB tested dense ", "PtAP tested aij ", "ABC aij tested aij"})
    EXPECT_EQ(products.count(name), 1) << name;
  EXPECT_GE(products.size(), 20);
}

TEST(MatTriremeFunctions, AreAllThoseOfAij) {
  const MatHandle aij = square_aij(1, 1);
  const MatHandle mat = trireme_of(aij);
  const std::string own = type_of(mat), type = type_of(aij);
  const std::vector<std::string> names = composed_functions_of(object_of(static_cast<Mat>(mat)));
  const auto has = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  int conversions = 0;
  for (const std::string& name : composed_functions_of(object_of(static_cast<Mat>(aij)))) {
    EXPECT_TRUE(has(name)) << name;
    const std::string from_aij = "MatConvert_" + type + "_";
    if (!name.starts_with(from_aij)) continue;
    const std::string target = name.substr(from_aij.size());
    if (target.starts_with(type)) continue;  // a kind of AIJ, which is made by way of the entries
    EXPECT_TRUE(has("MatConvert_" + own + "_" + target)) << name;
    ++conversions;
  }
  EXPECT_GE(conversions, 5);

  constexpr int kOperations = 140;  // fewer than PETSc has
  const std::set<int> replaced = {MATOP_MULT,         MATOP_MULT_ADD,   MATOP_DUPLICATE,
                                  MATOP_VIEW,         MATOP_DESTROY,    MATOP_SET_FROM_OPTIONS,
                                  MATOP_CONVERT_FROM, MATOP_VIEW_NATIVE};
  for (int k = 0; k < kOperations; ++k) {
    PetscOperation of_aij = nullptr, of_trireme = nullptr;
    petsc_check(MatGetOperation(aij, static_cast<MatOperation>(k), &of_aij));
    petsc_check(MatGetOperation(mat, static_cast<MatOperation>(k), &of_trireme));
    EXPECT_EQ(of_aij != of_trireme, replaced.count(k) == 1) << "MatOperation " << k;
  }
}

TEST(MatTriremeFunctions, AreGivenBackToAij) {
  const MatHandle aij = square_aij(1, 1);
  const MatHandle mat = trireme_of(aij);
  Mat same = mat;
  petsc_check(MatConvert(mat, MATAIJ, MAT_INPLACE_MATRIX, &same));
  const auto names = [](Mat a) {
    const std::vector<std::string> all = composed_functions_of(object_of(a));
    return std::set<std::string>(all.begin(), all.end());
  };
  EXPECT_EQ(names(mat), names(aij));
}

}  // namespace
}  // namespace trireme
