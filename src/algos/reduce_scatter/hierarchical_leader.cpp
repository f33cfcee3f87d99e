// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Hierarchical reduce-scatter through leaders: for small shares on several nodes.
//
// Idea. Each node has a leader, its lowest rank. It folds what its mates show of all shares, sends each other node's
// leader the partial results of that node's shares, folds those that come for its own node, and shows the results. One
// hop over the network, N−1 messages a node and no more, and nodes are folded in one go, in any order that is asked
// for.
//
// Names. A mate `shows` a copy of its input in a window slot. The leader folds all into `partial` (with one rank on the
// node, the input is that), an image, from which each node's shares are sent: those that lie together in the order of
// ranks are one message. What comes lies in slots, one for each message; the fold of all goes to the image `result`,
// from where the mates take their shares. All this is written once a call, and nothing must be given back.
//
// Steps 3, one less for an end on a node of one rank; bytes that leave a mate n·p, read by its leader, and a leader
// n(p−S) over the network and n for each of its S−1 mates. Any p on two nodes or more, uneven nodes and racks included,
// any size that the window has room for. Determinism: a node is folded once in rank order, then all nodes in the order
// of their lowest ranks; `ordered`, both as trees. Source: Graham et al., "Cheetah: a framework for scalable
// hierarchical collective operations", 2011.
#include <algorithm>
#include <span>
#include <vector>

#include "algos/builder.hpp"
#include "algos/canonical.hpp"
#include "algos/order.hpp"
#include "algos/reduce_scatter/reduce_scatter.hpp"
#include "algos/schedule.hpp"

namespace umbel::algos::reduce_scatter {
namespace {

constexpr int kShown = 0, kKinds = 1;
enum Image { kPartial, kResult, kImages };

std::vector<Range> shares_of(const Shape& shape, int node) {
  const auto ranks = shape.node_ranks(node);
  return runs_of({ranks.begin(), ranks.end()});
}

/// Messages about the shares of one node, at most.
int most_runs(const Shape& shape) {
  std::size_t most = 0;
  for (int node = 0; node < shape.nodes(); ++node) most = std::max(most, shares_of(shape, node).size());
  return static_cast<int>(most);
}

/// The same on all ranks.
struct Regions {
  int shown, images, arrivals;
  FoldSlots partials;

  Regions(Builder& b, const Spec& spec)
      : shown(b.region(1, b.shape().ranks())),
        images(b.region(kImages, b.shape().ranks(), true)),
        arrivals(b.region(b.shape().nodes() * most_runs(b.shape()), b.shape().largest_node())),
        partials(
            b.fold_region(spec.ordered, std::max(b.shape().largest_node(), b.shape().nodes()), b.shape().ranks())) {}
};

class Leader {
 public:
  Leader(Builder& b, const Regions& regions)
      : b_(b),
        regions_(regions),
        node_(b.shape().node_of(b.rank())),
        mates_(b.shape().peers_of(b.rank()).subspan(1)),
        memory_(b.memory_lane()),
        send_(b.net_lane()),
        recv_(b.net_lane()),
        ready_(mates_.empty() ? Flag{} : b.flag()),
        arrived_(b.flag()) {}

  void write() {
    fold_node();
    exchange();
    const std::vector<Range> own = shares_of(b_.shape(), node_);
    b_.wait(memory_, arrived_.wait, static_cast<int>(own.size()) * (b_.shape().nodes() - 1));
    for (std::size_t run = 0; run < own.size(); ++run) fold_nodes(run, own[run]);
    for (Rank mate : mates_) b_.signal(memory_, b_.tell(kShown, mate));
    const Range mine{.block = fixed(b_.rank())};
    if (!mates_.empty()) b_.copy(memory_, b_.output(mine), image(kResult, mine));
  }

 private:
  Slice image(Image which, const Range& range) const {
    return b_.window(range, b_.rank(), regions_.images, {.base = which});
  }
  /// The own node's part.
  Slice partial(const Range& range) const { return mates_.empty() ? b_.input(range) : image(kPartial, range); }
  Slice arrival(int node, std::size_t run, const Range& range) const {
    return b_.window(range, b_.rank(), regions_.arrivals,
                     {.base = node * most_runs(b_.shape()) + static_cast<int>(run)});
  }

  void fold_node() {
    if (mates_.empty()) return;
    const Range all{.blocks = b_.shape().ranks()};
    std::vector<Slice> operands{b_.input(all)};
    for (Rank mate : mates_) {
      b_.wait(memory_, b_.hear(kShown, mate));
      operands.push_back(b_.window(all, mate, regions_.shown, {}));
    }
    b_.fold_as_tree(memory_, all, image(kPartial, all), operands, false, regions_.partials);
    b_.signal(memory_, ready_.raise);
    b_.wait(send_, ready_.wait);
  }

  /// With the leaders of the nodes after the own one, and of those before it.
  void exchange() {
    const int nodes = b_.shape().nodes();
    const std::vector<Range> own = shares_of(b_.shape(), node_);
    for (int k = 1; k < nodes; ++k) {
      const int to = (node_ + k) % nodes, from = modulo(node_ - k, nodes);
      for (const Range& range : shares_of(b_.shape(), to))
        b_.send(send_, partial(range), b_.shape().node_ranks(to).front(), 0);
      for (std::size_t run = 0; run < own.size(); ++run)
        b_.recv(recv_, arrival(from, run, own[run]), b_.shape().node_ranks(from).front(), 0, arrived_.raise);
    }
  }

  void fold_nodes(std::size_t run, const Range& range) {
    std::vector<Slice> operands;
    for (int node = 0; node < b_.shape().nodes(); ++node)
      operands.push_back(node == node_ ? partial(range) : arrival(node, run, range));
    const Slice into = mates_.empty() ? b_.output(range) : image(kResult, range);
    b_.fold_as_tree(memory_, range, into, operands, true, regions_.partials);
  }

  Builder& b_;
  const Regions& regions_;
  int node_;
  std::span<const Rank> mates_;
  LaneRef memory_, send_, recv_;
  Flag ready_;    // the node's part is folded; heard by the send lane
  Flag arrived_;  // another node's part has come
};

void write_mate(Builder& b, const Regions& regions) {
  const Rank leader = b.shape().peers_of(b.rank()).front();
  const LaneRef lane = b.memory_lane();
  const Range own{.block = fixed(b.rank())}, all{.blocks = b.shape().ranks()};
  b.copy(lane, b.window(all, b.rank(), regions.shown, {}), b.input(all));
  b.signal(lane, b.tell(kShown, leader));
  b.wait(lane, b.hear(kShown, leader));
  b.copy(lane, b.output(own), b.window(own, leader, regions.images, {.base = kResult}));
}

Program build(Rank rank, const Shape& shape, const Spec& spec) {
  Builder b(rank, shape, {.collective = Collective::reduce_scatter}, kKinds);
  const Regions regions(b, spec);
  if (rank == shape.peers_of(rank).front()) {
    Leader(b, regions).write();
  } else {
    write_mate(b, regions);
  }
  return b.finish();
}

std::string refuses(const Shape& shape, const Spec&) {
  if (shape.nodes() < 2) return "needs at least two nodes";
  if (shape.nodes() > kMaxSources) return "serves at most 256 nodes";
  return shape.largest_node() > kMaxSources ? "serves at most 256 ranks a node" : "";
}

Traffic traffic(const Shape& shape, const Spec&) {
  const int p = shape.ranks();
  int large = 0;  // nodes with several ranks
  for (int node = 0; node < shape.nodes(); ++node) large += shape.node_ranks(node).size() > 1 ? 1 : 0;
  return {.steps = 1 + std::min(2, large), .sent = static_cast<double>(large > 0 ? p : p - 1)};
}

bool canonical(const Shape& shape, const Spec& spec) {
  const bool trees = spec.ordered;
  std::vector<Span> nodes;
  for (int node = 0; node < shape.nodes(); ++node) {
    const auto ranks = shape.node_ranks(node);
    const std::vector<Span> operands = spans_of({ranks.begin(), ranks.end()});
    nodes.push_back(trees ? fold_as_tree(operands) : fold(operands));
  }
  return (trees ? fold_as_tree(nodes) : fold(nodes)).canonical(shape);
}

double cost(const CostQuery& query) {
  const CostTerms t(query);
  const double n = t.bytes(), all = n * t.ranks();
  const int nodes = t.nodes(), ranks = query.shape.largest_node();
  const double bundle = n * ranks;
  if (ranks == 1) {
    Schedule schedule(query);  // what comes in is what goes out
    const Schedule::Task folded = schedule.work(0, t.fold(n, nodes));
    for (int node = 1; node < nodes; ++node) schedule.after(folded, schedule.send(0, 0, n));
    return schedule.run();
  }
  const double inside = 2 * t.flags(ranks - 1) + (t.copy(all) + (ranks - 1) * t.read(all)) * t.spill(all) +
                        t.fold(all, ranks) + t.read(n);
  return inside + t.burst((nodes - 1) * most_runs(query.shape)) + (nodes - 1) * t.wire(bundle) + t.fold(bundle, nodes);
}

}  // namespace

Algorithm hierarchical_leader() {
  Algorithm algorithm = on_several_nodes(
      {.name = "hierarchical_leader",
       .summary = "a leader folds its node's operands, leaders fold the nodes', mates take their shares",
       .steps = "3",
       .sent = "n·p by a mate, n(p−1) by a leader",
       .source = "Graham et al. 2011",
       .collective = Collective::reduce_scatter},
      {build, traffic, canonical, cost});
  algorithm.refuses = refuses;
  return algorithm;
}

}  // namespace umbel::algos::reduce_scatter
