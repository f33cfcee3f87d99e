// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What an algorithm is: a name, a builder that writes one rank's program, the documented traffic and a cost.
// Everything here is pure: the same inputs give the same result on every rank.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/program.hpp"
#include "base/shape.hpp"

namespace umbel::algos {

/// What the planner fixes before a program is built. Equal on all ranks.
struct Spec {
  bool direct = false;   ///< local peers can read each other's user buffers (mapped, or by a system call); else data is
                         ///< staged through windows
  int channels = 1;      ///< independent lanes sets side by side (several rings); at least 1
  int depth = 2;         ///< slots per message stream: how many chunks may be in flight; at least 1
  bool ordered = false;  ///< fold several operands as a balanced tree, at some cost: what reproducible mode asks for
  Rank root = 0;         ///< of a rooted collective; else 0

  bool operator==(const Spec&) const = default;
};

/// Measured costs, in seconds and seconds per byte. Measured once when a communicator is made, agreed on by all ranks.
struct Model {
  double local_alpha = 0.4e-6;       ///< a flag from one rank to another of its node
  double local_beta = 1 / 20e9;      ///< per byte copied from a peer's window
  double direct_beta = 1 / 10e9;     ///< per byte read from a peer's user buffer
  double copy_beta = 1 / 30e9;       ///< per byte copied within a rank's own memory
  double gamma = 1 / 15e9;           ///< per byte of output of a two-operand reduce
  double net_alpha = 10e-6;          ///< one small message between nodes
  double net_post = 1e-6;            ///< of that, what its two ranks spend on it; the rest passes by itself
  double net_beta = 1 / 1e9;         ///< per byte on one of a node's links, one direction
  double rails = 1;                  ///< links of a node; a rank uses the one of its local index
  double cache_bytes = 512U << 10U;  ///< of a core's own cache (second level): slots that fit in it cost least
  double ranks_per_core = 1;         ///< most loaded node: ranks ÷ cores, at least 1; scales every local cost
};

/// One question to a cost function.
struct CostQuery {
  const Shape& shape;
  const Spec& spec;
  const Model& model;
  std::uint64_t bytes = 0;  ///< n: of the buffer on each rank; of a ranked collective, of one rank's share
  Cut cut{};
};

/// The documented formula, written by hand (never counted from a program). The checker counts and compares.
struct Traffic {
  int steps = 0;    ///< transfers between ranks on the longest path from an input to an output, with one chunk
                    ///< barrier: transfers and signals between ranks on the longest path from an entry to an exit
  double sent = 0;  ///< elements that leave the busiest rank ÷ n, for n divisible by the number of blocks: messages
                    ///< sent, and its memory read by peers
};

/// Whether an algorithm's programs are right when the shares of ranks have different lengths, in places of each rank's
/// own choice: what the v-forms ask for. `staged`: without Spec::direct only.
enum class Unequal : std::uint8_t { never, staged, always };

/// One way to do a collective.
struct Algorithm {
  Collective collective = Collective::all_reduce;
  std::string_view name;     ///< unique in its collective
  std::string_view summary;  ///< one line
  std::string_view steps;    ///< the formula in words, e.g. "2(p−1)"
  std::string_view sent;     ///< the formula in words, e.g. "2n(p−1)/p"
  std::string_view source;   ///< paper
  /// Why this shape cannot be served; empty when it can.
  std::string (*refuses)(const Shape&, const Spec&);
  Program (*build)(Rank, const Shape&, const Spec&);
  Traffic (*traffic)(const Shape&, const Spec&);
  /// Whether every result is the canonical expression (canonical.hpp); what reproducible mode needs. Of a collective
  /// that does not reduce, always.
  bool (*canonical)(const Shape&, const Spec&);
  /// Predicted seconds for one call.
  double (*cost)(const CostQuery&);
  /// Of a ranked collective: whether it serves the v-form.
  Unequal unequal = Unequal::never;

  bool serves_unequal(const Spec& spec) const {
    return unequal == Unequal::always || (unequal == Unequal::staged && !spec.direct);
  }
};

/// Every algorithm of a collective, in a fixed order; a v-form has those of its plain one.
std::span<const Algorithm> catalog(Collective collective);

/// Every algorithm of every collective.
std::span<const Algorithm> catalog();

/// nullptr when there is no such algorithm.
const Algorithm* find(Collective collective, std::string_view name);

}  // namespace umbel::algos
