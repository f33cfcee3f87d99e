// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/mailbox.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace umbel::runtime {
namespace {

/// A mailbox with its pipe, all zeroes.
class MailboxTest : public testing::TestWithParam<std::tuple<std::size_t, bool>> {
 protected:
  std::size_t capacity() const { return std::get<0>(GetParam()); }
  bool readable() const { return std::get<1>(GetParam()); }
  Mailbox& box() { return *reinterpret_cast<Mailbox*>(lines_.data()); }

  static net::CallSummary summary(std::size_t bytes) {
    return {.count = bytes, .collective = net::kSendRecv, .dtype = DType::uint8};
  }
  Passed put(const std::vector<std::byte>& data, Passage& passage) {
    return put_some(box(), capacity(), summary(data.size()), data.data(), data.size(), readable(), passage);
  }
  Passed take(std::vector<std::byte>& data, Passage& passage) {
    const auto read = [](std::uint64_t address, std::byte* into, std::size_t bytes) {
      std::memcpy(into, reinterpret_cast<const std::byte*>(address), bytes);
    };
    return take_some(box(), capacity(), summary(data.size()), data.data(), data.size(), read, passage);
  }
  static std::vector<std::byte> payload(std::size_t n) {
    constexpr std::size_t kLengths[] = {0, 1, 31, 32, 33, 200, 511, 512, 513, 5000, 70'001, 300'000};
    std::vector<std::byte> data(kLengths[n % std::size(kLengths)]);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 31 + i / 251 + n);
    return data;
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> lines_ = std::vector<Line>((sizeof(Mailbox) + capacity()) / sizeof(Line));
};

TEST_P(MailboxTest, MessagesComeThroughWholeAndInOrder) {
  constexpr std::size_t kMessages = 36;
  std::thread sender([this] {
    for (std::size_t n = 0; n < kMessages; ++n) {
      const std::vector<std::byte> data = payload(n);
      Passage passage;
      for (Passed passed = Passed::nothing; passed != Passed::all; passed = put(data, passage))
        if (passed == Passed::nothing) std::this_thread::yield();
      while (box().fetched.load(std::memory_order_acquire) != box().offered) std::this_thread::yield();
    }
  });
  for (std::size_t n = 0; n < kMessages; ++n) {
    const std::vector<std::byte> expected = payload(n);
    std::vector<std::byte> data(expected.size());
    Passage passage;
    for (Passed passed = Passed::nothing; passed != Passed::all; passed = take(data, passage)) {
      ASSERT_NE(passed, Passed::mismatch);
      if (passed == Passed::nothing) std::this_thread::yield();
    }
    EXPECT_TRUE(data == expected) << n;
  }
  sender.join();
  EXPECT_EQ(box().written.load(), box().read.load());
}

TEST_P(MailboxTest, SmallMessagesWaitForTheirReceiver) {
  const std::vector<std::byte> data(16, std::byte{7});
  std::size_t held = 0;
  for (Passage passage; put(data, passage) == Passed::all; passage = {}) ++held;
  EXPECT_EQ(held, capacity() / (2 * kMailboxGrain));
  for (std::size_t n = 0; n < held; ++n) {
    std::vector<std::byte> received(16);
    Passage passage;
    EXPECT_EQ(take(received, passage), Passed::all);
    EXPECT_EQ(received, data);
  }
  std::vector<std::byte> received(16);
  Passage passage;
  EXPECT_EQ(take(received, passage), Passed::nothing);
}

TEST_P(MailboxTest, AnotherMessageThanExpectedIsShown) {
  Passage out, in;
  put(std::vector<std::byte>(100'000), out);
  std::vector<std::byte> received(3);
  EXPECT_EQ(take(received, in), Passed::mismatch);
  EXPECT_EQ(in.head.summary, summary(100'000));
}

INSTANTIATE_TEST_SUITE_P(Sizes, MailboxTest,
                         testing::Combine(testing::Values(Mailbox::capacity(2), Mailbox::capacity(100),
                                                          Mailbox::capacity(100'000)),
                                          testing::Bool()));

TEST(Mailboxes, StaySmall) {
  for (const std::size_t ranks : {1U, 2U, 8U, 100U, 512U}) {
    EXPECT_LE(ranks * Mailbox::capacity(ranks), 256U << 10U);
    EXPECT_EQ(Mailbox::capacity(ranks) % kMailboxGrain, 0U);
  }
  EXPECT_EQ(Mailbox::capacity(1'000'000), 512U);
}

}  // namespace
}  // namespace umbel::runtime
