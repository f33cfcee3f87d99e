// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "bench/traits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "bench/data.hpp"

namespace umbel::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kSeed = 5;
const Traits* const kMoving[] = {&collectives::kAllReduce, &collectives::kBroadcast,     &collectives::kReduce,
                                 &collectives::kAllGather, &collectives::kReduceScatter, &collectives::kAllToAll,
                                 &collectives::kGather,    &collectives::kScatter};

TEST(Traits, SizesAreThoseOfNcclTests) {
  EXPECT_THAT(counts_of(collectives::kAllReduce, {0, 1, 2, 4, 8}, 4, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(counts_of(collectives::kBroadcast, {1000}, 4, 3), ElementsAre(250));
  // shares of whole elements
  EXPECT_THAT(counts_of(collectives::kAllToAll, {8, 1000, 1001}, 4, 3), ElementsAre(0, 83));
  EXPECT_THAT(counts_of(collectives::kGather, {1000}, 1, 3), ElementsAre(333));
  // shares of 16 bytes
  EXPECT_THAT(counts_of(collectives::kAllGather, {8, 32, 48, 1000}, 4, 3), ElementsAre(0, 4, 80));
  EXPECT_THAT(counts_of(collectives::kReduceScatter, {1000}, 1, 3), ElementsAre(320));
  EXPECT_THAT(counts_of(collectives::kAllGather, {1000}, 16, 3), ElementsAre(20));
}

TEST(Traits, BuffersFitWhatTheyAreMadeFor) {
  for (const Traits* traits : kMoving) {
    for (const int ranks : {1, 2, 3, 5}) {
      for (int rank = 0; rank < ranks; ++rank) {
        std::vector<int> roots(static_cast<std::size_t>(ranks));
        std::iota(roots.begin(), roots.end(), 0);
        const Capacity capacity = capacity_of(*traits, 1000, roots, rank, ranks);
        const auto count = static_cast<std::size_t>(counts_of(*traits, {1000}, 4, ranks)[0]);
        for (const int root : roots) {
          for (const bool in_place : {false, true}) {
            const Buffers b =
                buffers_of(*traits, {.count = count, .root = root, .rank = rank, .ranks = ranks}, in_place);
            EXPECT_LE(4 * b.send, capacity.send) << traits->name;
            EXPECT_LE(4 * b.recv, capacity.recv) << traits->name;
            if (b.joined) {
              EXPECT_LE(b.send_at + b.send, std::max(b.send, b.recv)) << traits->name;
              EXPECT_LE(b.recv_at + b.recv, std::max(b.send, b.recv)) << traits->name;
            }
          }
        }
      }
    }
  }
}

TEST(Traits, OnlyTheRootNeedsWhatTheRootHas) {
  const Capacity root = capacity_of(collectives::kGather, 1000, {0}, 0, 4);
  EXPECT_EQ(root.send, 250U);
  EXPECT_EQ(root.recv, 1000U);
  const Capacity other = capacity_of(collectives::kGather, 1000, {0}, 1, 4);
  EXPECT_EQ(other.send, 250U);
  EXPECT_EQ(other.recv, 0U);
  EXPECT_EQ(capacity_of(collectives::kGather, 1000, {0, 1}, 1, 4).recv, 1000U);
  EXPECT_EQ(capacity_of(collectives::kBroadcast, 1000, {0}, 1, 4).send, 0U);
}

TEST(Traits, InPlaceIsWhereTheInterfaceSays) {
  const Extent second{.count = 10, .root = 1, .rank = 1, .ranks = 4};
  const Buffers gathered = buffers_of(collectives::kAllGather, second, true);
  EXPECT_TRUE(gathered.joined);
  EXPECT_EQ(gathered.send_at, 10U);
  EXPECT_EQ(gathered.recv_at, 0U);
  const Buffers scattered = buffers_of(collectives::kReduceScatter, second, true);
  EXPECT_TRUE(scattered.joined);
  EXPECT_EQ(scattered.send_at, 0U);
  EXPECT_EQ(scattered.recv_at, 10U);
  EXPECT_EQ(buffers_of(collectives::kScatter, second, true).recv_at, 10U);
  const Buffers exchanged = buffers_of(collectives::kAllToAll, second, true);
  EXPECT_TRUE(exchanged.joined);
  EXPECT_EQ(exchanged.send_at + exchanged.recv_at, 0U);
  // a rank with one buffer has nothing to join
  EXPECT_FALSE(buffers_of(collectives::kScatter, {.count = 10, .root = 0, .rank = 1, .ranks = 4}, true).joined);
  EXPECT_FALSE(buffers_of(collectives::kAllGather, second, false).joined);
}

TEST(Traits, EveryElementOfAResultHasOneOrigin) {
  for (const Traits* traits : kMoving) {
    for (int rank = 0; rank < 3; ++rank) {
      const Extent extent{.count = 7, .root = 2, .rank = rank, .ranks = 3};
      std::size_t next = 0;
      for (const Origin& origin : origins_of(*traits, extent)) {
        EXPECT_EQ(origin.at, next) << traits->name;
        EXPECT_EQ(origin.rank == kReduction, traits->reduces) << traits->name;
        next += origin.count;
      }
      EXPECT_EQ(next, elements(*traits, recv_part(*traits, extent), extent)) << traits->name;
    }
  }
  EXPECT_THAT(origins_of(collectives::kBarrier, {.ranks = 3}), IsEmpty());
}

/// A serial form of each collective that moves data, written from its definition.
std::vector<std::uint16_t> moved(const Traits& traits, const std::vector<std::vector<std::uint16_t>>& inputs,
                                 const Extent& e) {
  const auto own = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(e.rank) * e.count);
  const auto count = static_cast<std::ptrdiff_t>(e.count);
  const auto& of_root = inputs[static_cast<std::size_t>(e.root)];
  std::vector<std::uint16_t> result;
  if (traits.name == "broadcast") return of_root;
  if (traits.name == "scatter") return {of_root.begin() + own, of_root.begin() + own + count};
  for (const auto& input : inputs) {
    const auto begin = input.begin() + (traits.name == "all_to_all" ? own : 0);
    result.insert(result.end(), begin, begin + count);
  }
  return result;
}

TEST(Traits, OriginsAreThoseOfTheDefinition) {
  const TypeInfo type = *find_type("uint16");
  constexpr int kRanks = 3;
  for (const Traits* traits : kMoving) {
    if (traits->reduces) continue;
    for (int rank = 0; rank < kRanks; ++rank) {
      const Extent mine{.count = 50, .root = 1, .rank = rank, .ranks = kRanks};
      if (recv_part(*traits, mine) == Part::none) continue;
      std::vector<std::vector<std::uint16_t>> inputs;
      for (int r = 0; r < kRanks; ++r) {
        Extent theirs = mine;
        theirs.rank = r;
        inputs.emplace_back(elements(*traits, send_part(*traits, theirs), theirs));
        Pattern(type, r, kSeed).fill(inputs.back().data(), inputs.back().size(), 4);
      }
      std::vector<std::uint16_t> result = moved(*traits, inputs, mine);
      const Pattern pattern(type, rank, kSeed);
      const auto wrong = [&] {
        std::size_t sum = 0;
        for (const Origin& o : origins_of(*traits, mine)) {
          sum += pattern.wrong_copies(o.rank, &result[o.at], o.count, 4, o.from);
        }
        return sum;
      };
      EXPECT_EQ(wrong(), 0U) << traits->name << rank;
      result.back() ^= 1U;
      EXPECT_EQ(wrong(), 1U) << traits->name << rank;
    }
  }
}

TEST(Traits, BusFactors) {
  EXPECT_DOUBLE_EQ(collectives::kAllReduce.bus_factor_of(4), 1.5);
  EXPECT_DOUBLE_EQ(collectives::kBroadcast.bus_factor_of(4), 1);
  EXPECT_DOUBLE_EQ(collectives::kReduce.bus_factor_of(4), 1);
  for (const Traits* traits : {&collectives::kAllGather, &collectives::kReduceScatter, &collectives::kAllToAll,
                               &collectives::kGather, &collectives::kScatter}) {
    EXPECT_DOUBLE_EQ(traits->bus_factor_of(4), 0.75) << traits->name;
  }
}

}  // namespace
}  // namespace umbel::bench
