// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Small inputs that broke a known library, each a row: against scalar code, by every algorithm that serves it, blocking
// and started. The name of a row begins with the tracker and the number; README.md says what went wrong there.
#include "inproc/placement.hpp"
#include "regressions/regressions.hpp"

namespace umbel::test {
namespace {

struct Row {
  std::string issue;
  int ranks;
  std::string nodes;  // as UMBEL_NODES; "" one node
  Case c;
  Placed placed = Placed::apart;
};

std::string sevens_and_eights() { return "0,0,0,0,0,0,0,1,1,1,1,1,1,1,1"; }

std::vector<Row> rows() {
  using enum Collective;
  using enum Placed;
  constexpr std::size_t kThreeSegmentsAndABit = 3 * 524288 / 4 + 1;
  std::vector<Row> all{
      {"ompi_11441_even", 4, "2", {all_reduce, kThreeSegmentsAndABit}},
      {"ompi_11441_uneven", 4, "0,0,0,1", {all_reduce, kThreeSegmentsAndABit}, in_place},
      {"ompi_14439", 4, "2", {all_reduce, 100, DType::int8}, in_place},
      {"ompi_13736", 16, "2", {all_reduce, 100, DType::int8}, in_place},
      {"ompi_11473", 16, "4", {all_reduce, 100, DType::int8}, in_place},
      {"ompi_1636", 4, "", {reduce_scatter, 1, DType::int32}},
      {"ompi_1636_nodes", 4, "2", {reduce_scatter, 1, DType::int32}},
      {"ompi_1636_crowd", 16, "2", {reduce_scatter, 1, DType::int8}, at_start},
      {"ompi_9761_ring", 8, "", {all_reduce, 3}},
      {"ompi_9761_nodes", 8, "4", {all_reduce, 3}},
      {"ompi_9761_reduce", 8, "", {reduce, 3, DType::fp32, RedOp::sum, 5}},
      {"ompi_2034", 5, "", {all_reduce, 1, DType::fp64_int32, RedOp::maxloc}},
      {"ompi_2034_reduce", 5, "", {reduce, 3, DType::fp64_int32, RedOp::maxloc, 4}},
      {"ompi_3422_reduce", 3, "", {reduce, 9, DType::fp64, RedOp::sum, 1}},
      {"ompi_3422_gather", 3, "2", {gather, 9, DType::fp64, RedOp::sum, 1}},
      {"mpich_6540", 2, "", {reduce, 1, DType::int32, RedOp::sum, 1}, in_place},
      {"mpich_6540_nodes", 2, "2", {reduce, 1, DType::int32, RedOp::sum, 1}, in_place},
      {"mpich_1594", 4, "", {reduce_scatter, 1000, DType::int32}, at_start},
      {"mpich_1594_nodes", 4, "2", {reduce_scatter, 1000, DType::int32}, at_start},
      {"mpich_45bcce60db", 4, "", {broadcast, 5000}},
      {"mpich_759", 5, "2", {reduce_scatter, 33, DType::int32}, in_place},
      {"ucc_1254_all_gather", 4, "2", {all_gather, 700}, in_place},
      {"ucc_1254_all_to_all", 4, "2", {all_to_all, 700}, in_place},
      {"ucc_658", 4, "0,0,0,1", {all_to_all, 1000}},
      {"ucc_658_first", 5, "1,0,0,0,0", {all_to_all, 3}},
      {"ucc_585_15", 15, "", {all_reduce, 4, DType::fp32, RedOp::avg}},
      {"ucc_585_15_nodes", 15, "3", {all_reduce, 1000, DType::fp32, RedOp::avg}},
      {"ucc_585_28", 28, "", {all_reduce, 4, DType::fp32, RedOp::avg}},
      {"torchcomms_287_ints", 3, "", {all_reduce, 7, DType::int32, RedOp::avg}},
      {"torchcomms_287_scattered", 3, "2", {reduce_scatter, 7, DType::int64, RedOp::avg}},
      {"gloo_356", 4, "", {all_gather, 0}},
      {"gloo_356_nodes", 4, "2", {all_gather, 0}},
      {"accl_58", 1, "", {reduce, 5}},
      {"accl_73", 4, "", {all_reduce, 1}},
      {"aluminum_21", 3, "", {all_reduce, 30011}, in_place},
      {"aluminum_22", 3, "2", {reduce, 30011, DType::fp32, RedOp::sum, 2}, in_place},
      {"nccl_413", 3, "", {all_gather, 100'001, DType::int8}},
      {"nccl_2385_all_reduce", 15, sevens_and_eights(), {all_reduce, 5000}},
      {"nccl_2385_all_gather", 15, sevens_and_eights(), {all_gather, 50}},
      {"ompi_14165", 15, sevens_and_eights(), {gather, 50, DType::fp32, RedOp::sum, 8}},
  };
  for (const int ranks : {2, 3, 4})
    all.push_back({fmt::format("ompi_2881_{}", ranks),
                   ranks,
                   "",
                   {reduce, 65536 / 4 + 3, DType::fp32, RedOp::sum, ranks - 1},
                   in_place});
  for (const Collective collective : plain_collectives()) {
    const std::size_t few = collective == barrier ? 0 : 37;
    all.push_back({fmt::format("ucc_981_{}", name_of(collective)), 18, "3", {collective, few, DType::int32}});
    for (const Placed placed : {apart, in_place})
      all.push_back(
          {fmt::format("torch_xpu_ops_1872_{}_{}", name_of(collective), placed == apart ? "apart" : "in_place"),
           1,
           "",
           {collective, few * 100, DType::int32},
           placed});
  }
  return all;
}

class Regression : public testing::TestWithParam<Row> {};

TEST_P(Regression, GivesTheReference) {
  const Row& row = GetParam();
  expect_all_right(run_ranks(row.ranks, test_options(row.nodes), [&](runtime::Communicator& comm, Gathering&) {
    Case c = row.c;
    const auto check = [&](const RunCase& run) {
      ++c.salt;
      check_case(c, comm.info().rank, row.ranks, row.placed, c.salt % 17, run);
    };
    by_each_algorithm(comm, c, [&] {
      check([&](const Case& one, const void* send, void* recv) { comm.run(call_of(one, send, recv)); });
      check([&](const Case& one, const void* send, void* recv) { comm.wait(comm.start(call_of(one, send, recv))); });
    });
  }));
}

INSTANTIATE_TEST_SUITE_P(Small, Regression, placed_on(rows()), [](const auto& i) { return i.param.issue; });

}  // namespace
}  // namespace umbel::test
