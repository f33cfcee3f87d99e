// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Known failures that are no single call: values that matter, arguments that do not, shares in odd patterns, a buffer
// that is used again at once. The names in the comments are trackers and numbers; README.md says what went wrong there.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "base/shares.hpp"
#include "inproc/placement.hpp"
#include "inproc/share_cases.hpp"
#include "regressions/regressions.hpp"

namespace umbel::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class Kinds : public testing::TestWithParam<Placement> {
 protected:
  static void run(const std::function<void(runtime::Communicator&)>& work) {
    expect_all_right(run_ranks(GetParam().ranks, test_options(GetParam().nodes),
                               [&](runtime::Communicator& comm, Gathering&) { work(comm); }));
  }
};

/// ompi#8045: a vector unit that saturates gives 32767.
TEST_P(Kinds, SumsOfShortIntegersWrap) {
  run([](runtime::Communicator& comm) {
    const int p = comm.info().ranks;
    for (const std::size_t count : {8, 1000}) {
      by_each_algorithm(comm, {Collective::all_reduce, count, DType::int16}, [&] {
        std::vector<std::int16_t> send(count, 16384), recv(count);
        comm.all_reduce(send.data(), recv.data(), count, DType::int16, RedOp::sum);
        const auto expected = static_cast<std::int16_t>(static_cast<std::uint16_t>(16384U * static_cast<unsigned>(p)));
        demand(std::ranges::count(recv, expected) == static_cast<std::ptrdiff_t>(count), "did not wrap");
      });
      by_each_algorithm(comm, {Collective::all_reduce, count, DType::uint8}, [&] {
        std::vector<std::uint8_t> send(count, 200), recv(count);
        comm.all_reduce(send.data(), recv.data(), count, DType::uint8, RedOp::sum);
        const auto expected = static_cast<std::uint8_t>(200 * p);
        demand(std::ranges::count(recv, expected) == static_cast<std::ptrdiff_t>(count), "did not wrap");
      });
    }
  });
}

runtime::CallArgs nothing_of(Collective collective, std::size_t ranks) {
  runtime::CallArgs args{.collective = collective, .dtype = DType::fp32};
  if (plain(collective) != collective) {
    const Numbers none(ranks, 0);
    args.shares = std::make_shared<const ShareLists>(ShareLists{{none, none}, {none, none}});
  }
  return args;
}

/// pytorch#85234, gloo#356, ompi#100, ompi#12269, mpich#2124, oneCCL#174, rccl#1349: nothing to move, no buffers.
TEST_P(Kinds, NothingNeedsNoBuffersInAnyCollective) {
  run([](runtime::Communicator& comm) {
    for (const Collective collective : all_collectives()) {
      const auto args = nothing_of(collective, static_cast<std::size_t>(comm.info().ranks));
      by_each_algorithm(comm, {collective, 0}, [&] {
        comm.run(args);
        comm.wait(comm.start(args));
      });
      expect_usable(comm);
    }
  });
}

/// ompi#12383, ompi#3422: pointers on ranks where they do not count may be anything; nobody looks at them.
TEST_P(Kinds, PointersThatDoNotCountAreNotLookedAt) {
  run([](runtime::Communicator& comm) {
    const Rank me = comm.info().rank, root = comm.info().ranks - 1;
    std::vector<std::int32_t> whole(2 * static_cast<std::size_t>(comm.info().ranks)), share(2);
    void* const garbage = reinterpret_cast<void*>(std::uintptr_t{8});
    for (const Collective collective : plain_collectives()) {
      if (!rooted(collective)) continue;
      by_each_algorithm(comm, {collective, 2, DType::int32, RedOp::sum, root}, [&] {
        const auto buffer = [&](Part part, std::vector<std::int32_t>& other) -> void* {
          if (part == Part::none) return garbage;
          return part == Part::whole ? whole.data() : other.data();
        };
        std::ranges::fill(whole, 1);
        std::ranges::fill(share, 1);
        std::vector<std::int32_t> result(whole.size());
        const bool is_root = me == root;
        const void* send = buffer(input_part(collective, is_root), share);
        void* recv = output_part(collective, is_root) == Part::none ? garbage : result.data();
        comm.run(
            {.collective = collective, .send = send, .recv = recv, .count = 2, .dtype = DType::int32, .root = root});
        if (output_part(collective, is_root) == Part::none) return;
        const int expected = collective == Collective::reduce ? comm.info().ranks : 1;
        demand(result[0] == expected && result[1] == expected, fmt::format("{}: wrong", name_of(collective)));
      });
    }
  });
}

/// Elements that `from` gives `to`, in a pattern with few pairs.
using Pattern = std::function<std::uint64_t(Rank from, Rank to, Rank ranks)>;

void check_pattern(runtime::Communicator& comm, const Pattern& pattern) {
  const Rank me = comm.info().rank, p = comm.info().ranks;
  Numbers gives, takes;
  std::vector<std::int32_t> send, expected;
  for (Rank r = 0; r < p; ++r) {
    gives.push_back(pattern(me, r, p));
    takes.push_back(pattern(r, me, p));
    send.insert(send.end(), gives.back(), 1000 * me + r);
    expected.insert(expected.end(), takes.back(), 1000 * r + me);
  }
  const auto lists = std::make_shared<const ShareLists>(ShareLists{{gives, packed(gives)}, {takes, packed(takes)}});
  std::vector<std::int32_t> recv(expected.size() + 2, -1);
  comm.run({.collective = Collective::all_to_allv,
            .send = send.empty() ? nullptr : send.data(),
            .recv = expected.empty() ? nullptr : recv.data() + 1,
            .dtype = DType::int32,
            .shares = lists});
  demand(recv.front() == -1 && recv.back() == -1, "wrote outside of the buffer");
  demand(std::equal(expected.begin(), expected.end(), recv.begin() + 1), "a wrong result");
}

/// ompi#12280, ompi#12269: all_to_allv in which few pairs have something for each other.
TEST_P(Kinds, SparseExchanges) {
  const std::vector<Pattern> patterns{
      [](Rank from, Rank to, Rank p) { return from == 0 && to == p - 1 ? 1000U : 0U; },
      [](Rank from, Rank to, Rank p) { return from != to && (from + 1) % p == to ? 3U : 0U; },
      [](Rank from, Rank to, Rank) { return from == to ? 5U : 0U; },
      [](Rank from, Rank to, Rank) { return to == 0 && from % 2 == 1 ? 40'000U : 0U; },
      [](Rank from, Rank to, Rank) { return from + to == 4 ? 1U : 0U; },
      [](Rank, Rank, Rank) { return 0U; },
  };
  run([&](runtime::Communicator& comm) {
    by_each_algorithm(comm, {Collective::all_to_allv, 1, DType::int32}, [&] {
      for (int turn = 0; turn < 3; ++turn)
        for (const Pattern& pattern : patterns) check_pattern(comm, pattern);
    });
    expect_usable(comm);
  });
}

/// torchcomms#477, Aluminum#110, ucc#1254, ompi#14165: v-forms, apart and in-place, nothing written but what is due.
TEST_P(Kinds, UnevenShares) {
  run([](runtime::Communicator& comm) {
    const Rank p = comm.info().ranks;
    std::uint64_t salt = 0;
    for (const Collective form : all_collectives()) {
      if (plain(form) == form) continue;
      by_each_algorithm(comm, {form, 1, DType::int32}, [&] {
        for (const Placed placed : {Placed::apart, Placed::in_place, Placed::at_start}) {
          if (placed == Placed::at_start && form != Collective::reduce_scatterv) continue;
          check_share_case({form, 300, DType::int32, RedOp::sum, rooted(form) ? p - 1 : 0, ++salt}, comm.info().rank, p,
                           placed, salt % 17, [&](const runtime::CallArgs& args) { comm.run(args); });
        }
      });
    }
  });
}

/// jax#40830: the send buffer is written again the moment the call returns.
TEST_P(Kinds, ASendBufferMayBeUsedAgainAtOnce) {
  run([](runtime::Communicator& comm) {
    const auto p = static_cast<std::size_t>(comm.info().ranks);
    for (const std::size_t bytes : {std::size_t{256} << 10U, std::size_t{4} << 20U}) {
      const std::size_t share = bytes / sizeof(double) / p;
      by_each_algorithm(comm, {Collective::reduce_scatter, share, DType::fp64}, [&] {
        std::vector<double> send(share * p), recv(share);
        for (int turn = 1; turn <= 3; ++turn) {
          std::ranges::fill(send, turn);
          comm.run({.collective = Collective::reduce_scatter,
                    .send = send.data(),
                    .recv = recv.data(),
                    .count = share,
                    .dtype = DType::fp64});
          std::ranges::fill(send, std::nan(""));
          demand(std::ranges::count(recv, static_cast<double>(turn) * static_cast<double>(p)) ==
                     static_cast<std::ptrdiff_t>(share),
                 "a sum of what was written afterwards");
        }
      });
    }
  });
}

/// NVSHMEM 3.3.9 (not multiples of 16 B), rccl#1253 and #1556 (of 32 and 128), mscclpp#682: every tail.
TEST_P(Kinds, EveryTail) {
  run([](runtime::Communicator& comm) {
    std::uint64_t salt = 0;
    by_each_algorithm(comm, {Collective::all_reduce, 1, DType::bf16}, [&] {
      for (std::size_t count = 1; count < 140; count += count < 70 && comm.info().ranks < 8 ? 1 : 7) {
        ++salt;
        check_case({Collective::all_reduce, count, salt % 2 == 0 ? DType::int8 : DType::bf16, RedOp::sum, 0, salt},
                   comm.info().rank, comm.info().ranks, Placed::apart, salt % 16,
                   [&](const Case& c, const void* send, void* recv) { comm.run(call_of(c, send, recv)); });
      }
    });
  });
}

/// mpich#6878: communicators of communicators, used beside those that they were made of.
TEST_P(Kinds, APartOfAPart) {
  run([](runtime::Communicator& comm) {
    const auto half = comm.split(comm.info().rank % 2, 0);
    const auto again = half->split(0, -half->info().rank);
    const auto alone = again->split(again->info().rank, 0);
    const auto whole = comm.split(0, comm.info().rank);
    demand(alone->info().ranks == 1 && again->info().ranks == half->info().ranks, "parts of other sizes");
    for (int turn = 0; turn < 3; ++turn)
      for (runtime::Communicator* one : {whole.get(), alone.get(), again.get(), half.get(), &comm}) expect_usable(*one);
  });
}

INSTANTIATE_TEST_SUITE_P(On, Kinds,
                         placed_on({Placement{2, ""}, Placement{2, "2"}, Placement{4, ""}, Placement{5, ""},
                                    Placement{5, "2"}, Placement{6, "3"}, Placement{16, "4"}}),
                         name_of_placement);

/// nccl#1950, pytorch#168092, rocm-systems#7711: of one rank, the last elements of an average were zero.
TEST(OneRank, AveragesToTheLastElement) {
  expect_all_right(run_ranks(1, test_options(), [](runtime::Communicator& comm, Gathering&) {
    for (const DType dtype : {DType::bf16, DType::fp16, DType::fp32, DType::int8})
      for (std::size_t count = 1; count < 4200; count += count < 140 ? 1 : 1009)
        for (const Placed placed : {Placed::apart, Placed::in_place})
          check_case({Collective::all_reduce, count, dtype, RedOp::avg, 0, count}, 0, 1, placed, count % 32,
                     [&](const Case& c, const void* send, void* recv) { comm.run(call_of(c, send, recv)); });
  }));
}

/// mpich#2049: buffers that overlap but are not in-place as the collective has it.
TEST(Overlap, IsRefusedInEveryCollective) {
  expect_all_right(run_ranks(3, test_options(), [](runtime::Communicator& comm, Gathering&) {
    float x[64] = {};
    for (const Collective collective : all_collectives()) {
      if (collective == Collective::barrier) continue;
      runtime::CallArgs args{.collective = collective, .send = x, .recv = x + 1, .dtype = DType::fp32};
      args.count = collective == Collective::all_to_allv ? 0 : 4;
      args.root = rooted(collective) ? comm.info().rank : 0;
      const Numbers fours(3, 4);
      if (plain(collective) != collective)
        args.shares = std::make_shared<const ShareLists>(ShareLists{{fours, packed(fours)}, {fours, packed(fours)}});
      EXPECT_THAT(outcome_of([&] { comm.run(args); }), AllOf(StartsWith("Invalid"), HasSubstr("overlap")))
          << name_of(collective);
    }
    expect_usable(comm);
  }));
}

/// nccl#698: a chunk that divides neither buffer nor block.
TEST(Chunks, ThatDivideNothing) {
  for (const char* nodes : {"", "2"}) {
    auto options = test_options(nodes);
    options.config->chunk_bytes = 4800;
    options.config->piece_bytes = 20'000;
    expect_all_right(run_ranks(4, options, [](runtime::Communicator& comm, Gathering&) {
      for (const Collective collective : {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather}) {
        for (const std::size_t odd : {1, 2, 3}) {  // under a sanitizer each takes another third of the algorithms
          const Case c{collective, 32'768 + odd};
          by_each_algorithm(comm, c, [&] {
            check_case(c, comm.info().rank, 4, Placed::apart, 4,
                       [&](const Case& one, const void* send, void* recv) { comm.run(call_of(one, send, recv)); });
          });
        }
      }
    }));
  }
}

}  // namespace
}  // namespace umbel::test
