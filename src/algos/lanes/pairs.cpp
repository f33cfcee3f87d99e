// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/lanes/pairs.hpp"

#include <algorithm>

#include "algos/order.hpp"
#include "algos/stream.hpp"

namespace umbel::algos {
namespace {

enum Kind { kFilled, kFree, kEntered = kFilled, kLeft = kFree };
constexpr int kChannel = 0;

class Pairs {
 public:
  Pairs(Builder& b, const PairsSetup& setup)
      : b_(b),
        setup_(setup),
        give_(b.memory_lane()),
        take_(b.memory_lane()),
        send_(b.net_lane()),
        receive_(b.net_lane()) {
    if (!setup.direct && setup.groups > 0) region_ = b.region(setup.groups * setup.depth);
  }

  void write() {
    send();
    receive();
    if (setup_.direct) {
      read();
    } else {
      give();
      if (setup_.own) keep();
      take();
    }
  }

 private:
  bool local(Rank peer) const { return b_.shape().same_node(b_.rank(), peer); }

  /// The share that `to` gets of this rank's input, and where that from `from` belongs in the output.
  Range given(Rank to) const {
    return {.block = fixed(setup_.collective == Collective::gather ? b_.rank() : to), .lengths = Buffer::input};
  }
  Range got(Rank from) const {
    return {.block = fixed(setup_.collective == Collective::scatter ? b_.rank() : from), .lengths = Buffer::output};
  }

  template <class Body>
  void each_chunk(Range range, Body&& body) {
    b_.each_chunk_of(range, range.lengths, [&](Counter k) {
      range.chunk = counted(k);
      body(range);
    });
  }

  void send() {
    for (Rank to : setup_.to)
      if (!local(to)) each_chunk(given(to), [&](const Range& chunk) { b_.send(send_, b_.input(chunk), to, kChannel); });
  }

  void receive() {
    for (Rank from : setup_.from)
      if (!local(from))
        each_chunk(got(from), [&](const Range& chunk) { b_.recv(receive_, b_.output(chunk), from, kChannel); });
  }

  void keep() {
    each_chunk(got(b_.rank()), [&](const Range& chunk) { b_.copy(take_, b_.output(chunk), b_.input(chunk)); });
  }

  /// A sender turns to its mates in the order of the node, beginning after itself.
  StreamPlace place(Rank peer, Rank sender, Rank receiver) const {
    const Shape& shape = b_.shape();
    const auto mates = static_cast<int>(shape.peers_of(sender).size());
    const int turn = modulo(shape.local_index(receiver) - shape.local_index(sender) - 1, mates);
    return {.peer = peer,
            .kind = kFilled,
            .region = region_,
            .out_slot = turn % setup_.groups * setup_.depth,
            .depth = setup_.depth};
  }

  void give() {
    std::vector<Outbox> streams;
    const auto groups = static_cast<std::size_t>(setup_.groups);
    for (Rank to : setup_.to) {
      if (!local(to)) continue;
      if (streams.size() >= groups) streams[streams.size() - groups].drain();
      Outbox& stream = streams.emplace_back(b_, give_, send_, place(to, b_.rank(), to));
      each_chunk(given(to), [&](const Range& chunk) { stream.push(b_.input(chunk), chunk); });
    }
  }

  void take() {
    for (Rank from : setup_.from) {
      if (!local(from)) continue;
      Inbox stream(b_, take_, receive_, place(from, from, b_.rank()));
      each_chunk(got(from), [&](const Range& chunk) {
        b_.copy(take_, b_.output(chunk), stream.front(chunk));
        stream.pop();
      });
    }
  }

  void read() {
    for (Rank to : setup_.to)
      if (local(to)) b_.signal(take_, b_.tell(kEntered, to));
    if (setup_.own) keep();
    for (Rank from : setup_.from) {
      if (!local(from)) continue;
      b_.wait(take_, b_.hear(kEntered, from));
      each_chunk(got(from), [&](const Range& chunk) {
        Range theirs = chunk;
        theirs.block = fixed(setup_.collective == Collective::gather ? from : b_.rank());
        b_.copy(take_, b_.output(chunk), b_.input(theirs, from));
      });
      b_.signal(take_, b_.tell(kLeft, from));
    }
    for (Rank to : setup_.to)
      if (local(to)) b_.wait(take_, b_.hear(kLeft, to));
  }

  Builder& b_;
  const PairsSetup& setup_;
  LaneRef give_, take_, send_, receive_;
  int region_ = -1;
};

}  // namespace

PairsSetup pairs_of_all(Rank rank, const Shape& shape, const Spec& spec, int groups) {
  PairsSetup setup{
      .to = others_in_turn(rank, shape.ranks()), .groups = groups, .depth = spec.depth, .direct = spec.direct};
  setup.from.assign(setup.to.rbegin(), setup.to.rend());
  return setup;
}

PairsSetup pairs_with_root(Collective collective, Rank rank, const Shape& shape, const Spec& spec) {
  PairsSetup setup{.collective = collective, .own = rank == spec.root, .depth = spec.depth, .direct = spec.direct};
  // Only a scatter's root has several streams.
  const int streams = collective == Collective::scatter ? static_cast<int>(shape.peers_of(spec.root).size()) - 1 : 1;
  setup.groups = shape.peers_of(spec.root).size() > 1 ? streams : 0;
  const bool gives = (collective == Collective::scatter) == (rank == spec.root);
  std::vector<Rank>& others = gives ? setup.to : setup.from;
  others = rank == spec.root ? others_in_turn(rank, shape.ranks()) : std::vector<Rank>{spec.root};
  return setup;
}

void write_pairs(Builder& builder, const PairsSetup& setup) { Pairs(builder, setup).write(); }

double shares_over_a_link(const Shape& shape) {
  double most = 0;
  for (int node = 0; node < shape.nodes(); ++node) {
    const auto ranks = static_cast<double>(shape.node_ranks(node).size());
    most = std::max(most, ranks * (shape.ranks() - ranks));
  }
  return most;
}

Program build_pairs(Rank rank, const Shape& shape, const Spec& spec, const PairsSetup& setup) {
  Builder b(rank, shape, {.collective = setup.collective, .root = spec.root, .chunks = true}, kPairKinds);
  write_pairs(b, setup);
  return b.finish();
}

}  // namespace umbel::algos
