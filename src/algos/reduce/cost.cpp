// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/cost.hpp"

#include <algorithm>

#include "algos/reduce/trees.hpp"

namespace umbel::algos::reduce {
namespace {

/// The costs of one chunk of every tree.
class Pace {
 public:
  Pace(const CostQuery& query, const std::vector<Tree>& trees, double chunk)
      : t_(query),
        shape_(query.shape),
        direct_(query.spec.direct),
        chunk_(chunk),
        links_(static_cast<std::size_t>(t_.nodes())),
        work_(static_cast<std::size_t>(t_.ranks())) {
    for (const Tree& tree : trees) {
      double ready = visit(tree, tree.root);
      if (tree.root != query.spec.root) {
        ready += t_.flag() + t_.read(chunk);
        work(query.spec.root) += t_.flag() + t_.read(chunk);
      }
      first_ = std::max(first_, ready);
    }
  }

  /// When the root has the first chunk.
  double first() const { return first_; }
  /// Between one chunk and the next.
  double period() const {
    const double links = t_.wire(chunk_) * *std::ranges::max_element(links_);
    return std::max(links, *std::ranges::max_element(work_));
  }

 private:
  double& work(Rank rank) { return work_[static_cast<std::size_t>(rank)]; }

  /// When what `rank` makes of a chunk is ready.
  double visit(const Tree& tree, Rank rank) {
    double near = 0, far = 0, reads = 0;
    int mates = 0;
    for (Rank child : tree.below(rank)) {
      const double ready = visit(tree, child);
      if (!shape_.same_node(rank, child)) {
        // One message after another over the link, then one's latency.
        far = std::max(far, ready + t_.message()) + t_.post() + t_.wire(chunk_);
        work(rank) += t_.post();
        links_[static_cast<std::size_t>(shape_.node_of(rank))] += 1;
        continue;
      }
      ++mates;
      const bool shows = !direct_ && tree.below(child).empty();
      if (shows) work(child) += t_.copy(chunk_);
      near = std::max(near, ready + (shows ? t_.copy(chunk_) : 0.0));
      reads += direct_ && tree.below(child).empty() ? t_.read_direct(chunk_) : t_.read(chunk_);
    }
    if (tree.below(rank).empty()) return 0;
    const double fold = t_.flags(mates) + reads + t_.fold(chunk_, static_cast<int>(tree.below(rank).size()) + 1);
    work(rank) += fold;
    return std::max(near, far) + fold;
  }

  CostTerms t_;
  const Shape& shape_;
  bool direct_;
  double chunk_;
  double first_ = 0;
  std::vector<double> links_;  // messages that come into each node
  std::vector<double> work_;
};

}  // namespace

double cost_of(const CostQuery& query, const std::vector<Tree>& trees) {
  const CostTerms t(query);
  if (t.ranks() == 1) return t.copy(t.bytes());
  const double block = t.bytes() / static_cast<double>(trees.size());
  const double chunks = t.chunks(block);
  const Pace pace(query, trees, block / chunks);
  // The first chunks of all trees share ranks and links.
  return std::max(pace.first(), pace.period()) + (chunks - 1) * pace.period();
}

}  // namespace umbel::algos::reduce
