// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// Known failures that need many elements or many turns.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "regressions/regressions.hpp"

namespace umbel::test {
namespace {

/// mscclpp#682: counts of floats on 8 ranks that no vector, block or chunk divides. In-place, to take half the memory.
TEST(Counts, OfFloatsOnEightRanks) {
  constexpr int kRanks = 8;
  expect_all_right(run_ranks(kRanks, test_options(), [](runtime::Communicator& comm, Gathering&) {
    const auto value = [](Rank rank, std::size_t i) {
      return static_cast<float>((i + static_cast<std::size_t>(rank)) % 11);
    };
    for (const std::size_t count : {10556587, 10556576, 10556592, 10556608, 1048576, 9999999, 12345678}) {
      std::vector<float> data(count + 1, -1);
      for (std::size_t i = 0; i < count; ++i) data[i] = value(comm.info().rank, i);
      comm.all_reduce(data.data(), data.data(), count, DType::fp32, RedOp::sum);
      std::array<float, 11> expected{};
      for (std::size_t i = 0; i < expected.size(); ++i)
        for (Rank rank = 0; rank < kRanks; ++rank) expected[i] += value(rank, i);
      for (std::size_t i = 0; i < count; ++i)
        if (data[i] != expected[i % 11]) throw std::runtime_error(fmt::format("element {} of {} is wrong", i, count));
      demand(data[count] == -1, "wrote behind the buffer");
    }
  }));
}

/// More addresses than memory: one stretch of it again and again.
class Sparse {
 public:
  explicit Sparse(std::size_t bytes) : bytes_((bytes + kPeriod - 1) / kPeriod * kPeriod) {
    const int file = ::memfd_create("umbel-test", MFD_CLOEXEC);
    demand(file >= 0 && ::ftruncate(file, kPeriod) == 0, "no memory for the test");
    begin_ = ::mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool mapped = begin_ != MAP_FAILED;
    for (std::size_t at = 0; mapped && at < bytes_; at += kPeriod)
      mapped = ::mmap(static_cast<std::byte*>(begin_) + at, kPeriod, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                      file, 0) != MAP_FAILED;
    ::close(file);
    demand(mapped, "no addresses for the test");
  }
  ~Sparse() { ::munmap(begin_, bytes_); }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;

  void* data() { return begin_; }
  std::span<std::int32_t> period() { return {static_cast<std::int32_t*>(begin_), kPeriod / sizeof(std::int32_t)}; }

 private:
  static constexpr std::size_t kPeriod = std::size_t{32} << 20U;
  std::size_t bytes_;
  void* begin_ = nullptr;
};

/// ompi#10187, mpich#2257, mpich 53ed17c164 (a copy of more than 0x7ffff000 bytes): 2³¹ − 1 integers. In- and output
/// repeat every 32 MiB, and so must the result; each run of bytes that is left out or misplaced shows in the period.
TEST(Counts, OfIntegersAtTheEndOfAnInt) {
  constexpr std::size_t kCount = 2147483647;
  for (const char* nodes : {"", "2"}) {
    expect_all_right(
        run_ranks(2, test_options(nodes, std::chrono::minutes(5)), [&](runtime::Communicator& comm, Gathering&) {
          const Rank me = comm.info().rank;
          Sparse send(kCount * 4), recv(kCount * 4);
          for (std::size_t i = 0; i < send.period().size(); ++i)
            send.period()[i] = static_cast<std::int32_t>(scrambled(i));
          comm.run({.collective = Collective::broadcast,
                    .send = me == 0 ? send.data() : nullptr,
                    .recv = recv.data(),
                    .count = kCount,
                    .dtype = DType::int32});
          demand(std::ranges::equal(send.period(), recv.period()), "a wrong result");
        }));
  }
}

/// Open descriptors, mapped windows, and files in /dev/shm but for those of other libraries, which other jobs have
/// there.
std::array<std::size_t, 3> belongings() {
  std::size_t descriptors = 0, files = 0;
  for ([[maybe_unused]] const auto& open : std::filesystem::directory_iterator("/proc/self/fd")) ++descriptors;
  for (const auto& file : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = file.path().filename();
    const auto begins = [&](const char* other) { return name.starts_with(other); };
    files += std::ranges::none_of(std::array{"vader_segment", "open_mpi", "psm", "sem.", "ucx_"}, begins) ? 1 : 0;
  }
  std::ifstream maps("/proc/self/maps");
  std::size_t lines = 0;
  for (std::string line; std::getline(maps, line);) lines += line.find("umbel-window") != std::string::npos ? 1 : 0;
  return {descriptors, lines, files};
}

/// nccl#127, mpich#2080: ten thousand communicators, one after another, leave no descriptor, mapping or file behind.
TEST(Cycles, TenThousandLeaveNothing) {
  for (const char* nodes : {"1", "2"}) {
    std::array<std::size_t, 3> before{}, after{};
    expect_all_right(run_threads(2, [&](int rank, Gathering& gathering) {
      for (int k = 0; k < 10'000; ++k) {
        if (k == 100 && rank == 0) before = belongings();
        const auto comm = runtime::Communicator::create(gathering.bootstrap(rank), test_options(nodes));
        expect_usable(*comm);
      }
      gathering.barrier();
      if (rank == 0) after = belongings();
    }));
    EXPECT_EQ(after[0], before[0]) << "descriptors";
    EXPECT_LE(after[1], before[1]) << "mappings";
    EXPECT_LE(after[2], before[2]) << "files in /dev/shm";
  }
}

}  // namespace
}  // namespace umbel::test
