// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Ranks that call different collectives, or the same with different arguments: an error on every rank, inside the call
// or at the next one, that names both. Ranks as threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "inproc/ranks.hpp"

/// Ranks of one node that make different calls may write to the same place of a window before they find that out: what
/// lies there is then nobody's. Users' memory has one writer only, its owner.
extern "C" [[gnu::visibility("default")]] const char*
__tsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier): the sanitizer's name
  return "race:umbel::kernels::copy\nrace:store_bytes\nrace:umbel::net::Transport::Impl::deliver\n"
         "race:umbel::net::Transport::Impl::take_in\n";
}

namespace umbel::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::size_t kCount = 4000;  // more than fits into a control line
constexpr int kRanks = 3;

struct Mine {
  Collective collective = Collective::all_reduce;
  std::size_t count = kCount;
  DType dtype = DType::fp32;
  RedOp op = RedOp::sum;
  Rank root = 0;
};

std::vector<Collective> plain_collectives() {
  std::vector<Collective> all;
  for (const Collective c : all_collectives())
    if (plain(c) == c) all.push_back(c);
  return all;
}

/// One rank's; kept until its communicator is gone, since transfers of a failed call may still touch them.
struct Buffers {
  std::vector<double> send = std::vector<double>(2 * kCount * kRanks);
  std::vector<double> recv = std::vector<double>(2 * kCount * kRanks);
};

/// What the calling rank's call, and, if that went well, its next one came to.
std::string two_calls(runtime::Communicator& comm, const Mine& mine, Buffers& buffers) {
  auto& [send, recv] = buffers;
  const std::string first = outcome_of([&] {
    comm.run({.collective = mine.collective,
              .send = send.data(),
              .recv = recv.data(),
              .count = mine.collective == Collective::barrier ? 0 : mine.count,
              .dtype = mine.dtype,
              .op = mine.op,
              .root = mine.root});
  });
  if (!first.empty()) return first;
  return outcome_of([&] { comm.all_reduce(send.data(), recv.data(), 1, DType::fp64, RedOp::sum); });
}

/// Rank `odd` calls `theirs`, the others `ours`. Every rank must come to the mismatch.
void expect_mismatch(const char* nodes, const Mine& ours, const Mine& theirs, Rank odd,
                     const std::function<void(const std::string&)>& look) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::string> texts(kRanks);
  std::vector<Buffers> buffers(kRanks);
  const Outcome outcome = run_ranks(kRanks, test_options(nodes, 20s), [&](runtime::Communicator& comm, Gathering& all) {
    const auto me = static_cast<std::size_t>(comm.info().rank);
    texts[me] = two_calls(comm, comm.info().rank == odd ? theirs : ours, buffers[me]);
    all.barrier();
  });
  // The promise is one second; on a machine with more ranks than cores a bit more, and far from the deadline.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s);
  for (const std::string& text : outcome) EXPECT_EQ(text, "");
  for (const std::string& text : texts) {
    EXPECT_THAT(text, StartsWith("Mismatch"));
    look(text);
  }
}

class Mismatch : public testing::TestWithParam<const char*> {};

TEST_P(Mismatch, OfEveryPairOfCollectives) {
  for (const Collective ours : plain_collectives()) {
    for (const Collective theirs : plain_collectives()) {
      if (ours == theirs) continue;
      const auto turn = static_cast<Rank>((static_cast<int>(ours) + static_cast<int>(theirs)) % kRanks);
      SCOPED_TRACE(fmt::format("{} against {}", name_of(ours), name_of(theirs)));
      expect_mismatch(GetParam(), {.collective = ours}, {.collective = theirs}, turn, [&](const std::string& text) {
        EXPECT_THAT(text, HasSubstr(std::string(name_of(ours))));
        EXPECT_THAT(text, HasSubstr(std::string(name_of(theirs))));
        EXPECT_THAT(text, HasSubstr(fmt::format("rank {}", turn)));
      });
    }
  }
}

TEST_P(Mismatch, OfEachArgument) {
  for (const Collective collective : plain_collectives()) {
    if (collective == Collective::barrier) continue;
    SCOPED_TRACE(std::string(name_of(collective)));
    const Mine ours{.collective = collective};
    expect_mismatch(GetParam(), ours, {.collective = collective, .count = kCount + 1}, 1,
                    [&](const std::string& text) { EXPECT_THAT(text, HasSubstr(std::to_string(kCount + 1))); });
    expect_mismatch(GetParam(), ours, {.collective = collective, .dtype = DType::int32}, 2,
                    [&](const std::string& text) { EXPECT_THAT(text, HasSubstr("int32")); });
    if (reduces(collective))
      expect_mismatch(GetParam(), ours, {.collective = collective, .op = RedOp::max}, 0,
                      [&](const std::string& text) { EXPECT_THAT(text, HasSubstr("max")); });
    if (rooted(collective))
      expect_mismatch(GetParam(), ours, {.collective = collective, .root = 2}, 1,
                      [&](const std::string& text) { EXPECT_THAT(text, HasSubstr("root 2")); });
  }
}

TEST_P(Mismatch, OfTheOrderOfTwoCalls) {
  std::vector<std::string> texts(kRanks);
  std::vector<Buffers> buffers(kRanks);
  const Outcome outcome =
      run_ranks(kRanks, test_options(GetParam(), 20s), [&](runtime::Communicator& comm, Gathering& all) {
        const Rank me = comm.info().rank;
        auto& [send, recv] = buffers[static_cast<std::size_t>(me)];
        texts[static_cast<std::size_t>(me)] = outcome_of([&] {
          for (const std::size_t count : {me == 1 ? kCount : kCount - 1, me == 1 ? kCount - 1 : kCount})
            comm.run({.collective = Collective::broadcast,
                      .send = send.data(),
                      .recv = recv.data(),
                      .count = count,
                      .dtype = DType::fp32});
          comm.run({.collective = Collective::barrier});
        });
        all.barrier();
      });
  for (const std::string& text : outcome) EXPECT_EQ(text, "");
  for (const std::string& text : texts) EXPECT_THAT(text, StartsWith("Mismatch"));
}

TEST_P(Mismatch, NeverOfInPlaceAndOutOfPlace) {
  const Outcome outcome = run_ranks(kRanks, test_options(GetParam()), [&](runtime::Communicator& comm, Gathering&) {
    std::vector<float> send(kCount, 1.0F), recv(kCount);
    for (int turn = 0; turn < 8; ++turn) {
      const bool in_place = (turn >> comm.info().rank & 1) != 0;
      if (in_place) recv.assign(kCount, 1.0F);
      comm.all_reduce(in_place ? recv.data() : send.data(), recv.data(), kCount, DType::fp32, RedOp::sum);
      if (recv.back() != kRanks) throw std::runtime_error("a wrong sum");
    }
  });
  for (const std::string& text : outcome) EXPECT_EQ(text, "");
}

INSTANTIATE_TEST_SUITE_P(On, Mismatch, testing::Values("", "2"),
                         [](const auto& i) { return *i.param == '\0' ? "one_node" : "two_nodes"; });

}  // namespace
}  // namespace umbel::test
