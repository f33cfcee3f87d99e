// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What happens when a call does not go as it should: ranks that called with different arguments, that never called,
// that stopped, that died. One object per communicator; used inside its calls, by the calling thread.
//
// Time inside one wait:
//   every look   has somebody failed the communicator? (a flag in this rank's own window)
//   100 ms on    do the processes of the node still live?
//   200 ms on    the stall protocol: read the control lines of the node, ask the other nodes (any rank answers for its
//                node-mates, inside its own waits), compare; a difference is a mismatch. Questions become rarer: up to
//                2 s apart. Asked are ranks that there is a connection to, and one or two more per node.
//                In a call that is counted by pairs they also tell what they give the one who asks, and take from it.
//   1 s on       a heartbeat to each partner on another node, so that a broken connection is noticed
//   10 s on      a partner that is inside this call, that we wait for, and of which nothing was heard: a failure
//   deadline     a report of every rank's state
//
// Whoever finds a failure writes it to every window of its node (the first one stays) and sends it to the other nodes;
// each rank that learns of it sends it on once, to the ranks that it has a connection to.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/members.hpp"

namespace umbel::runtime {

/// What can be told of a rank, from the point of view of operation `seq`. Plain data: node-mates answer for each other.
struct RankState {
  std::int32_t rank = -1;
  char process = '?';  ///< process_state; '?' not known
  bool known = false;
  bool entered = false;    ///< it is, or has been, inside the operation; `summary` is valid
  bool closed = false;     ///< it has destroyed the communicator
  std::uint64_t done = 0;  ///< its last finished operation
  net::CallSummary summary;
  net::CallSummary previous;  ///< of the operation before it; valid when `tells_previous`
  bool tells_previous = false;
  PairCounts pair;  ///< with the one who asks; where `entered`, of a call that is counted by pairs

  /// Takes over what was said later; that it has entered, and with what, stays known.
  void learn(const RankState& said);
};

class Health {
 public:
  Health(Members& members, std::chrono::nanoseconds timeout);

  /// At the start of a call, before anything else of it. @throws the communicator's failure
  void enter(std::uint64_t seq, const net::CallSummary& summary);
  /// Has somebody failed the communicator? One load.
  bool failed() const noexcept { return own_cell_->state.load(std::memory_order_relaxed) != 0 || mismatch_seen_; }
  /// Outside a call, whose last number was `seq`: has anybody failed or died? Does not wait. @throws PeerFailure, …
  void check(std::uint64_t seq);
  /// Inside a call: looks after everything above. @throws what there is to throw
  void look(std::chrono::nanoseconds waited);

  /// Collects what the ranks say for a moment, names the odd one, fails the communicator.
  [[noreturn]] void mismatch();
  /// Fails the communicator on all ranks with `text`.
  [[noreturn]] void fail(FailureKind kind, const std::string& text);
  /// @pre failed(). Tells the other nodes once.
  [[noreturn]] void throw_failure();
  /// Fails the communicator after `error`, which ended this rank's work in it: the others must not wait for this rank.
  /// Where the communicator has failed already, it is that failure that is thrown. A process that is killed loses its
  /// memory a moment before it ends, and to read there is then an error: so an error of the system waits that moment
  /// for somebody to be found dead.
  /// @param loss  tells of a partner that is lost, as for FailureKind::peer; nullopt while none is known to be
  [[noreturn]] void fail_after(const std::exception& error, const std::function<std::optional<std::string>()>& loss);
  /// Of a collective: a node-mate that will never do its part of the present one.
  std::optional<std::string> loss() const;

  /// What has become of a node-mate that will send and receive no more: "died", …; "" while it may. To be asked before
  /// the last look at what it has sent.
  std::string fate_of(Rank rank) const;
  /// What is known of a rank, for reports: "has finished 3 collectives, its process is stopped".
  std::string known_of(Rank rank);
  std::chrono::nanoseconds timeout() const { return timeout_; }
  /// A giver and a taker have different counts. `of` what the one gives the other, and what that takes.
  [[noreturn]] void fail_pair(Rank giver, Rank taker, PairCounts of);
  /// The counts of a bundle that `sender` sends this rank are not those that this rank has. `of` all its elements.
  [[noreturn]] void fail_bundle(Rank sender, PairCounts of);
  /// Of a call that is counted by pairs, when this rank is through: do those node-mates that have published their
  /// counts agree? Of a pair that differs without either waiting, the later one learns it here. @throws the mismatch
  void compare_at_end();
  /// Looks at the messages that wait for a receive. @throws where one tells of a pair that differs
  void review_unexpected();

  /// Rank `peer` is in the same operation with other arguments; the next look deals with it.
  void note_mismatch(Rank peer, const net::CallSummary& found);
  /// Answers what other nodes have asked. To be called after each progress of the transport.
  void serve() {
    if (!questions_.empty()) answer_all();
  }

  /// From now on the transport's handlers are these. @pre this object stays where it is as long as the transport lives
  void listen();
  void on_control(Rank peer, std::uint32_t type, std::span<const std::byte> bytes);
  void on_unexpected(const net::MessageKey& key, const net::CallSummary& summary);

 private:
  using Clock = std::chrono::steady_clock;

  /// @param asker  who wants to know
  RankState state_of_local(Rank rank, std::uint64_t seq, Rank asker) const;
  void look_at_stall();
  void look_at_pairs();
  bool pairs_published() const;
  void compare_pair(Rank peer, PairCounts theirs);
  std::string pair_text(std::uint64_t seq, const net::CallSummary& call, Rank giver, Rank taker, PairCounts of) const;
  std::string bundle_text(std::uint64_t seq, const net::CallSummary& call, Rank sender, PairCounts of) const;
  void refresh_local_states();
  void forget_states();
  void restart_looks();
  void ask_other_nodes();
  std::vector<Rank> whom_to_ask(int node) const;
  void answer_all();
  void heartbeat();
  void judge_silence();
  bool states_disagree() const;
  std::string mismatch_text() const;
  using CallOf = net::CallSummary (*)(const RankState&);  ///< one of the calls that a rank's state tells of
  std::string difference_text(std::uint64_t seq, CallOf call) const;
  std::string timeout_text() const;
  std::string describe(const RankState& state) const;
  void publish(const Failure& failure);
  void tell_other_nodes(const Failure& failure);

  /// How long nothing has come from a rank, in our own heartbeats: a clock would go on while this process is stopped.
  struct Silence {
    Clock::time_point since;
    int heartbeats = 0;
  };

  Members& members_;
  FailureCell* own_cell_;
  std::chrono::nanoseconds timeout_;
  std::uint64_t seq_ = 0;
  net::CallSummary summary_;
  std::vector<RankState> states_;  ///< of operation seq_, as far as heard
  bool any_state_ = false;         ///< states_ holds something
  std::vector<Silence> silences_;  ///< in this wait
  bool mismatch_seen_ = false;     ///< a message of this operation carried another summary
  std::string pair_trouble_;       ///< of the same kind: a message that nobody expects
  std::vector<int> ended_looks_;   ///< by rank: how often it had finished without what this rank waits for
  bool told_ = false;
  std::vector<std::pair<Rank, std::uint64_t>> questions_;  ///< who asks, about which operation
  std::chrono::nanoseconds last_waited_{0};
  int asked_ = 0;  ///< rounds of questions in this wait
  std::chrono::nanoseconds next_process_look_{0};
  std::chrono::nanoseconds next_stall_look_{0};
  std::chrono::nanoseconds next_question_{0};
  std::chrono::nanoseconds next_heartbeat_{0};
};

/// "all_reduce of 1024 × fp32, sum, algorithm auto".
std::string call_text(const net::CallSummary& summary);

}  // namespace umbel::runtime
