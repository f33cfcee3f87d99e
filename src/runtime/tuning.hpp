// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// What a communicator takes from a tuning file.
#pragma once

#include <string>
#include <string_view>

#include "net/bootstrap.hpp"
#include "runtime/tuning_file.hpp"

namespace umbel::runtime {

/// The file that UMBEL_TUNING (Config::tuning) stands for; "" where there can be none.
std::string tuning_path(const std::string& setting);

/// A job that a tuning file is asked about.
struct TuningQuestion {
  std::string setting;         ///< Config::tuning
  bool must_be_read = true;    ///< a file that it names is a tuning file, or this is an error
  JobTopology topology{};      ///< of the job
  std::string_view version{};  ///< of Umbel
  algos::Model at_start{};     ///< what was measured now
};

struct TuningAnswer {
  Figures figures{};          ///< to use; all 0: none
  std::string text = "none";  ///< for people: which file, and what it changes, or why it does not
  std::string warning;        ///< "" when all is well
};

/// Local. A file that is none is left aside. @throws InvalidArgument where it must be read
TuningAnswer ask_tuning_file(const TuningQuestion& question);

/// Collective. Puts the figures that rank 0's file has for this job into `model`, on all ranks the same. Rank 0 warns
/// of a file that is of no use, when the first communicator of the process is made. @return TuningAnswer::text
std::string apply_tuning(const net::Bootstrap& bootstrap, const TuningQuestion& question, algos::Model& model);

}  // namespace umbel::runtime
