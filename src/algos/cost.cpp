// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "algos/cost.hpp"

#include <algorithm>
#include <cmath>

namespace umbel::algos {

CostTerms::CostTerms(const CostQuery& query)
    : query_(query), local_(std::max(1.0, query.model.ranks_per_core)), bytes_(static_cast<double>(query.bytes)) {}

double CostTerms::chunks(double bytes) const {
  return std::max(1.0, std::ceil(bytes / static_cast<double>(query_.cut.chunk_bytes)));
}

double CostTerms::pieces() const {
  return std::max(1.0, std::ceil(bytes_ / static_cast<double>(query_.cut.piece_bytes)));
}

double CostTerms::hop(double bytes, int sharers, bool reduces) const {
  const double work = reduces ? fold(bytes) : copy(bytes);
  const double local = flag() + copy(bytes) + read(bytes) + work;
  if (one_node()) return local;
  return std::max(local, message() + wire(bytes, sharers) + work);
}

}  // namespace umbel::algos
