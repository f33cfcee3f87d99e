// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include <fmt/format.h>

#include <cstdio>

#include "report.hpp"

namespace umbel::bench {
namespace {

/// nccl-tests' precision: fewer digits for larger numbers.
std::string time_text(const std::optional<double>& us) {
  if (!us) return fmt::format("{:>8}", "N/A");
  if (*us >= 10000) return fmt::format("{:>8.0f}", *us);
  if (*us >= 100) return fmt::format("{:>8.1f}", *us);
  return fmt::format("{:>8.2f}", *us);
}

/// A figure above the limit that is known cannot be true: marked by an exclamation mark.
std::string bandwidth_text(const std::optional<double>& gbs, double limit) {
  if (!gbs) return fmt::format("{:>7} ", "N/A");
  return fmt::format("{:>7.2f}{}", *gbs, limit > 0 && *gbs > limit ? '!' : ' ');
}

std::string timing_text(const Timing& timing, bool percentiles, double limit) {
  std::string text = time_text(timing.time_us);
  if (percentiles) text += " " + time_text(timing.p50_us) + " " + time_text(timing.p99_us);
  text += " " + bandwidth_text(timing.algbw_gbs, 0) + bandwidth_text(timing.busbw_gbs, limit);
  return text + fmt::format("{:>6}", timing.wrong ? fmt::format("{}", *timing.wrong) : "N/A");
}

std::string timing_header(bool percentiles) {
  return fmt::format("{:>8}{} {:>7} {:>7} {:>6}", "time", percentiles ? fmt::format(" {:>8} {:>8}", "p50", "p99") : "",
                     "algbw", "busbw", "#wrong");
}

std::string unit_header(bool percentiles) {
  return fmt::format("{:>8}{} {:>7} {:>7} {:>6}", "(us)",
                     percentiles ? fmt::format(" {:>8} {:>8}", "(us)", "(us)") : "", "(GB/s)", "(GB/s)", "");
}

}  // namespace

void Table::print_header() const {
  const int width = percentiles_ ? 49 : 31;
  fmt::print("#\n#{:>55}{:^{}}  {:^{}}\n", "", "out-of-place", width, "in-place", width);
  fmt::print("#{:>12} {:>13} {:>7} {:>7} {:>7}      {}  {}  {:<20} {:>9}{}\n", "size", "count", "type", "redop", "root",
             timing_header(percentiles_), timing_header(percentiles_), "algorithm", "model",
             peer_ ? fmt::format(" {:>9} {:>7}", "peer", "ratio") : "");
  fmt::print("#{:>12} {:>13} {:>7} {:>7} {:>7}      {}  {}  {:<20} {:>9}{}\n", "(B)", "(elements)", "", "", "",
             unit_header(percentiles_), unit_header(percentiles_), "", "(us)",
             peer_ ? fmt::format(" {:>9} {:>7}", "(us)", "") : "");
  std::fflush(stdout);
}

void Table::print(const Row& row, double busbw_limit_gbs) const {
  std::string line =
      fmt::format("{:>13} {:>13} {:>7} {:>7} {:>7}      {}  {}  {:<20} {:>9}", row.size_bytes, row.count, row.dtype,
                  row.op, row.root.value_or(-1), timing_text(row.out_of_place, percentiles_, busbw_limit_gbs),
                  timing_text(row.in_place, percentiles_, busbw_limit_gbs), row.algorithm, time_text(row.model_us));
  if (peer_) {
    const std::optional<double> time = row.peer ? row.peer->time_us : std::nullopt;
    const std::optional<double> ratio = row.peer ? row.peer->ratio : std::nullopt;
    line += fmt::format(" {:>9} {:>7}", time_text(time), ratio ? fmt::format("{:.2f}x", *ratio) : "N/A");
  }
  for (const std::string& remark : {row.reason, row.note}) {
    if (!remark.empty()) line += "  # " + remark;
  }
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void Table::print_footer(const Totals& totals) {
  if (totals.checked() == 0) {
    fmt::print("# Out of bounds values : not checked\n");
  } else {
    fmt::print("# Out of bounds values : {} {}\n", totals.wrong(), totals.wrong() == 0 ? "OK" : "FAILED");
  }
  const std::optional<double> busbw = totals.mean_busbw();
  fmt::print("# Avg bus bandwidth    : {} \n#\n", busbw ? fmt::format("{:g}", *busbw) : "N/A");
  std::fflush(stdout);
}

void Totals::add(const Row& row) {
  add(row.out_of_place);
  add(row.in_place);
}

void Totals::add(const Timing& timing) {
  if (timing.wrong) {
    wrong_ += *timing.wrong;
    ++checked_;
  }
  if (timing.busbw_gbs) {
    busbw_sum_ += *timing.busbw_gbs;
    ++timings_;
  }
}

}  // namespace umbel::bench
