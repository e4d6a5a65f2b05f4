// SPDX-License-Identifier: BSD-3-Clause
// Every entry of the lists of methods and preconditioners states its facts, and they agree with
// what its algorithm does. What has no default is not here: without it, an entry does not compile.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "solvers/methods/list.hpp"
#include "solvers/preconditioners/any_preconditioner.hpp"

namespace trireme::solvers {
namespace {

// Counts what an application asks of an executor, and does nothing.
struct CountingExecutor {
  int products = 0, given = 0;
  std::int64_t rows() const { return 0; }
  template <class... Any>
  void pass(const Any&...) {}
  void product(const double*, double*) { ++products; }
  void apply_given(GivenPreconditioner&, const double*, double*) { ++given; }
};

template <class M>
CountingExecutor applied() {
  double* const no_vector = nullptr;
  CountingExecutor e;
  if constexpr (!M::pointwise) {
    typename M::Prepared m;
    if constexpr (requires { m.degree; }) m.degree = PreconditionerSpec().degree;
    if constexpr (requires { m.operation; }) {
      struct Nothing final : GivenPreconditioner {
        void apply(std::span<const double>, std::span<double>) override {}
      } nothing;
      m.operation = &nothing;
      m.apply(e, no_vector, no_vector);
    } else {
      m.apply(e, no_vector, no_vector);
    }
  }
  return e;
}

TEST(ListOfPreconditioners, HasAnEntryPerKindWithItsFacts) {
  for_each_preconditioner([&](PreconditionerKind kind, auto m) {
    using M = typename decltype(m)::type;
    const PreconditionerInfo& info = M::info;
    SCOPED_TRACE(name_of(kind));
    EXPECT_FALSE(info.names[0].name.empty());
    EXPECT_FALSE(info.summary.empty());
    const CountingExecutor e = applied<M>();
    if (e.given == 0) {
      EXPECT_EQ(info.exchanges, e.products > 0);
    }
    EXPECT_EQ(info.data == PreconditionerData::operation, e.given > 0);
    EXPECT_TRUE(M::pointwise || !info.names[0].remark.empty()) << "what readers are told";
    if (info.expected) {
      const ExpectedCost& cost = *info.expected;
      EXPECT_NE(cost.rate > 0, cost.rate_of_jacobi > 0) << "one of the two rates";
      if (e.given == 0) {
        EXPECT_EQ(cost.iteration.products, e.products);
      }
      for (const auto& set_up : {std::optional(cost.set_up), cost.set_up_on_gpu, cost.set_up_found})
        if (set_up) {
          EXPECT_EQ(set_up->products + set_up->seconds > 0, !M::pointwise);
        }
      EXPECT_EQ(cost.set_up_on_gpu.has_value(), cost.iteration_on_gpu.has_value());
      if (cost.set_up_found) {
        EXPECT_LT(cost.set_up_found->products, cost.set_up.products);
      }
    } else {
      EXPECT_TRUE(kind == PreconditionerKind::jacobi) << "preconditioner: auto would never try it";
    }
    const PreconditionerMemory& memory = info.memory;
    EXPECT_EQ(memory.per_block_entry > 0, info.data == PreconditionerData::blocks);
    EXPECT_EQ(info.parameter.option.empty(), info.parameter.place == nullptr);
    EXPECT_LE(info.parameter.min, info.parameter.initial);
    EXPECT_LE(info.parameter.initial, info.parameter.max);
  });
}

TEST(ListOfPreconditioners, HasEachNameOnce) {
  std::set<std::string_view> names, types;
  for_each_preconditioner_name([&](PreconditionerKind kind, const PreconditionerName& name) {
    SCOPED_TRACE(name.name);
    EXPECT_TRUE(names.insert(name.name).second);
    EXPECT_TRUE(types.insert(name.pc_type).second) << name.pc_type;
    for (const std::string_view word : {name.name, name.pc_type, name.petsc_type}) {
      if (word.empty()) continue;
      ASSERT_TRUE(preconditioner_named(word)) << word;
      EXPECT_EQ(preconditioner_named(word)->kind, kind) << word;
      EXPECT_EQ(preconditioner_named(word)->name.name, name.name) << word;
    }
    EXPECT_TRUE(name.pc_type == name.petsc_type || name.pc_type.starts_with("trireme_"))
        << "a type that PETSc does not have begins with the name of the program";
  });
  EXPECT_FALSE(preconditioner_named(""));
  EXPECT_FALSE(preconditioner_named("gamg"));
}

TEST(AnyPreconditioner, IsTheSameByEachOfItsWordsAndGoesOutByTheNameOfCases) {
  for (const NamedPreconditioner& named : kNamedPreconditioners) {
    const PreconditionerName& name = named.name;
    SCOPED_TRACE(name.name);
    const AnyPreconditioner by_name(name.name);
    ASSERT_EQ(by_name.own(), &named);
    EXPECT_TRUE(by_name.is(named.kind));
    EXPECT_EQ(by_name, AnyPreconditioner(name.pc_type));
    EXPECT_EQ(by_name.name(), name.name);
    EXPECT_EQ(by_name.resident_type(), name.pc_type);
    EXPECT_EQ(by_name.works_in_petscs_loops(), !name.petsc_type.empty());
    EXPECT_EQ(by_name.petsc_type(), name.petsc_type.empty() ? name.pc_type : name.petsc_type);
  }
  for_each_preconditioner([](PreconditionerKind kind, auto) {
    EXPECT_EQ(AnyPreconditioner(kind).name(), name_of(kind));
    EXPECT_EQ(AnyPreconditioner(kind).is_multigrid(),
              AnyPreconditioner(kind).name() == "multigrid");
  });
  const AnyPreconditioner petscs("gamg");
  EXPECT_FALSE(petscs.own());
  EXPECT_TRUE(petscs.works_in_petscs_loops());
  for (const std::string& word : {petscs.name(), petscs.resident_type(), petscs.petsc_type()})
    EXPECT_EQ(word, "gamg");
  EXPECT_NE(petscs, AnyPreconditioner("hypre"));
}

// "ilu" is a name of a case for Trireme's, and a PC type of PETSc's.
TEST(AnyPreconditioner, ANameOfACaseIsNoPcTypeOfAnother) {
  for (const PreconditionerKind kind : {PreconditionerKind::ilu, PreconditionerKind::icc}) {
    const AnyPreconditioner ours(kind);
    EXPECT_EQ(AnyPreconditioner(ours.name()), ours);
    EXPECT_EQ(AnyPreconditioner::of_type(ours.resident_type()), ours);
    const AnyPreconditioner petscs = AnyPreconditioner::of_type(ours.name());
    EXPECT_FALSE(petscs.own());
    EXPECT_EQ(petscs.petsc_type(), ours.name());
  }
  EXPECT_TRUE(AnyPreconditioner::of_type("jacobi").is(PreconditionerKind::jacobi));
}

TEST(ListOfMethods, HasEachNameOnceWithItsFacts) {
  std::set<std::string_view> names;
  for_each_method([&](auto entry) {
    using Algorithm = typename decltype(entry)::type;
    const MethodInfo& info = Algorithm::info;
    SCOPED_TRACE(info.name);
    EXPECT_TRUE(names.insert(info.name).second);
    EXPECT_FALSE(info.petsc_name.empty());
    EXPECT_FALSE(info.matrices.empty());
    EXPECT_GE(info.products, 1);
    EXPECT_EQ(info.block, !has_variant<HostMethodList>(entry.method, Algorithm::variant) &&
                              (requires { Algorithm::basis_vectors; }));
    const auto named = method_named(info.name);
    ASSERT_TRUE(named);
    EXPECT_EQ(named->info.name, info.name);
    EXPECT_EQ(named->method, entry.method);
    EXPECT_GE(named->vectors, named->pointwise_vectors);
    EXPECT_GT(named->vectors, 0);
    if constexpr (!Algorithm::info.block)
      for (const bool pointwise : {false, true}) {
        const int in_fp64 = work_vectors<Algorithm>({}, {.pointwise = pointwise});
        const int in_fp32 = work_vectors<Algorithm>({}, {.pointwise = pointwise, .floats = true});
        const bool has_form = requires { typename Algorithm::Narrow; };
        EXPECT_EQ(in_fp32 < in_fp64, has_form);
        EXPECT_EQ(in_fp32 == in_fp64, !has_form);
      }
    const auto by_petsc = method_named(info.petsc_name);
    ASSERT_TRUE(by_petsc);
    EXPECT_EQ(by_petsc->method, entry.method);
    EXPECT_FALSE(by_petsc->info.resident_only) << "PETSc's name is that of the method by itself";
    // Forms have names of their own, which PETSc's types do not stand for.
    const bool form = info.name != info_of(entry.method).name;
    EXPECT_EQ(info.resident_only, form);
    EXPECT_EQ(info.remark.empty(), !form);
  });
  EXPECT_FALSE(method_named("fgmres"));
  EXPECT_FALSE(method_named(""));
}

}  // namespace
}  // namespace trireme::solvers
