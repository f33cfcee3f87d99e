// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Every v-form with ranks as threads: every algorithm that serves shares of different lengths, every placement, root
// and in-place form, against scalar code.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "algos/algorithm.hpp"
#include "inproc/placement.hpp"
#include "inproc/ranks.hpp"
#include "inproc/share_cases.hpp"

namespace umbel::test {
namespace {

void expect_all_right(const Outcome& outcome) {
  for (std::size_t rank = 0; rank < outcome.size(); ++rank) EXPECT_EQ(outcome[rank], "") << "rank " << rank;
}

std::vector<Collective> v_forms() {
  std::vector<Collective> all;
  for (const Collective c : all_collectives())
    if (plain(c) != c) all.push_back(c);
  return all;
}

Placed placed_by(std::uint64_t bits, Collective collective) {
  if (bits % 3 == 0) return Placed::apart;
  return collective == Collective::reduce_scatterv && bits % 3 == 1 ? Placed::at_start : Placed::in_place;
}

void check_on(runtime::Communicator& comm, const Case& c, std::uint64_t bits) {
  check_share_case(c, comm.info().rank, comm.info().ranks, placed_by(bits, c.collective), bits % 17,
                   [&](const runtime::CallArgs& args) { comm.run(args); });
}

class EveryShareForm : public testing::TestWithParam<Placement> {};

TEST_P(EveryShareForm, GivesTheReferenceByEveryAlgorithm) {
  const int p = GetParam().ranks;
  expect_all_right(run_ranks(p, test_options(GetParam().nodes), [&](runtime::Communicator& comm, Gathering&) {
    std::uint64_t salt = 0;
    for (const Collective form : v_forms()) {
      int served = 0;
      for (const algos::Algorithm& algorithm : algos::catalog(form)) {
        if (!comm.refuses(algorithm.name, {.collective = form, .count = 1}).empty()) continue;
        ++served;
        comm.set_algorithm(fmt::format("{}:{}", name_of(form), algorithm.name));
        for (Rank root = 0; root < (rooted(form) ? p : 1); ++root) {
          for (const std::size_t count : {0, 1, 5, 700, 20011}) {
            ++salt;
            const DType dtype = salt % 2 == 0 ? DType::fp32 : all_dtypes()[salt % kDTypeCount];
            check_on(comm, {form, count, dtype, serves(RedOp::sum, dtype) ? RedOp::sum : RedOp::minloc, root, salt},
                     scrambled(salt * 64 + static_cast<std::uint64_t>(comm.info().rank)));
            if (comm.last_call().algorithm != algorithm.name)
              throw std::runtime_error(fmt::format("asked for {}, ran {}", algorithm.name, comm.last_call().algorithm));
          }
        }
      }
      if (served == 0) throw std::runtime_error(fmt::format("nothing serves {}", name_of(form)));
    }
  }));
}

TEST_P(EveryShareForm, ManyInARowWithSkewAndOthersBetweenThem) {
  const int p = GetParam().ranks;
  expect_all_right(run_ranks(p, test_options(GetParam().nodes), [&](runtime::Communicator& comm, Gathering&) {
    const std::vector<Collective> forms = v_forms();
    const auto me = static_cast<std::uint64_t>(comm.info().rank);
    for (std::uint64_t k = 0; k < 200; ++k) {
      const std::uint64_t mine = scrambled(k * 1009 + me);
      if (mine % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(mine / 16 % 500));
      const Collective form = forms[scrambled(k) % forms.size()];
      // By turns what the model chooses, and what begins with a round of counts in the node.
      if (k % 16 == 0) comm.set_algorithm(k / 16 % 2 == 0 || comm.info().nodes == 1 ? "auto" : "hierarchical_bundles");
      const std::size_t most = scrambled(k * 3 + 1) % 6 == 0 ? 9000 : 40;
      const auto root = static_cast<Rank>(rooted(form) ? scrambled(k * 5) % static_cast<unsigned>(p) : 0);
      check_on(comm, {form, most, DType::int32, RedOp::sum, root, k}, mine / 64);
      if (k % 7 == 0)
        check_case(
            {Collective::all_reduce, 30, DType::int32, RedOp::sum, 0, k}, comm.info().rank, p, Placed::apart, 0,
            [&](const Case& c, const void* send, void* recv) { comm.all_reduce(send, recv, c.count, c.dtype, c.op); });
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(On, EveryShareForm,
                         placed_on({Placement{1, ""}, Placement{2, ""}, Placement{3, ""}, Placement{5, ""},
                                    Placement{2, "2"}, Placement{4, "0,1,0,1"}, Placement{4, "1,1,0,0"},
                                    Placement{3, "3"}, Placement{5, "1,0,0,1,2"},
                                    Placement{6, "0/0,0/1,1/0,1/1,1/2,1/2"}, Placement{7, "1,0,0,1,2,0,1"}}),
                         name_of_placement);

TEST(ShareForms, ThatWereStarted) {
  expect_all_right(run_ranks(3, test_options("2"), [](runtime::Communicator& comm, Gathering&) {
    for (const Collective form : v_forms())
      check_share_case({form, 3000, DType::fp32, RedOp::sum, rooted(form) ? 1 : 0, 5}, comm.info().rank, 3,
                       Placed::apart, 0, [&](const runtime::CallArgs& args) { comm.wait(comm.start(args)); });
  }));
}

TEST(ShareForms, OfHalfFloatsInReproducibleMode) {
  runtime::CommOptions options = test_options("2");
  options.reproducible = true;
  expect_all_right(run_ranks(4, options, [](runtime::Communicator& comm, Gathering&) {
    for (std::uint64_t salt = 1; salt < 7; ++salt)
      check_on(comm, {Collective::reduce_scatterv, 900, DType::fp16, salt % 2 == 0 ? RedOp::sum : RedOp::avg, 0, salt},
               scrambled(salt * 64 + static_cast<std::uint64_t>(comm.info().rank)));
  }));
}

}  // namespace
}  // namespace umbel::test
