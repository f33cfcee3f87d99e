// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/cost.hpp"

#include <algorithm>
#include <cmath>

namespace umbel::algos {
namespace {

/// log2, straight between the powers of two: exact in every step, where std::log2 may differ in its last bits from one
/// model of processor to another, and all ranks must come to the same costs.
double doublings(double factor) {
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);  // in [0.5, 1)
  return exponent - 2 + 2 * fraction;
}

}  // namespace

CostTerms::CostTerms(const CostQuery& query)
    : query_(query), local_(std::max(1.0, query.model.ranks_per_core)), bytes_(static_cast<double>(query.bytes)) {}

double CostTerms::chunks(double bytes) const {
  return std::max(1.0, std::ceil(bytes / static_cast<double>(query_.cut.chunk_bytes)));
}

double CostTerms::pieces() const {
  return std::max(1.0, std::ceil(bytes_ / static_cast<double>(query_.cut.piece_bytes)));
}

double CostTerms::spill(double bytes) const {
  constexpr double kPerDoubling = 0.15, kWorst = 1.6;
  const double cache = query_.model.cache_bytes;
  return bytes <= cache ? 1.0 : std::min(kWorst, 1.0 + kPerDoubling * doublings(bytes / cache));
}

double CostTerms::net_hop(double bytes, double parts, int sharers, double work) const {
  // The first part takes its latency, its wire and its work; of the others the slower of wire and threads shows.
  const double wire_part = wire(bytes, sharers) / parts, work_part = work / parts;
  return message() + wire_part + sharers * post() + work_part +
         (parts - 1) * std::max(wire_part, sharers * post() + work_part);
}

double CostTerms::local_hop(double bytes, double parts, bool reduces) const {
  return parts * (flag() + raise()) + copy(bytes) + read(bytes) + (reduces ? fold(bytes) : 0.0);
}

double CostTerms::hop(double bytes, double parts, int sharers, bool reduces) const {
  const double local = local_hop(bytes, parts, reduces);
  return one_node() ? local : std::max(local, net_hop(bytes, parts, sharers, reduces ? fold(bytes) : 0.0));
}

}  // namespace umbel::algos
