// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Sends, receives and groups of them through the C ABI and the C++ layer, with ranks as processes, in every placement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "layouts.hpp"

namespace {

using namespace umbel;
using ::testing::HasSubstr;

constexpr std::size_t kCounts[] = {0, 1, 1025, 30'001, 400'003};

std::vector<std::int32_t> payload(int from, int to, std::size_t count) {
  std::vector<std::int32_t> data(count);
  std::iota(data.begin(), data.end(), 1000 * from + to);
  return data;
}

class PointToPoint : public ::testing::Test {
 protected:
  /// Runs `body` on a communicator of each placement, and closes it.
  template <class Body>
  void everywhere(Body&& body) {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (const test::Layout& layout : test::layouts_for(ranks)) {
      SCOPED_TRACE(layout.name);
      Comm comm = test::make_comm(layout.nodes);
      body(comm, comm.rank(), comm.ranks());
      comm.close();
    }
  }
};

TEST_F(PointToPoint, SendrecvAroundARing) {
  everywhere([](Comm& comm, int me, int p) {
    for (const std::size_t count : kCounts) {
      const int right = (me + 1) % p, left = (me + p - 1) % p;
      std::vector<std::int32_t> in(count);
      comm.sendrecv(payload(me, right, count), right, in, left);
      EXPECT_EQ(in, payload(left, me, count)) << count;
    }
  });
}

TEST_F(PointToPoint, SendsAlongALine) {
  everywhere([](Comm& comm, int me, int p) {
    for (const std::size_t count : kCounts) {
      std::vector<std::int32_t> data = payload(0, 0, count);
      if (me > 0) {
        data.assign(count, -1);
        comm.recv(data, me - 1);
      }
      if (me + 1 < p) comm.send(data, me + 1);
      EXPECT_EQ(data, payload(0, 0, count)) << count;
    }
  });
}

TEST_F(PointToPoint, AllPairsInAGroup) {
  everywhere([](Comm& comm, int me, int p) {
    for (const std::size_t count : kCounts) {
      std::vector<std::vector<std::int32_t>> out, in(static_cast<std::size_t>(p), std::vector<std::int32_t>(count));
      for (int peer = 0; peer < p; ++peer) out.push_back(payload(me, peer, count));
      comm.group_start();
      for (int peer = 0; peer < p; ++peer) {
        comm.recv(in[static_cast<std::size_t>(peer)], peer);
        comm.send(out[static_cast<std::size_t>(peer)], peer);
      }
      comm.group_end();
      for (int peer = 0; peer < p; ++peer)
        EXPECT_EQ(in[static_cast<std::size_t>(peer)], payload(peer, me, count)) << count << " from " << peer;
    }
  });
}

TEST_F(PointToPoint, MisuseIsRefusedAndTheCommunicatorStaysUsable) {
  Comm comm = test::make_comm("1");
  const int me = comm.rank(), p = comm.ranks();
  const std::string whose = " (rank " + std::to_string(me) + ")";
  std::int32_t x = 0;
  EXPECT_EQ(umbel_send(&x, 1, UMBEL_INT32, p, comm.native()), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_last_error(),
            "umbel_send: peer " + std::to_string(p) + " is none of the ranks 0 … " + std::to_string(p - 1) + whose);
  EXPECT_EQ(umbel_recv(nullptr, 1, UMBEL_INT32, 0, comm.native()), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_last_error(), "umbel_recv: recv is NULL while count is 1" + whose);
  EXPECT_EQ(umbel_recv(&x, 1, static_cast<umbel_dtype_t>(UMBEL_INT16_INT32 + 1), 0, comm.native()),
            UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_send(&x, 1, UMBEL_INT32, 0, nullptr), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_group_end(comm.native()), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(umbel_group_start(comm.native()), UMBEL_SUCCESS);
  EXPECT_EQ(umbel_barrier(comm.native()), UMBEL_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(umbel_last_error(), HasSubstr("a collective in a group"));
  EXPECT_EQ(umbel_group_end(comm.native()), UMBEL_SUCCESS);
  comm.barrier();
  comm.close();
}

}  // namespace
