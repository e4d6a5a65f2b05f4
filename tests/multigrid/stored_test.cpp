// SPDX-License-Identifier: BSD-3-Clause
// Hierarchies that were read have the bits of those that were built: their cycles, and their
// renewals. What is no hierarchy of the matrix is built. Run on 1, 2 and 3 ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "distributed/joined_rows.hpp"
#include "multigrid/hierarchy.hpp"
#include "multigrid/on_ranks.hpp"
#include "multigrid/store/find_or_build.hpp"
#include "multigrid/store/stored_hierarchy.hpp"
#include "multigrid/store/stored_outline.hpp"
#include "parallel/collective.hpp"

namespace trireme::multigrid {
namespace {

using test::applied;
using test::generated;
using test::random_rows;
using test::small_levels;
using test::values_of;

struct Family {
  const char* kind;
  std::int64_t n;
  std::int32_t block = 1;
};
// On several ranks, which share the cores, these are the first ones only.
constexpr Family kFamilies[] = {{"diffusion3d", 12}, {"elasticity3d", 6, 3}, {"convection3d", 10},
                                {"mesh2d", 40},      {"poisson27", 10},      {"elasticity3d", 6}};

std::span<const Family> families() {
  return std::span(kFamilies).first(size_of(MPI_COMM_WORLD) == 1 ? std::size(kFamilies) : 3);
}

// Some rigid motions of the nodes, by row.
NearNullspace some_modes(const DistributedMatrix& a) {
  NearNullspace modes{.values = Array<double>(a.local_rows() * 4, 0.0), .width = 4};
  for (std::int64_t i = 0; i < a.local_rows(); ++i) {
    const std::int64_t row = a.first_row() + i;
    modes.values[i * 4 + row % 3] = 1;
    modes.values[i * 4 + 3] = static_cast<double>(row / 3 % 6) - 2.5;
  }
  return modes;
}

std::unique_ptr<Hierarchy> read_from(const Array<std::byte>& bytes,
                                     const std::shared_ptr<DistributedMatrix>& a,
                                     const Options& options) {
  return Hierarchy::from_stored(a, read_hierarchy(bytes, *a, options), options);
}

void expect_same_bits(const DistributedMatrix& a, Hierarchy& built, Hierarchy& read) {
  const Array<double> r = random_rows(a, 3);
  EXPECT_EQ(applied(built, r), applied(read, r));
  ASSERT_EQ(built.levels().size(), read.levels().size());
  for (std::size_t l = 0; l < built.levels().size(); ++l) {
    EXPECT_EQ(built.levels()[l].nnz, read.levels()[l].nnz);
    EXPECT_EQ(built.levels()[l].replicated, read.levels()[l].replicated);
    EXPECT_EQ(built.levels()[l].prolongator, read.levels()[l].prolongator);
    EXPECT_EQ(built.levels()[l].spectral_radius, read.levels()[l].spectral_radius);
  }
  EXPECT_EQ(built.remark(), read.remark());
}

// Multiplies rows and columns by numbers near 1, which keeps symmetry and changes every value.
void change_values(DistributedMatrix& a) {
  const CsrMatrix<double> rows = joined_rows(a);
  Array<double> values = rows.values;
  const auto factor = [](std::int64_t row) { return 1 + 0.3 * to_unit(split_mix(row, 9)); };
  for (std::int64_t i = 0; i < rows.rows; ++i)
    for (std::int32_t k = rows.row_ptr[i]; k < rows.row_ptr[i + 1]; ++k)
      values[k] *= factor(a.first_row() + i) * factor(rows.col_idx[k]);
  a.replace_values(values);
}

// Calls check(options, modes) with the choices on which the stored form of a hierarchy depends.
template <class Check>
void for_options(const Family& family, const DistributedMatrix& a, const Check& check) {
  Options options = small_levels();
  options.block_size = family.block;
  check(options, NearNullspace());
  if (family.block == 3) check(options, some_modes(a));
  Options other = options;
  other.smoother = Smoother::block_jacobi;
  other.aggressive_levels = 1;
  check(other, NearNullspace());
  other = options;
  other.smoother = Smoother::l1_jacobi;
  other.smoothed_prolongator = false;
  other.precision = Precision::full;
  check(other, NearNullspace());
  other = options;
  other.max_levels = 2;
  other.fill = 0.3;  // thins the prolongators of some
  check(other, NearNullspace());
}

TEST(StoredHierarchy, HasTheBitsOfTheBuiltOne) {
  for (const Family& family : families()) {
    const auto a = generated(MPI_COMM_WORLD, family.kind, family.n, family.block);
    for_options(family, *a, [&](const Options& options, const NearNullspace& modes) {
      SCOPED_TRACE(std::string(family.kind) + " " + std::to_string(modes.width));
      Hierarchy built(a, modes, options);
      const auto read = read_from(built.stored(), a, options);
      expect_same_bits(*a, built, *read);
    });
  }
}

TEST(StoredHierarchy, KnowsThatItIsThin) {
  const auto a = generated(MPI_COMM_WORLD, "graph", 3000);
  const Hierarchy built(a, {}, small_levels());
  const auto read = read_from(built.stored(), a, small_levels());
  EXPECT_EQ(built.levels()[1].prolongator.substr(0, 10), "thinned 1/");
  EXPECT_EQ(read->levels()[1].prolongator, built.levels()[1].prolongator);
}

TEST(StoredHierarchy, HasAnOutlineWithoutTheMatrix) {
  const auto a = generated(MPI_COMM_WORLD, "diffusion3d", 12, 1);
  const Hierarchy built(a, {}, small_levels());
  const Array<std::byte> bytes = built.stored();
  const StoredOutline outline = outline_of(bytes);
  const std::span<const LevelFacts> levels = built.levels();
  ASSERT_GE(std::ssize(levels), 3);
  EXPECT_EQ(outline.levels, std::ssize(levels));
  ASSERT_EQ(outline.coarse.size() + 1, levels.size());
  for (std::size_t l = 0; l < outline.coarse.size(); ++l) {
    // A level that lies whole on each rank is kept by each.
    const auto whole = [&](std::int64_t mine) {
      return levels[l].replicated ? mine : sum_over_ranks(MPI_COMM_WORLD, mine);
    };
    EXPECT_EQ(whole(outline.coarse[l].rows), levels[l + 1].rows) << l;
    EXPECT_EQ(whole(outline.coarse[l].nonzeros), levels[l + 1].nnz) << l;
  }
  const StoredOutline start = outline_of_start(std::span(bytes).first(kOutlineStart));
  EXPECT_EQ(start.levels, outline.levels);
  EXPECT_EQ(start.set_up_seconds, built.set_up().total);
  EXPECT_EQ(outline_of(not_worth_reading(2)).levels, 0);
  EXPECT_THROW(outline_of(std::span(bytes).first(bytes.size() - 8)), Error);
  EXPECT_THROW(outline_of_start(std::span(bytes).first(kOutlineStart - 1)), Error);
}

TEST(StoredHierarchy, TakesNewValuesWithTheBitsOfTheBuiltOne) {
  for (const Family& family : families()) {
    const auto a = generated(MPI_COMM_WORLD, family.kind, family.n, family.block);
    for_options(family, *a, [&](const Options& options, const NearNullspace& modes) {
      SCOPED_TRACE(std::string(family.kind) + " " + std::to_string(modes.width));
      Hierarchy built(a, modes, options);
      const auto read = read_from(built.stored(), a, options);
      const Array<double> before = values_of(*a);
      for (int step = 0; step < 2; ++step) {
        change_values(*a);
        built.renew();
        read->renew();
        expect_same_bits(*a, built, *read);
      }
      a->replace_values(before);
    });
  }
}

// One entry per rank, in memory.
struct Kept {
  std::optional<Array<std::byte>> bytes;
  int finds = 0, keeps = 0;
  std::vector<std::string> faults;

  HierarchyStore store() {
    class Entry final : public HierarchyEntry {
     public:
      explicit Entry(Kept& kept) : kept_(kept) {}
      std::int64_t size() override {
        const std::int64_t missing = sum_over_ranks(MPI_COMM_WORLD, kept_.bytes ? 0 : 1);
        const std::int64_t mine = kept_.bytes ? std::ssize(*kept_.bytes) : 0;
        return missing > 0 ? 0 : sum_over_ranks(MPI_COMM_WORLD, mine);
      }
      std::optional<Array<std::byte>> find() override {
        ++kept_.finds;
        const std::int64_t missing = sum_over_ranks(MPI_COMM_WORLD, kept_.bytes ? 0 : 1);
        return missing > 0 ? std::nullopt : kept_.bytes;
      }
      bool keep(std::span<const std::byte> bytes, double) override {
        ++kept_.keeps;
        kept_.bytes.emplace(bytes.begin(), bytes.end());
        return true;
      }
      void reject(std::string_view fault) override {
        kept_.faults.emplace_back(fault);
        kept_.bytes.reset();
      }

     private:
      Kept& kept_;
    };
    return [this](const DistributedMatrix&, const NearNullspace&, const Options&) {
      return std::make_unique<Entry>(*this);
    };
  }
};

constexpr KeepRule kKeepAll{.bytes_per_second = 1e30, .least_saving = 0};

class FindOrBuild : public testing::Test {
 protected:
  std::unique_ptr<Hierarchy> run(const KeepRule& rule = kKeepAll) {
    return find_or_build(kept_.store(), a_, {}, small_levels(), rule);
  }
  // The hierarchy was built, and has the bits that it always has.
  void expect_built(const KeepRule& rule = kKeepAll) {
    const auto hierarchy = run(rule);
    EXPECT_FALSE(hierarchy->facts().read);
    Hierarchy built(a_, {}, small_levels());
    expect_same_bits(*a_, built, *hierarchy);
  }

  std::shared_ptr<DistributedMatrix> a_ = generated(MPI_COMM_WORLD, "diffusion3d", 14, 2);
  Kept kept_;
};

TEST_F(FindOrBuild, ReadsWhatTheRunBeforeHasKept) {
  const auto built = run();
  EXPECT_FALSE(built->facts().read);
  ASSERT_TRUE(built->facts().kept);
  EXPECT_EQ(built->facts().kept->bytes, sum_over_ranks(MPI_COMM_WORLD, kept_.bytes->size()));
  EXPECT_NEAR(static_cast<double>(built->stored_bytes()), static_cast<double>(kept_.bytes->size()),
              4000);
  const auto read = run();
  ASSERT_TRUE(read->facts().read);
  EXPECT_EQ(read->facts().read->bytes, built->facts().kept->bytes);
  EXPECT_EQ(read->facts().read->building, built->set_up().total);
  EXPECT_GE(read->facts().read->saved, 0);
  EXPECT_EQ(read->set_up().strength, 0);
  EXPECT_EQ(read->set_up().aggregation, 0);
  expect_same_bits(*a_, *built, *read);
}

TEST_F(FindOrBuild, KeepsNothingThatIsReadSlowlyOrSavesLittle) {
  expect_built({.bytes_per_second = 1e30, .least_saving = 1e6});
  expect_built({.bytes_per_second = 1e-6, .least_saving = 0});
  EXPECT_EQ(kept_.keeps, 0);
}

TEST_F(FindOrBuild, BuildsWhereReadingWasSlower) {
  kept_.bytes = not_worth_reading(1);
  expect_built();
  EXPECT_EQ(kept_.finds, 1);
  EXPECT_EQ(kept_.keeps, 0);
  EXPECT_TRUE(kept_.faults.empty());
}

TEST_F(FindOrBuild, RemembersThatReadingWasSlower) {
  EXPECT_FALSE(expects_to_find(kept_.store(), *a_, {}, small_levels()));
  run();
  EXPECT_TRUE(expects_to_find(kept_.store(), *a_, {}, small_levels()));
  double instant = 0;
  std::memcpy(kept_.bytes->data() + 8, &instant, sizeof(instant));  // the seconds of building
  EXPECT_TRUE(run()->facts().read);
  EXPECT_EQ(*kept_.bytes, not_worth_reading(0));
  EXPECT_FALSE(expects_to_find(kept_.store(), *a_, {}, small_levels()));
}

TEST_F(FindOrBuild, BuildsWhereOneRankHasTheHierarchyOfAnotherRun) {
  run();
  if (rank_of(MPI_COMM_WORLD) == 0) (*kept_.bytes)[0] ^= std::byte{1};
  if (size_of(MPI_COMM_WORLD) > 1) expect_built();
}

TEST_F(FindOrBuild, BuildsWhereOneRankHasNothing) {
  run();
  if (rank_of(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1) kept_.bytes.reset();
  expect_built();
}

TEST_F(FindOrBuild, RejectsWhatIsNoHierarchyOfTheMatrix) {
  const auto expect_rejected = [&](Array<std::byte> bytes) {
    const bool mine = rank_of(MPI_COMM_WORLD) == 0;
    kept_.bytes = *std::exchange(kept_.bytes, std::nullopt);
    if (mine) kept_.bytes = std::move(bytes);
    expect_built();
    EXPECT_EQ(kept_.faults.size(), mine ? 1u : 0u);
    kept_.faults.clear();
  };
  run();
  const Array<std::byte> whole = *kept_.bytes;
  for (const std::size_t left :
       {std::size_t{0}, std::size_t{20}, whole.size() / 2, whole.size() - 8})
    expect_rejected({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(left)});
  Array<std::byte> longer = whole;
  longer.resize(whole.size() + 8, std::byte{0});
  expect_rejected(longer);
  const auto other = generated(MPI_COMM_WORLD, "diffusion3d", 15);
  expect_rejected(Hierarchy(other, {}, small_levels()).stored());
  Options options = small_levels();
  options.block_size = 2;
  expect_rejected(Hierarchy(a_, {}, options).stored());
}

// Whatever byte is wrong, what is read fits to the matrix or is refused.
TEST_F(FindOrBuild, RefusesOrUsesBytesThatAreWrong) {
  const Array<std::byte> whole = Hierarchy(a_, {}, small_levels()).stored();
  std::int64_t refused = 0;
  for (std::uint64_t k = 0; k < 400; ++k) {
    Array<std::byte> bytes = whole;
    const std::size_t at = k < 200 ? k : split_mix(k, 3) % bytes.size();
    bytes[at] ^= std::byte{static_cast<unsigned char>(1u << (k % 8))};
    try {
      read_hierarchy(bytes, *a_, small_levels());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

// The exchange of a coarse vector takes the ghosts in ascending order.
TEST_F(FindOrBuild, RefusesGhostsThatDescend) {
  const Array<std::byte> whole = Hierarchy(a_, {}, small_levels()).stored();
  std::int64_t tried = 0;
  for (const StoredLevel& level : read_hierarchy(whole, *a_, small_levels()).levels) {
    if (!level.transfer || level.transfer->ghosts.size() < 2) continue;
    const Array<std::int32_t>& ghosts = level.transfer->ghosts;
    const auto as_stored = std::as_bytes(std::span(ghosts));
    Array<std::byte> bytes = whole;
    const auto at = std::ranges::search(bytes, as_stored).begin();
    ASSERT_NE(at, bytes.end());
    std::swap_ranges(at, at + sizeof(std::int32_t), at + sizeof(std::int32_t));
    EXPECT_THROW(read_hierarchy(bytes, *a_, small_levels()), Error);
    ++tried;
  }
  if (size_of(MPI_COMM_WORLD) > 1) {
    EXPECT_GT(sum_over_ranks(MPI_COMM_WORLD, tried), 0);
  }
}

}  // namespace
}  // namespace trireme::multigrid
