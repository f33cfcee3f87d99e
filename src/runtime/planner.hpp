// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// From a call to a program and its numbers. A pure function of what all ranks agreed on: the shape, the model, the
// configuration and the call's significant arguments. Programs are kept by structure, plans by call.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "algos/algorithm.hpp"
#include "base/program.hpp"
#include "base/shape.hpp"
#include "runtime/control.hpp"

namespace umbel::runtime {

/// What the planner works from; equal on all ranks but for `rank`.
struct PlannerInputs {
  Rank rank = 0;
  Shape shape = Shape::one_node(1);
  algos::Model model{};
  ArenaLayout layout{};
  bool direct = false;            ///< user buffers of node-mates can be read
  std::uint64_t chunk_bytes = 0;  ///< 0: chosen
  std::uint64_t piece_bytes = 0;  ///< 0: chosen
  int channels = 0;               ///< 0: chosen
};

/// A built program, kept for the life of the communicator.
struct Built {
  const algos::Algorithm* algorithm = nullptr;
  algos::Spec spec{};
  Program program;
  std::size_t most_semaphores = 0;  ///< of the rank that has most
  std::vector<Rank> owners{};       ///< who says how long the shares in bundles are (BundleItem::owner)
};

/// How one kind of call is done.
struct Plan {
  Built* built = nullptr;
  Cut cut{};
  Binding binding{};
  double predicted_s = 0;
  std::uint16_t hash = 0;  ///< of the algorithm, the spec and the cut; never 0
};

/// How much the order of folds shows in a result; what reproducible mode asks of an algorithm.
enum class Arithmetic : std::uint8_t {
  exact,    ///< not at all: integers, which wrap
  ordered,  ///< the same order gives the same bits: fp32, fp64, complex numbers, and what does not round
  widened,  ///< 16- and 8-bit floats: also, between which folds a partial result is rounded to the element type
};
Arithmetic arithmetic_of(DType dtype, RedOp op);

/// What a plan depends on.
struct PlanKey {
  Collective collective = Collective::all_reduce;
  std::uint64_t count = 0;  ///< of a ranked collective, of one share; of a v-form, of the longest, where all know it
  std::uint32_t elem_bytes = 1;
  bool in_order = false;        ///< only algorithms that fold in the canonical order
  Rank root = 0;                ///< of a rooted collective; else 0
  std::int32_t algorithm = -1;  ///< forced: index in the catalog; −1: automatic

  bool operator==(const PlanKey&) const = default;
};

/// One way to do a call, and what the planner thinks of it.
struct Candidate {
  const algos::Algorithm* algorithm = nullptr;
  algos::Spec spec{};
  Cut cut{};
  double predicted_s = 0;
  std::string refused;  ///< why it is not possible; the rest is then as far as it got
};

/// What a plan is made for when shares are counted by pairs, and so by nobody who could choose: the same for all calls.
inline constexpr std::uint64_t kPlannedShareBytes = 256U << 10U;

class Planner {
 public:
  explicit Planner(PlannerInputs inputs) : in_(std::move(inputs)) {}

  /// The plan for such a call; the reference stays valid until the next call of plan().
  /// @throws Unsupported with the reason when the (forced) algorithm cannot serve it.
  const Plan& plan(const PlanKey& key);

  /// Why such a call cannot be served; "" when it can.
  std::string refuses(const PlanKey& key);

  /// What plan() chooses from, each algorithm as it would run. Those that can serve the call come first, the best of
  /// them, plan()'s choice, at the front; "best" for the largest call that is done like this one.
  std::vector<Candidate> candidates(const PlanKey& key);

 private:
  struct KeyHash {
    std::size_t operator()(const PlanKey& key) const noexcept {
      return static_cast<std::size_t>(
          (key.count * 0x9e3779b97f4a7c15U) ^ (key.elem_bytes * 0x85ebca6bU) ^
          static_cast<std::uint64_t>(key.algorithm + 1) << 40U ^ static_cast<std::uint64_t>(key.root) << 48U ^
          static_cast<std::uint64_t>(key.collective) << 56U ^ static_cast<std::uint64_t>(key.in_order) << 60U);
    }
  };
  struct Choice {
    const algos::Algorithm* algorithm = nullptr;
    algos::Spec spec{};
    Cut cut{};
    std::int64_t cost = 0;  ///< as comparable() says
  };

  /// What can be chosen from, the best first, and why the others cannot.
  struct Considered {
    std::vector<Choice> choices;
    std::vector<std::pair<const algos::Algorithm*, std::string>> refused;
  };

  /// For calls of about the key's size.
  const Considered& considered(PlanKey key);
  Considered consider(const PlanKey& key) const;
  Plan make(const PlanKey& key);
  std::optional<Choice> best_of(const algos::Algorithm& algorithm, const PlanKey& key) const;
  double cost_of(const Choice& choice, std::uint64_t bytes) const;
  std::optional<Plan> realize(Choice choice, const PlanKey& key, std::string* reason);
  std::size_t most_semaphores(const algos::Algorithm& algorithm, const algos::Spec& spec) const;
  Built& build(const algos::Algorithm& algorithm, const algos::Spec& spec);
  std::string refuses_order(const algos::Algorithm& algorithm, const PlanKey& key) const;

  PlannerInputs in_;
  std::map<std::string, std::unique_ptr<Built>> built_;
  std::unordered_map<PlanKey, Considered, KeyHash> considered_;  // by size_class, and the root's node
  std::unordered_map<PlanKey, Plan, KeyHash> plans_;
};

}  // namespace umbel::runtime
