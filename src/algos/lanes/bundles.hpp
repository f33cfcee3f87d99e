// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What nodes send each other for all their ranks: bundles of shares (base/program.hpp), each a stream of chunks from
// one rank to another. The `hierarchical_bundles` of gather, scatter and all_to_all differ in what is in a bundle, and
// in who sends it to whom.
//
//   give     every rank of the sending node that has shares in it writes its part of a chunk into a slot of the
//            sender's window: `filled`
//   send     when all have, the sender sends the chunk as one message
//   recycle  when that has left, it gives the slot back to all: `free`
//   receive  the receiver takes the message into a slot of its own window
//   show     and shows it to every rank of its node that gets shares
//   take     each copies its part to its output, and gives the slot back: `read`
//
// All that look at a bundle know the lengths of its shares (Binding::bundles), so they agree on the number of chunks:
// no message carries a length. In a v-form a bundle without elements is no message at all.
//
// Slots. A rank has `depth` slots for what it sends and as many for what it receives, one chunk each, whatever the
// number of bundles: these go through one after another, in an order in which all nodes turn to different ones. Nobody
// waits for ever: what a bundle waits for comes before it in everybody's order.
#pragma once

#include <vector>

#include "algos/builder.hpp"

namespace umbel::algos {

/// A bundle, as the ranks of one of its two nodes see it.
struct BundleStream {
  Rank sender = -1, receiver = -1;
  std::vector<Rank> owners{};  ///< of the items: who gives, or takes; the same for all bundles of this side's end
  std::vector<BundleItem> items{};
};

/// The bundles of a rank's node, in order.
struct BundleStreams {
  std::vector<BundleStream> sent{}, received{};
  int most = 0;  ///< shares in the largest bundle of any node; 0: there are none
};

/// Semaphore kinds from `first_kind` on that are theirs.
inline constexpr int kBundleKinds = 4;

/// Writes the lanes of one rank. To be called on every rank: all have the slots.
void write_bundles(Builder& builder, int first_kind, int depth, const BundleStreams& streams);

}  // namespace umbel::algos
