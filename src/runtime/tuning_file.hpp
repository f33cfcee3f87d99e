// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The tuning file: what umbel_tune has measured, an entry for each topology, and where, when and by which version.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "algos/figures.hpp"
#include "base/shape.hpp"

namespace umbel::runtime {

/// The figures that a tuning file may replace. The others of the model are counted, not timed.
inline constexpr auto kTunedFigures = std::span(algos::kModelFigures).first<8>();
static_assert(kTunedFigures.front().first == "local_alpha" && kTunedFigures.back().first == "net_beta");

/// Seconds, or seconds per byte, in the order of kTunedFigures; 0: not measured.
using Figures = std::array<double, kTunedFigures.size()>;

/// "0.42 us", or of a figure per byte "12.3 GB/s".
std::string figure_text(std::string_view name, double value);

/// What figures depend on. As rank 0 sees it.
struct JobTopology {
  std::vector<int> ranks_on_nodes;  ///< largest first
  double ranks_per_core = 1;        ///< of the most loaded host
  int rails = 1;                    ///< links of a node
  std::string processor;
  bool cma = false;     ///< node-mates' buffers can be read
  std::string network;  ///< devices and transports; "" on one node

  /// Equal where differences() are none; the same on every machine.
  std::uint64_t hash() const;
  /// "4 ranks on 2 nodes of 2; AMD …"
  std::string text() const;
};

std::vector<int> ranks_on_nodes(const Shape& shape);

/// "ranks: 2 nodes of 2, here 1 node of 4", … for what `of` does not share with `here`.
std::vector<std::string> differences(const JobTopology& of, const JobTopology& here);

struct TuningEntry {
  struct Made {
    std::string version;   ///< of Umbel
    std::string revision;  ///< likewise
    std::string date;      ///< UTC, as 2026-01-31T12:00:00Z
    std::string host;      ///< of rank 0
  };

  JobTopology topology;
  Made made;
  Figures figures{};        ///< tuned
  algos::Model at_start{};  ///< what the same job's communicator had measured when it was made

  /// "made 2026-01-31T12:00:00Z on HOST by Umbel 0.1.0 (REVISION)"
  std::string provenance() const;
  /// `model` with the tuned figures in their places.
  algos::Model tuned(algos::Model model) const;
};

struct TuningFile {
  std::vector<TuningEntry> entries;

  /// In the place of the one with the same topology, if there is one.
  void put(TuningEntry entry);
};

/// @throws InvalidArgument that names the file and what is wrong with it
TuningFile read_tuning_file(const std::string& path);
/// The file is there whole or as it was. @throws SystemError
void write_tuning_file(const std::string& path, const TuningFile& file);

nlohmann::ordered_json to_json(const TuningEntry& entry);

}  // namespace umbel::runtime
