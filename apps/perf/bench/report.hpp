// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Results and how they are shown: a table that grows as rows finish, a JSON document, a CSV file.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace umbel::bench {

/// One placement of one row. What was not measured is empty.
struct Timing {
  std::optional<double> time_us;
  std::optional<double> p50_us;
  std::optional<double> p99_us;
  std::optional<double> algbw_gbs;
  std::optional<double> busbw_gbs;
  std::optional<std::uint64_t> wrong;  ///< elements, summed over the ranks; empty when not checked
};

struct PeerTiming {
  std::string name;
  std::optional<double> time_us;
  std::optional<double> ratio;  ///< peer ÷ Umbel: above 1 Umbel is ahead
};

struct Row {
  std::uint64_t size_bytes = 0;
  std::uint64_t count = 0;
  std::string dtype;
  std::string op;
  std::optional<int> root;
  std::string algorithm;  ///< that ran; the forced one where it could not
  std::string reason;     ///< why the row, or its peer, has no times; empty when nothing is missing
  std::string note;       ///< for the table only: what is odd about the figures
  Timing out_of_place;
  Timing in_place;
  std::optional<double> model_us;
  std::optional<PeerTiming> peer;
};

/// What is true of the whole run.
struct RunFacts {
  std::string collective{};
  std::string bus_factor{};  ///< empty: there is no bandwidth
  std::string version{};
  std::string git{};
  std::string mpi{};
  int ranks = 0;
  int nodes = 0;
  double busbw_limit_gbs = 0;  ///< 0: not known
  std::string description{};   ///< umbel_describe's; empty: not known
};

/// Sums up over the rows.
class Totals {
 public:
  void add(const Row& row);
  std::uint64_t wrong() const noexcept { return wrong_; }
  /// Nothing when no row has one.
  std::optional<double> mean_busbw() const noexcept {
    return timings_ == 0 ? std::nullopt : std::optional(busbw_sum_ / timings_);
  }
  /// Placements that were checked.
  std::uint64_t checked() const noexcept { return checked_; }

 private:
  void add(const Timing& timing);
  std::uint64_t wrong_ = 0;
  std::uint64_t checked_ = 0;
  double busbw_sum_ = 0;
  int timings_ = 0;
};

/// The table on stdout.
class Table {
 public:
  Table(bool percentiles, bool peer) : percentiles_(percentiles), peer_(peer) {}
  void print_header() const;
  void print(const Row& row, double busbw_limit_gbs) const;
  static void print_footer(const Totals& totals);

 private:
  bool percentiles_;
  bool peer_;
};

std::string to_json(const RunFacts& facts, const std::vector<Row>& rows);
std::string csv_header();
std::string to_csv(const Row& row);

/// A file opened before the run, so that a bad path is told before an hour of measuring.
class OutputFile {
 public:
  /// @throws std::system_error
  explicit OutputFile(const std::string& path);
  /// Appends and flushes. @throws std::system_error
  void write(std::string_view text);

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace umbel::bench
