// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Counts of v-forms that are wrong: those that one rank can see, and those in which two ranks differ, which every rank
// learns, inside the call or in those that follow. Ranks as threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "base/shares.hpp"
#include "inproc/ranks.hpp"

namespace umbel::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int kRanks = 3;
constexpr std::size_t kRoom = 400000;  // elements of each buffer
using Numbers = std::vector<std::uint64_t>;

std::shared_ptr<const ShareLists> lists(const Numbers& given, const Numbers& taken) {
  return std::make_shared<const ShareLists>(ShareLists{{given, packed(given)}, {taken, packed(taken)}});
}

/// All ranks make the call that `args` gives, then two all-reduces; what each came to. The buffers outlive all ranks:
/// those of a failed call may still be read by others.
std::vector<std::string> outcomes(const char* nodes, const std::function<runtime::CallArgs(Rank)>& args,
                                  const char* algorithm = "auto") {
  std::vector<std::vector<float>> send(kRanks, std::vector<float>(kRoom)), recv = send;
  std::vector<std::string> texts(kRanks);
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = run_ranks(kRanks, test_options(nodes, 20s), [&](runtime::Communicator& comm, Gathering& all) {
    const auto me = static_cast<std::size_t>(comm.info().rank);
    comm.set_algorithm(algorithm);
    texts[me] = outcome_of([&] {
      runtime::CallArgs mine = args(comm.info().rank);
      mine.send = send[me].data();
      mine.recv = recv[me].data();
      mine.dtype = DType::fp32;
      comm.run(mine);
      // A taker that has finished finds in its next call what it did not expect, the others in theirs after that.
      for (int call = 0; call < 2; ++call) {
        float one = 1;
        comm.all_reduce(&one, &one, 1, DType::fp32, RedOp::sum);
      }
    });
    all.barrier();
  });
  EXPECT_THAT(outcome, Each(""));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);  // far from the deadline
  return texts;
}

/// A call in which `giver` gives `taker` `gives` elements and that one expects `takes`; else all counts are 3.
runtime::CallArgs with_odd_pair(Collective form, Rank me, Rank giver, Rank taker, std::uint64_t gives,
                                std::uint64_t takes) {
  runtime::CallArgs args{.collective = form};
  Numbers given(kRanks, 3), taken(kRanks, 3);
  if (me == giver) given[static_cast<std::size_t>(taker)] = gives;
  if (me == taker) taken[static_cast<std::size_t>(giver)] = takes;
  const auto own = static_cast<std::size_t>(me);
  if (form == Collective::gatherv) {
    args.root = taker;
    args.count = me == giver ? gives : 3;
    given.assign(kRanks, 0);
    if (me == taker) given = taken;
    given[own] = args.count;
    if (me != taker) taken.assign(kRanks, 0);
  } else if (form == Collective::scatterv) {
    args.root = giver;
    args.count = me == taker ? takes : 3;
    taken.assign(kRanks, 0);
    if (me == giver) taken = given;
    taken[own] = args.count;
    if (me != giver) given.assign(kRanks, 0);
  }
  args.shares = lists(given, taken);
  return args;
}

class ShareCounts : public testing::TestWithParam<const char*> {};

TEST_P(ShareCounts, InWhichAPairDiffersAreAMismatchOnEveryRank) {
  struct Pair {
    std::uint64_t gives, takes;
  };
  for (const Collective form : {Collective::all_to_allv, Collective::gatherv, Collective::scatterv}) {
    for (const Rank giver : {1, 2}) {
      // By one message or slot and by several, of as many chunks and not; one side without any.
      for (const auto [gives, takes] : {Pair{5, 4}, Pair{0, 4}, Pair{5, 0}, Pair{110000, 100000}, Pair{100000, 10},
                                        Pair{10, 100000}, Pair{100000, 0}}) {
        SCOPED_TRACE(fmt::format("{} from {}: {} and {}", name_of(form), giver, gives, takes));
        // A bundle's mismatch names its ranks, not the pair (below).
        const char* pairs = form == Collective::all_to_allv ? "pairwise" : "linear";
        const auto texts = outcomes(
            GetParam(),
            [&, gives = gives, takes = takes](Rank me) { return with_odd_pair(form, me, giver, 0, gives, takes); },
            *GetParam() == '\0' ? "auto" : pairs);
        EXPECT_THAT(texts, Each(AllOf(StartsWith("Mismatch"), HasSubstr("operation 1 ("),
                                      HasSubstr(std::string(name_of(form))), HasSubstr(fmt::format("rank {} (", giver)),
                                      HasSubstr(fmt::format("sends {} elements to rank 0 (", gives)),
                                      HasSubstr(fmt::format("which expects {}", takes)))));
      }
    }
  }
}

/// Rank 2, on a node of its own, is whom or who the others' bundle is for or from.
TEST(ShareCountsOfBundles, InWhichAPairDiffersAreAMismatchOnEveryRank) {
  struct Pair {
    std::uint64_t gives, takes;
  };
  for (const Collective form : {Collective::all_to_allv, Collective::gatherv, Collective::scatterv}) {
    for (const Rank mate : {0, 1}) {
      for (const auto [gives, takes] : {Pair{5, 4}, Pair{0, 4}, Pair{110000, 100000}, Pair{10, 100000}}) {
        SCOPED_TRACE(fmt::format("{} of {}: {} and {}", name_of(form), mate, gives, takes));
        const Rank giver = form == Collective::scatterv ? 2 : mate, taker = form == Collective::scatterv ? mate : 2;
        const auto texts = outcomes(
            "0,0,1",
            [&, gives = gives, takes = takes](Rank me) { return with_odd_pair(form, me, giver, taker, gives, takes); },
            "hierarchical_bundles");
        EXPECT_THAT(
            texts, Each(AllOf(StartsWith("Mismatch"), HasSubstr("operation 1 ("), HasSubstr(std::string(name_of(form))),
                              HasSubstr("a giver and a taker have different counts"))));
      }
    }
  }
}

/// What the one gives too much the other gives too little: all messages are as long as they should be.
TEST(ShareCountsOfBundles, ThatDifferInTheirOrderAloneAreAMismatchOnEveryRank) {
  const auto texts = outcomes(
      "0,0,1",
      [](Rank me) {
        runtime::CallArgs args{.collective = Collective::gatherv, .root = 2};
        const Numbers own{4, 2, 3};
        args.count = own[static_cast<std::size_t>(me)];
        Numbers given(kRanks), taken(kRanks);
        if (me == 2) given = taken = {3, 3, 3};
        given[static_cast<std::size_t>(me)] = args.count;
        if (me != 2) taken = given;
        args.shares = lists(given, taken);
        return args;
      },
      "hierarchical_bundles");
  EXPECT_THAT(texts, Each(AllOf(StartsWith("Mismatch"), HasSubstr("sends 6 elements for its node to rank 2 ("),
                                HasSubstr("a giver and a taker have different counts"))));
}

TEST_P(ShareCounts, ThatAllMustGiveAlikeAreAMismatchOnEveryRank) {
  for (const Collective form : {Collective::all_gatherv, Collective::reduce_scatterv}) {
    for (const Numbers& odd : {Numbers{10, 20, 31}, Numbers{20, 20, 20}}) {  // another total, and the same
      SCOPED_TRACE(std::string(name_of(form)));
      const auto texts = outcomes(GetParam(), [&](Rank me) {
        const Numbers counts = me == 1 ? odd : Numbers{10, 20, 30};
        return runtime::CallArgs{
            .collective = form, .count = counts[static_cast<std::size_t>(me)], .shares = lists(counts, counts)};
      });
      EXPECT_THAT(texts, Each(AllOf(StartsWith("Mismatch"), HasSubstr("rank 1 ("), HasSubstr(", counts "))));
    }
  }
}

TEST_P(ShareCounts, DoNotHideADifferentCall) {
  const auto texts = outcomes(GetParam(), [&](Rank me) {
    return me == 2 ? runtime::CallArgs{.collective = Collective::all_gather, .count = 3}
                   : runtime::CallArgs{.collective = Collective::all_to_allv, .shares = lists({3, 3, 3}, {3, 3, 3})};
  });
  EXPECT_THAT(texts, Each(AllOf(StartsWith("Mismatch"), HasSubstr("rank 2 ("), HasSubstr("all_gather of 3"),
                                HasSubstr("all_to_allv"))));
}

INSTANTIATE_TEST_SUITE_P(On, ShareCounts, testing::Values("", "2"),
                         [](const auto& i) { return *i.param == '\0' ? "one_node" : "two_nodes"; });

TEST(ShareArguments, ThatOneRankCanSeeAreRefused) {
  const Outcome outcome = run_ranks(1, test_options(), [](runtime::Communicator& comm, Gathering&) {
    float x[64] = {}, y[64] = {};
    const auto refused = [&](runtime::CallArgs args) {
      args.dtype = DType::fp32;
      return outcome_of([&] { comm.run(args); });
    };
    EXPECT_THAT(refused({.collective = Collective::all_gatherv, .send = x, .recv = y, .count = 1}),
                AllOf(StartsWith("Invalid"), HasSubstr("all_gatherv needs the counts")));
    EXPECT_THAT(
        refused({.collective = Collective::all_gatherv, .send = x, .recv = y, .count = 1, .shares = lists({2}, {2})}),
        AllOf(StartsWith("Invalid"), HasSubstr("own share is 1, but counts[0] is 2")));
    EXPECT_THAT(refused({.collective = Collective::all_to_allv, .send = x, .recv = y, .shares = lists({2}, {3})}),
                AllOf(StartsWith("Invalid"), HasSubstr("sends itself 2 elements and receives 3")));
    EXPECT_THAT(refused({.collective = Collective::all_to_allv, .send = x, .recv = nullptr, .shares = lists({2}, {2})}),
                AllOf(StartsWith("Invalid"), HasSubstr("recv is NULL")));
    EXPECT_THAT(
        refused({.collective = Collective::gatherv, .send = x, .recv = x + 1, .count = 2, .shares = lists({2}, {2})}),
        AllOf(StartsWith("Invalid"), HasSubstr("overlap"), HasSubstr("own displacement")));
    EXPECT_THAT(refused({.collective = Collective::scatterv,
                         .send = x,
                         .recv = y,
                         .count = 1ULL << 60U,
                         .shares = lists({1ULL << 60U}, {1ULL << 60U})}),
                AllOf(StartsWith("Invalid"), HasSubstr("more than fit in memory")));
    EXPECT_EQ(refused({.collective = Collective::all_to_allv, .shares = lists({0}, {0})}), "");
  });
  EXPECT_THAT(outcome, Each(""));
}

TEST(ShareArguments, ReceivedSharesMustNotOverlap) {
  const Outcome outcome = run_ranks(2, test_options(), [](runtime::Communicator& comm, Gathering&) {
    float x[8] = {}, y[8] = {};
    const auto shares = std::make_shared<const ShareLists>(ShareLists{{{2, 2}, {0, 0}}, {{2, 2}, {3, 2}}});
    EXPECT_THAT(
        outcome_of([&] {
          comm.run(
              {.collective = Collective::all_to_allv, .send = x, .recv = y, .dtype = DType::fp32, .shares = shares});
        }),
        AllOf(StartsWith("Invalid"), HasSubstr("shares of ranks 1 and 0 overlap")));
    comm.all_reduce(x, y, 8, DType::fp32, RedOp::sum);
  });
  EXPECT_THAT(outcome, Each(""));
}

}  // namespace
}  // namespace umbel::test
