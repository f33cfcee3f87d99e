// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/placement.hpp"

#include <charconv>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

namespace umbel::runtime {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// A number without sign, or nothing.
std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::vector<std::vector<int>> contiguous_blocks(int nodes, int ranks) {
  std::vector<std::vector<int>> paths;
  for (int node = 0; node < nodes; ++node) {
    const int size = ranks / nodes + (node < ranks % nodes ? 1 : 0);
    paths.insert(paths.end(), static_cast<std::size_t>(size), {node});
  }
  return paths;
}

}  // namespace

std::vector<std::vector<int>> parse_placement(std::string_view text, int ranks) {
  const std::vector<std::string_view> entries = split(trimmed(text), ',');
  if (entries.size() == 1 && entries.front().find('/') == std::string_view::npos) {
    const std::optional<int> nodes = parse_number(entries.front());
    if (!nodes || *nodes < 1)
      throw InvalidArgument(
          fmt::format("UMBEL_NODES=\"{}\": want a number of nodes, or one node per rank like \"0,0,1,1\"", text));
    if (*nodes > ranks)
      throw InvalidArgument(fmt::format("UMBEL_NODES={}: more nodes than the {} ranks", *nodes, ranks));
    return contiguous_blocks(*nodes, ranks);
  }
  if (entries.size() != static_cast<std::size_t>(ranks))
    throw InvalidArgument(
        fmt::format("UMBEL_NODES=\"{}\" has {} entries for {} ranks; want one per rank", text, entries.size(), ranks));
  std::vector<std::vector<int>> paths;
  for (std::size_t rank = 0; rank < entries.size(); ++rank) {
    std::vector<int> path;
    for (std::string_view part : split(entries[rank], '/')) {
      const std::optional<int> id = parse_number(part);
      if (!id)
        throw InvalidArgument(
            fmt::format("UMBEL_NODES: entry {} \"{}\" is no node number or path like 0/1", rank, entries[rank]));
      path.push_back(*id);
    }
    paths.push_back(std::move(path));
    if (paths.back().size() != paths.front().size())
      throw InvalidArgument(fmt::format("UMBEL_NODES: entry {} \"{}\" has {} levels, entry 0 has {}", rank,
                                        entries[rank], paths.back().size(), paths.front().size()));
  }
  return paths;
}

std::string placement_text(const Shape& shape) {
  if (shape.ranks() == 1) return "1";  // one path of one entry would be a number of nodes
  std::string text;
  for (Rank rank = 0; rank < shape.ranks(); ++rank)
    text += fmt::format("{}{}", rank == 0 ? "" : ",", fmt::join(shape.path_of(rank), "/"));
  return text;
}

Shape shape_from_reach(const Reach& reach) {
  std::vector<std::vector<Rank>> groups;
  std::vector<int> node_of;
  for (Rank rank = 0; rank < reach.ranks; ++rank) {
    std::size_t home = 0;
    auto fits = [&](const std::vector<Rank>& group) {
      for (Rank member : group)
        if (!reach.both(rank, member)) return false;
      return true;
    };
    while (home < groups.size() && !fits(groups[home])) ++home;
    if (home == groups.size()) groups.emplace_back();
    groups[home].push_back(rank);
    node_of.push_back(static_cast<int>(home));
  }
  return Shape::from_nodes(node_of);
}

Shape shape_from_placement(std::string_view text, const Reach& reach) {
  const Shape shape = Shape::from_paths(parse_placement(text, reach.ranks));
  for (int node = 0; node < shape.nodes(); ++node) {
    for (Rank a : shape.node_ranks(node))
      for (Rank b : shape.node_ranks(node))
        if (a < b && !reach.both(a, b))
          throw InvalidArgument(fmt::format(
              "UMBEL_NODES=\"{}\" puts ranks {} and {} on one node, but they cannot map each other's memory "
              "(different hosts or containers)",
              text, a, b));
  }
  return shape;
}

}  // namespace umbel::runtime
