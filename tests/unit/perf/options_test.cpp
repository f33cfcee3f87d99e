// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "bench/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace umbel::bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Parsed parse(std::vector<const char*> arguments, int ranks = 4, const Traits& traits = collectives::kAllReduce) {
  arguments.insert(arguments.begin(), traits.program.data());
  return parse_options(traits, static_cast<int>(arguments.size()), arguments.data(), ranks);
}

TEST(Options, NcclTestsForms) {
  const Parsed parsed =
      parse({"-b",   "8",  "-e",  "128M", "-f", "2",  "-g", "1",  "-t1", "-n", "7", "-w3", "--check=2", "-d",
             "half", "-o", "max", "-r",   "3",  "-a", "1",  "-N", "5",   "-C", "1", "-T",  "2.5"});
  ASSERT_TRUE(parsed.options) << parsed.text;
  const Options& options = *parsed.options;
  EXPECT_EQ(options.min_bytes, 8U);
  EXPECT_EQ(options.max_bytes, 128U << 20U);
  EXPECT_EQ(options.step_factor, 2U);
  EXPECT_EQ(options.iterations, 7);
  EXPECT_EQ(options.warmup, 3);
  EXPECT_EQ(options.check, 2);
  EXPECT_EQ(options.cycles, 5);
  EXPECT_EQ(options.across, Across::mean);
  EXPECT_TRUE(options.cpu_time);
  EXPECT_DOUBLE_EQ(options.timeout_s, 2.5);
  ASSERT_EQ(options.types.size(), 1U);
  EXPECT_EQ(options.types[0].dtype, UMBEL_FP16);
  ASSERT_EQ(options.ops.size(), 1U);
  EXPECT_EQ(options.ops[0].op, UMBEL_MAX);
}

TEST(Options, OneOfTheSizesAloneMovesTheOther) {
  EXPECT_EQ(parse({"-b", "1G"}).options->max_bytes, std::uint64_t{1} << 30U);
  EXPECT_EQ(parse({"-e", "1K"}).options->min_bytes, 1024U);
  EXPECT_EQ(parse({"-b", "8"}).options->max_bytes, 32U << 20U);
}

TEST(Options, BuffersAreRegisteredWhenAskedFor) {
  EXPECT_FALSE(parse({}).options->local_register);
  EXPECT_FALSE(parse({"-R", "0"}).options->local_register);
  EXPECT_TRUE(parse({"-R", "1"}).options->local_register);
  EXPECT_TRUE(parse({"--local_register=1"}).options->local_register);
}

TEST(Options, AllMeansAll) {
  const Parsed parsed = parse({"-d", "all", "-o", "all"});
  EXPECT_EQ(parsed.options->types.size(), 21U);
  EXPECT_EQ(parsed.options->ops.size(), 13U);
}

TEST(Options, RootsAreOneOrAll) {
  const auto roots = [](std::vector<const char*> arguments, const Traits& traits) {
    return parse(std::move(arguments), 4, traits).options->roots;
  };
  EXPECT_THAT(roots({}, collectives::kReduce), ElementsAre(0));
  EXPECT_THAT(roots({"-r", "3"}, collectives::kReduce), ElementsAre(3));
  EXPECT_THAT(roots({"-r", "all"}, collectives::kGather), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(roots({"-r", "-1"}, collectives::kGather), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(roots({"-r", "3"}, collectives::kAllGather), ElementsAre(0));
}

TEST(Options, WhatHasNoMeaningHasNoInfluence) {
  const Parsed gather = parse({"-o", "all", "-d", "half"}, 4, collectives::kGather);
  ASSERT_EQ(gather.options->ops.size(), 1U);
  EXPECT_EQ(gather.options->ops[0].name, "none");
  EXPECT_EQ(gather.options->types[0].dtype, UMBEL_FP16);
  EXPECT_EQ(parse({"-o", "bogus"}, 4, collectives::kGather).status, kExitUsage);
  const Parsed barrier = parse({"-d", "all", "-b", "8", "-e", "1G"}, 4, collectives::kBarrier);
  ASSERT_EQ(barrier.options->types.size(), 1U);
  EXPECT_EQ(barrier.options->types[0].name, "none");
  EXPECT_EQ(barrier.options->max_bytes, 0U);
}

class Configured : public ::testing::Test {
 protected:
  static std::vector<std::string> named(const char* text, const Traits& traits) {
    ::setenv("UMBEL_ALGORITHM", text, 1);
    return parse({}, 4, traits).options->named;
  }
  void TearDown() override { ::unsetenv("UMBEL_ALGORITHM"); }
};

TEST_F(Configured, AlgorithmOfThisCollective) {
  EXPECT_THAT(named("ring", collectives::kAllReduce), ElementsAre("ring"));
  EXPECT_THAT(named("broadcast:chain,all_reduce:central", collectives::kAllReduce), ElementsAre("central"));
  EXPECT_THAT(named("broadcast:central", collectives::kAllReduce), IsEmpty());
  EXPECT_THAT(named("auto", collectives::kAllReduce), IsEmpty());
}

TEST(Options, WrongUsageIsStatusTwo) {
  for (const std::vector<const char*>& bad : std::vector<std::vector<const char*>>{{"--bogus"},
                                                                                   {"stray"},
                                                                                   {"-b"},
                                                                                   {"-b", "x"},
                                                                                   {"-b", "2", "-e", "1"},
                                                                                   {"-n", "0"},
                                                                                   {"-n", "3.5"},
                                                                                   {"-w", "-1"},
                                                                                   {"-d", ""},
                                                                                   {"-d", "float,"},
                                                                                   {"-o", "mulsum"},
                                                                                   {"-o", "band"},
                                                                                   {"-d", "int,float", "-o", "lor"},
                                                                                   {"-r", "4"},
                                                                                   {"-r", "-2"},
                                                                                   {"-a", "4"},
                                                                                   {"-R", "2"},
                                                                                   {"-T", "nan"},
                                                                                   {"-T", "0"},
                                                                                   {"--json", "-"},
                                                                                   {"--csv", "-"},
                                                                                   {"--algo", "none_such"}}) {
    const Parsed parsed = parse(bad);
    EXPECT_FALSE(parsed.options) << bad[0];
    EXPECT_EQ(parsed.status, kExitUsage) << bad[0];
    EXPECT_THAT(parsed.text, HasSubstr("help")) << bad[0];
  }
}

TEST(Options, WhatThereIsIsNamed) {
  EXPECT_THAT(parse({"-d", "x"}).text,
              AllOf(StartsWith("-d x: no such type; there are int8, "), HasSubstr(", int16_int32 and all\n")));
  EXPECT_THAT(parse({"-o", "x"}).text, StartsWith("-o x: no such operator; there are sum, prod, min, max, avg, band, "
                                                  "bor, bxor, land, lor, lxor, minloc, maxloc and all\n"));
  EXPECT_THAT(parse({"-d", "int,float", "-o", "sum,lor"}).text,
              StartsWith("-d int,float -o sum,lor: lor does not serve fp32\n"));
  EXPECT_TRUE(parse({"-d", "all", "-o", "lor"}).options);
  EXPECT_THAT(parse({"--algo", "x"}).text,
              AllOf(StartsWith("--algo x: no such algorithm; there are "), HasSubstr("ring")));
}

TEST(Options, WhatIsNotExpectedComesAsTyped) {
  EXPECT_THAT(parse({"-m", "5"}).text, HasSubstr("not expected: -m 5\n"));
  EXPECT_THAT(parse({"stray", "other"}).text, HasSubstr("not expected: stray other\n"));
}

TEST(Options, NamedAlgorithmsAreToldFromAll) {
  EXPECT_EQ(parse({"--algo", "ring,auto,all"}).options->named, std::vector<std::string>{"ring"});
  EXPECT_TRUE(parse({"--algo", "all"}).options->named.empty());
}

TEST(Options, HelpIsNoError) {
  const Parsed parsed = parse({"--help"});
  EXPECT_EQ(parsed.status, kExitRight);
  EXPECT_THAT(parsed.text, HasSubstr("--minbytes"));
}

TEST(Options, SeveralPerProcessGetsTheCommandThatDoesIt) {
  const Parsed parsed = parse({"-b", "8", "-g", "2", "--nthreads=3", "-e", "1K"}, 4);
  EXPECT_EQ(parsed.status, kExitUsage);
  EXPECT_THAT(parsed.text, HasSubstr("mpirun -n 24 all_reduce_perf -b 8 -e 1K\n"));
}

}  // namespace
}  // namespace umbel::bench
