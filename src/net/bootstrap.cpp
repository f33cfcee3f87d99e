// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/bootstrap.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace umbel::net {

std::vector<std::string> all_gather_bytes(const Bootstrap& bootstrap, std::string_view mine) {
  const std::vector<std::uint64_t> lengths = all_gather(bootstrap, static_cast<std::uint64_t>(mine.size()));
  const std::size_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<std::string> all(lengths.size());
  if (longest == 0) return all;
  std::string padded(mine);
  padded.resize(longest);
  std::string received(longest * lengths.size(), '\0');
  bootstrap.allgather(padded.data(), received.data(), longest);
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    all[rank].assign(received, rank * longest, lengths[rank]);
  }
  return all;
}

}  // namespace umbel::net
