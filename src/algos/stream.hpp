// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// A stream of messages from one rank to another that hides where the other rank is.
//
//   same node   sender:   wait free → write a slot of its own window → signal filled
//               receiver: wait filled → read the slot → signal free            (free starts with `depth` credits)
//   over a net  sender:   signal ready; its net lane: wait ready → send from where the data lies
//               receiver: its net lane: wait free → receive into a slot of its own window, then signal arrived;
//                         wait arrived → read the slot → signal free
//
// Slots go by the count of signals consumed, so loops of any length work.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "algos/builder.hpp"

namespace umbel::algos {

struct StreamPlace {
  Rank peer = -1;    ///< the other end
  int kind = 0;      ///< semaphore kinds `kind` (filled) and `kind` + 1 (free)
  int region = 0;    ///< of the slots
  int out_slot = 0;  ///< first slot in the sender's window, when the ends share a node
  int in_slot = 0;   ///< first slot in the receiver's window, when they do not
  int depth = 1;
  int channel = 0;
  bool direct = false;  ///< Fanout and Landing: node-mates read the sender's output in place; `free` comes at the end
};

/// The sender's end. `memory` is the lane that has the data, `net` the lane that sends; not used when the peer is
/// local.
class Outbox {
 public:
  Outbox(Builder& builder, LaneRef memory, LaneRef net, const StreamPlace& place);

  bool local() const { return local_; }

  /// Sends `src`, which stands for `range`. `released` is raised once the elements may be overwritten.
  void push(const Slice& src, const Range& range, Raise released = {});

  /// Sends `src` when `after` (if any) is signalled, when the memory lane does nothing else that comes before. The lane
  /// that waits for it is the memory lane if the peer is local, else the net lane.
  void pass(const Slice& src, const Range& range, Wait after, Raise released = {});

  /// Waits until a local peer is through with all that was sent. The last call: others may then use the slots.
  void drain() { builder_.wait(memory_, free_, place_.depth); }

  /// Sends what `write(slot)` puts into a slot of this rank's window.
  template <class Write>
  void produce(const Range& range, Write&& write) {
    write(claim(range));
    publish(range);
  }

 private:
  Flag& ready();
  Slice claim(const Range& range);
  void publish(const Range& range);
  Slice slot(const Range& range, Wait turn) const;

  Builder& builder_;
  LaneRef memory_, net_;
  StreamPlace place_;
  bool local_;
  Wait free_{};       // credits of the slots
  Raise returned_{};  // over a net: raised by a transfer that has left its slot
  Raise filled_{};
  Flag ready_{};  // over a net, made when it is needed
};

/// Sends one message to several ranks: local ones read the same slot (or, direct, the output), the others are sent to
/// from where the data lies. Receivers on the node see a stream of this place.
class Fanout {
 public:
  /// `place.peer` is not looked at.
  Fanout(Builder& builder, LaneRef memory, LaneRef net, const StreamPlace& place, std::span<const Rank> peers);

  bool has_local() const { return !filled_.empty(); }
  bool has_remote() const { return !remote_.empty(); }

  /// Sends `src`, which stands for `range`, when `after` (if any) is signalled. The lane that waits for it is the
  /// memory lane if there are local peers, else the net lane.
  void push(const Slice& src, const Range& range, Wait after = {});

  /// Direct: waits until all has been read. To be called last.
  void finish();

 private:
  Builder& builder_;
  LaneRef memory_, net_;
  StreamPlace place_;
  std::vector<Wait> free_;
  std::vector<Raise> filled_;
  std::vector<Rank> remote_;
  Flag ready_{};
};

/// Semaphores of receive slots that several inboxes share: their messages come in the order of the front() calls.
struct Pool {
  Flag credits{};
  Flag arrived{};
};
Pool make_pool(Builder& builder, int depth);

/// The receiver's end.
class Inbox {
 public:
  Inbox(Builder& builder, LaneRef memory, LaneRef net, const StreamPlace& place, Pool pool = {});

  bool local() const { return local_; }

  /// Waits for the next message, which stands for `range`, and says where it lies.
  Slice front(const Range& range);
  /// Gives the slot of the last front() back.
  void pop();

 private:
  Builder& builder_;
  LaneRef memory_, net_;
  StreamPlace place_;
  bool local_;
  Pool pool_;
  Wait filled_{};
  Raise free_{};
};

/// The receiver's end when all goes straight into the output.
class Landing {
 public:
  Landing(Builder& builder, LaneRef memory, LaneRef net, const StreamPlace& place);

  bool local() const { return local_; }

  /// Takes the next message, which stands for `range`; over a net when `free` (if any) is signalled.
  /// @param heeded  over a net: whether somebody will wait for it
  /// @return that wait; none when the memory lane itself has put the elements there.
  Wait take(const Range& range, bool heeded, Wait free = {});

  /// Direct: tells the sender that all has been read. To be called last.
  void finish();

 private:
  Builder& builder_;
  LaneRef memory_, net_;
  StreamPlace place_;
  bool local_;
  std::optional<Inbox> slots_{};
  Flag landed_{};
};

/// Receives one message from each of several ranks at a time: their slots are given out, filled and given back
/// together.
class Intake {
 public:
  /// `places` in the order in which front() returns slots. Places over a net share `pool`, made when it is not given.
  Intake(Builder& builder, LaneRef memory, LaneRef net, std::vector<StreamPlace> places, Pool pool = {});

  /// Waits for the next message of each, which stand for `range`, and says where they lie.
  std::vector<Slice> front(const Range& range);
  /// Gives the slots of the last front() back.
  void pop();

 private:
  bool local(const StreamPlace& place) const { return builder_.shape().same_node(builder_.rank(), place.peer); }

  Builder& builder_;
  LaneRef memory_, net_;
  std::vector<StreamPlace> places_;
  std::vector<Inbox> near_;  // of local places
  Rank last_ = -1;           // the last place over a net
  Pool pool_;
};

}  // namespace umbel::algos
