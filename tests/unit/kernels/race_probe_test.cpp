// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Built under ThreadSanitizer only. Shows that the tests with ranks as threads can fail: without the release of a
// signal or the acquire of a wait there is a report, with both there is none.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace {

struct Result {
  int status = -1;
  std::string output;
};

Result run_probe(const std::string& variant) {
  const std::string command = "TSAN_OPTIONS='halt_on_error=1 exitcode=66' '" RACE_PROBE "' " + variant + " 2>&1";
  Result result;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.output.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

TEST(RaceProbe, SilentAsItIs) {
  const Result result = run_probe("whole");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, "");
}

class Broken : public testing::TestWithParam<const char*> {};

TEST_P(Broken, IsReported) {
  const Result result = run_probe(GetParam());
  EXPECT_EQ(result.status, 66);
  EXPECT_NE(result.output.find("WARNING: ThreadSanitizer: data race"), std::string::npos) << result.output;
}

INSTANTIATE_TEST_SUITE_P(Without, Broken, testing::Values("no_release", "no_acquire"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
