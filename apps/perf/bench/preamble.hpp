// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include "options.hpp"
#include "report.hpp"
#include "session.hpp"
#include "traits.hpp"

namespace umbel::bench {

/// What the table is about: the run, the formulas behind its columns, the limit that is known, the ranks.
void print_preamble(const Traits& traits, const Options& options, const Session& session, const RunFacts& facts);

}  // namespace umbel::bench
