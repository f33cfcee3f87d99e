// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What the commands that work on a described call share: the shape, the sizes, the cluster, the output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "algos/simulate/cluster.hpp"
#include "algos/simulate/simulate.hpp"
#include "base/shape.hpp"
#include "plan.hpp"
#include "runtime/planner.hpp"

namespace umbel::plan {

/// @throws InvalidArgument when the placement does not fit. @param nodes as UMBEL_NODES; empty: one node
Shape shape_of(int ranks, const std::string& nodes);

/// Bytes of "8:64M:x4" (from 8 to 64M, each 4 times the last), "1M:8M:+1M", or "1K,64K". @throws InvalidArgument
std::vector<std::uint64_t> sizes_of(std::string_view text);

/// A cluster from a file; a figure that it lacks keeps its default. @param path "": all have their defaults
/// @throws InvalidArgument naming what cannot be read, is not known or is wrong.
algos::simulate::Cluster read_cluster(const std::string& path);
nlohmann::ordered_json to_json(const algos::simulate::Cluster& cluster);

/// What the planner would have measured on that cluster.
algos::Model model_of(const algos::simulate::Cluster& cluster, const Shape& shape);

/// One rank's planner, with memory and limits as a communicator has them by default, and what it is asked.
class Placed {
 public:
  /// @param model  what a communicator has measured, instead of a cluster's figures
  /// @throws InvalidArgument for what does not fit together.
  explicit Placed(const CallOptions& options, const std::optional<algos::Model>& model = std::nullopt);

  Collective collective() const { return collective_; }
  const Shape& shape() const { return shape_; }
  const algos::simulate::Cluster& cluster() const { return cluster_; }
  std::uint64_t elem_bytes() const { return size_of(dtype_); }
  /// Elements of so many bytes. @throws InvalidArgument when they are no whole number.
  std::uint64_t count_of(std::uint64_t bytes) const;

  /// All algorithms, or the one that was asked for, as the planner would run them for `count` elements.
  std::vector<runtime::Candidate> candidates(std::uint64_t count);
  algos::simulate::Outcome simulate(const runtime::Candidate& candidate, std::uint64_t count) const;

  /// "all_reduce on 8 ranks of 2 nodes"
  std::string text() const;
  nlohmann::ordered_json to_json() const;

 private:
  runtime::PlanKey key(std::uint64_t count, std::int32_t algorithm) const;

  Collective collective_;
  Shape shape_;
  algos::simulate::Cluster cluster_;
  DType dtype_ = DType::fp32;
  bool in_order_ = false;
  Rank root_ = 0;
  std::int32_t algorithm_ = -1;
  runtime::Planner planner_;
};

/// @throws InvalidArgument
nlohmann::json read_json(const std::string& path);
void write_json(const std::string& path, const nlohmann::ordered_json& document);

/// "8", "64K", "1M"
std::string bytes_text(std::uint64_t bytes);
/// Microseconds, with as many digits as say something.
std::string us_text(double seconds);

}  // namespace umbel::plan
