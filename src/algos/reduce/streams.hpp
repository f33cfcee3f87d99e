// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// With which semaphores and in which slots the chunks of each tree go from each rank to the next one. The same on all
// ranks: a parent must know where its child shows what.
#pragma once

#include <vector>

#include "algos/lanes/tree.hpp"
#include "algos/stream.hpp"

namespace umbel::algos::reduce {

class Streams {
 public:
  Streams(const Shape& shape, const Spec& spec, const std::vector<Tree>& trees);

  int kinds() const { return 2 * kinds_; }
  int slots() const { return (out_ + in_) * spec_.depth; }
  /// Folds that a rank does, at the most, and operands of its node that one of them has.
  int folds() const { return folds_; }
  int operands() const { return operands_; }

  /// The stream of tree `t` from `child` to `parent`: the root, if `child` is the tree's top.
  StreamPlace place(std::size_t t, Rank child, Rank peer, int region) const;
  /// Of the trees in which `rank` folds, the number of this one.
  int fold_number(std::size_t t, Rank rank) const { return at(t, rank).fold; }
  /// Whether `parent` reads the leaf's input where it lies.
  bool in_place(std::size_t t, Rank leaf) const { return at(t, leaf).in_place; }

 private:
  struct Edge {
    int kind = 0;           // pairs of kinds: edges between the same two ranks have different ones
    int out = 0;            // streams of the child before this one
    int in = 0;             // streams from other nodes at the parent before this one
    int fold = 0;           // folds of the child before this one
    bool in_place = false;  // read without a slot
  };
  const Edge& at(std::size_t t, Rank child) const { return edges_[t][static_cast<std::size_t>(child)]; }

  Spec spec_;
  std::vector<std::vector<Edge>> edges_;  // by tree and child
  int kinds_ = 0, out_ = 0, in_ = 0, folds_ = 0, operands_ = 0;
};

}  // namespace umbel::algos::reduce
