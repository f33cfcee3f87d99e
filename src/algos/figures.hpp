// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "algos/algorithm.hpp"

namespace umbel::algos {

/// The figures of a model by the names that files have for them.
inline constexpr auto kModelFigures = std::to_array<std::pair<std::string_view, double Model::*>>({
    {"local_alpha", &Model::local_alpha},
    {"local_beta", &Model::local_beta},
    {"direct_beta", &Model::direct_beta},
    {"copy_beta", &Model::copy_beta},
    {"gamma", &Model::gamma},
    {"net_alpha", &Model::net_alpha},
    {"net_post", &Model::net_post},
    {"net_beta", &Model::net_beta},
    {"rails", &Model::rails},
    {"cache_bytes", &Model::cache_bytes},
    {"ranks_per_core", &Model::ranks_per_core},
});

}  // namespace umbel::algos
