// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "runtime/point_to_point.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "net/window/cma.hpp"
#include "runtime/registered.hpp"

namespace umbel::runtime {
namespace {

using namespace std::chrono_literals;

constexpr auto kProcessLook = 100ms;

/// Messages of a pair are numbered apart from the operations, which never come so far.
constexpr std::uint64_t kPairs = std::uint64_t{1} << 63U;

std::size_t bytes_of(const Message& message) { return message.count * size_of(message.dtype); }

net::CallSummary summary_of(const Message& message) {
  return {.count = message.count, .collective = net::kSendRecv, .dtype = message.dtype};
}

std::string elements_text(std::uint64_t count, DType dtype) { return fmt::format("{} × {}", count, name_of(dtype)); }

}  // namespace

PointToPoint::PointToPoint(Members& members, Health& health, Waiter& waiter, bool direct)
    : members_(members),
      health_(health),
      waiter_(waiter),
      direct_(direct),
      kept_{std::vector<std::uint64_t>(members.all.size()), std::vector<std::uint64_t>(members.all.size())},
      sent_(members.all.size()),
      received_(members.all.size()) {}

void PointToPoint::check(const Message& message) const {
  constexpr std::uint64_t kMaxBytes = (std::uint64_t{1} << 48U) - 1;
  if (message.peer < 0 || message.peer >= members_.size())
    throw InvalidArgument(fmt::format("peer {} is none of the ranks 0 … {}", message.peer, members_.size() - 1));
  if (message.count > kMaxBytes / size_of(message.dtype))
    throw InvalidArgument(
        fmt::format("count {} of {} is more bytes than fit in memory", message.count, name_of(message.dtype)));
  if (message.count == 0) return;
  if (message.buffer == nullptr)
    throw InvalidArgument(
        fmt::format("{} is NULL while count is {}", message.sends() ? "send" : "recv", message.count));
  if (bytes_of(message) > std::numeric_limits<std::uintptr_t>::max() - reinterpret_cast<std::uintptr_t>(message.buffer))
    throw InvalidArgument(
        fmt::format("{} bytes from {} reach past the end of memory", bytes_of(message), message.buffer));
}

void PointToPoint::check_group(std::span<const Message> messages) const {
  std::vector<const Message*> sends;
  std::vector<const Message*> recvs;
  for (const Message& message : messages)
    if (message.peer == members_.me) (message.sends() ? sends : recvs).push_back(&message);
  if (sends.size() != recvs.size())
    throw InvalidArgument(
        fmt::format("{} sends of this rank to itself and {} receives from itself: they must meet in one group",
                    sends.size(), recvs.size()));
  for (std::size_t n = 0; n < sends.size(); ++n)
    if (summary_of(*sends[n]) != summary_of(*recvs[n]))
      throw InvalidArgument(fmt::format("this rank sends {} to itself and receives {}",
                                        elements_text(sends[n]->count, sends[n]->dtype),
                                        elements_text(recvs[n]->count, recvs[n]->dtype)));
}

/// Whatever goes wrong here fails the communicator.
template <class Body>
auto PointToPoint::guarded(Body&& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    health_.fail_after(error, [this] { return loss(); });
  }
}

ExchangeRef PointToPoint::start(std::span<const Message> messages) {
  last_waited_ = 0ns;
  next_look_ = kProcessLook;
  give_to_self(messages);
  auto exchange = std::make_shared<Exchange>();
  std::ranges::copy_if(messages, std::back_inserter(exchange->messages),
                       [this](const Message& message) { return message.peer != members_.me; });
  std::ranges::stable_sort(exchange->messages, {}, [](const Message& m) { return std::tuple(m.peer, m.direction); });
  exchange->requests.assign(exchange->messages.size(), net::RequestId::none);
  guarded([&] { begin_streams(exchange); });
  return exchange;
}

void PointToPoint::give_to_self(std::span<const Message> messages) {
  auto recv = messages.begin();
  for (const Message& send : messages) {
    if (send.peer != members_.me || !send.sends()) continue;
    while (recv->peer != members_.me || recv->sends()) ++recv;
    if (send.count != 0) std::memmove(recv->buffer, send.buffer, bytes_of(send));
    ++recv;
  }
}

void PointToPoint::begin_streams(const ExchangeRef& exchange) {
  const std::vector<Message>& messages = exchange->messages;
  const std::size_t first = streams_.size();
  for (std::size_t n = 0; n < messages.size(); ++n) {
    const Message& message = messages[n];
    if (streams_.size() == first || streams_.back().peer != message.peer || streams_.back().sends != message.sends())
      streams_.push_back({.exchange = exchange, .peer = message.peer, .sends = message.sends(), .next = n, .end = n});
    streams_.back().end = n + 1;
  }
  exchange->streams = streams_.size() - first;
  if (exchange->streams == 0) leaving_.push_back(exchange);
  for (std::size_t n = first; n < streams_.size(); ++n)
    if (!members_.local(streams_[n].peer)) post(streams_[n]);
}

void PointToPoint::post(const Stream& stream) {
  try {
    members_.connect(stream.peer);
  } catch (const UcxError& error) {
    health_.fail(FailureKind::peer, error.what());
  }
  std::uint64_t& messages_before = (stream.sends ? sent_ : received_)[static_cast<std::size_t>(stream.peer)];
  net::Transport& transport = *members_.transport;
  for (std::size_t n = stream.next; n < stream.end; ++n) {
    const Message& message = stream.exchange->messages[n];
    const net::MessageKey key{.source = stream.sends ? members_.me : stream.peer,
                              .sequence = kPairs | messages_before++};
    stream.exchange->requests[n] =
        stream.sends ? transport.post_send(stream.peer, key, summary_of(message), message.buffer, bytes_of(message))
                     : transport.post_recv(key, summary_of(message), message.buffer, bytes_of(message));
  }
}

PointToPoint::Round PointToPoint::advance() {
  if (streams_.empty() && leaving_.empty()) return Round::idle;
  return guarded([this] {
    const bool events = progress();
    bool moved = step();
    if (!leaving_.empty() && (!members_.transport || members_.transport->flushed())) {
      for (const ExchangeRef& exchange : leaving_) exchange->done = true;
      leaving_.clear();
      moved = true;
    }
    return moved ? Round::moved : events ? Round::events : Round::idle;
  });
}

bool PointToPoint::progress() {
  if (!members_.transport) return false;
  const bool moved = members_.transport->progress() != 0;
  if (moved) waiter_.note_events();
  health_.serve();
  return moved;
}

/// Whether anything has moved.
bool PointToPoint::step() {
  bool moved = false;
  ++round_;
  for (Stream& stream : streams_) {
    std::uint64_t& kept = kept_[stream.sends ? 0 : 1][static_cast<std::size_t>(stream.peer)];
    if (kept == round_) continue;  // an earlier one is first
    moved |= step(stream);
    if (stream.next != stream.end) kept = round_;
  }
  std::erase_if(streams_, [this](const Stream& stream) {
    if (!through(stream)) return false;
    if (--stream.exchange->streams == 0) leaving_.push_back(stream.exchange);
    return true;
  });
  return moved;
}

bool PointToPoint::step(Stream& stream) {
  if (stream.next == stream.end) return through(stream);
  return members_.local(stream.peer) ? step_mailbox(stream) : step_transport(stream);
}

Mailbox& PointToPoint::mailbox_of(const Stream& stream) const {
  return stream.sends ? members_.at(stream.peer).arena.mailbox(members_.me) : members_.own().mailbox(stream.peer);
}

/// A send is through when the receiver has fetched what was left to be fetched.
bool PointToPoint::through(const Stream& stream) const {
  if (stream.next != stream.end) return false;
  if (!stream.sends || !members_.local(stream.peer)) return true;
  return mailbox_of(stream).fetched.load(std::memory_order_acquire) >= stream.offered;
}

bool PointToPoint::step_mailbox(Stream& stream) {
  const Message& message = stream.message();
  const Member& member = members_.at(stream.peer);
  Mailbox& box = mailbox_of(stream);
  auto* const data = static_cast<std::byte*>(message.buffer);
  const std::size_t capacity = members_.own().mailbox_capacity();
  const auto read_sender = [&](std::uint64_t address, std::byte* into, std::size_t bytes) {
    const std::byte* const mapped =
        member.same_process ? reinterpret_cast<const std::byte*>(address)
                            : members_.mapped.find(stream.peer, member.arena.header().registered, address, bytes);
    if (mapped != nullptr)
      std::memcpy(into, mapped, bytes);
    else
      net::cma_read(member.process.pid, address, into, bytes);
  };
  if (stream.sends && direct_ && !stream.passage.begun)
    if (const auto window = RegisteredMemory::of_process().find(data, bytes_of(message)))
      (void)members_.own().header().registered.tell(*window);
  const Passed passed =
      stream.sends
          ? put_some(box, capacity, summary_of(message), data, bytes_of(message), direct_, stream.passage)
          : take_some(box, capacity, summary_of(message), data, bytes_of(message), read_sender, stream.passage);
  if (passed == Passed::nothing) return false;
  if (passed == Passed::mismatch) mismatch(stream, stream.passage.head.summary);
  member.ring_bell();
  if (passed == Passed::all) {
    if (stream.sends && stream.passage.head.address != 0) stream.offered = box.offered;
    ++stream.next;
    stream.passage = {};
  }
  return true;
}

bool PointToPoint::step_transport(Stream& stream) {
  const std::size_t first = stream.next;
  for (; stream.next != stream.end; ++stream.next) {
    net::RequestId& request = stream.exchange->requests[stream.next];
    const net::RequestState state = members_.transport->test(request);
    if (state == net::RequestState::pending) break;
    request = net::RequestId::none;
    if (state == net::RequestState::mismatch) mismatch(stream, members_.transport->last_mismatch().value().found);
    if (state == net::RequestState::failed)
      health_.fail(FailureKind::peer,
                   fmt::format("{} is lost to {}, in a {}: {}", members_.name(stream.peer), members_.name(members_.me),
                               text_of(stream.message()), members_.transport->last_failure()));
  }
  return stream.next != first;
}

void PointToPoint::mismatch(const Stream& stream, const net::CallSummary& found) {
  const Message& mine = stream.message();
  health_.fail(FailureKind::mismatch, fmt::format("{} sends {} to {}, which receives {}", members_.name(stream.peer),
                                                  elements_text(found.count, found.dtype), members_.name(members_.me),
                                                  elements_text(mine.count, mine.dtype)));
}

void PointToPoint::look(std::chrono::nanoseconds waited) {
  if (waited < last_waited_) next_look_ = kProcessLook;  // another wait
  last_waited_ = waited;
  if (waited >= next_look_) {
    next_look_ = waited + kProcessLook;
    // What a partner sent before its end still counts.
    if (const std::optional<std::string> lost = loss(); lost && advance() == Round::idle)
      health_.fail(FailureKind::peer, *lost);
  }
  if (waited >= health_.timeout() && !health_.failed()) health_.fail(FailureKind::timeout, waiting_text());
  health_.look(waited);
}

/// The first partner on this node that will never answer.
std::optional<std::string> PointToPoint::loss() const {
  for (const Stream& stream : streams_) {
    if (!members_.local(stream.peer)) continue;
    const std::string fate = health_.fate_of(stream.peer);
    if (fate.empty()) continue;
    return fmt::format("{} {}, in a {} on {}", members_.name(stream.peer), fate, text_of(stream.message()),
                       members_.name(members_.me));
  }
  return std::nullopt;
}

std::string PointToPoint::waiting_text() const {
  constexpr std::size_t kNamed = 3;  // a failure's text is short
  const double seconds = std::chrono::duration<double>(health_.timeout()).count();
  std::string text = fmt::format("no progress on rank {} for {:g} s, waiting in", members_.me, seconds);
  for (std::size_t n = 0; n < std::min(kNamed, streams_.size()); ++n) {
    const Stream& stream = streams_[n];
    text += fmt::format("{} {}, which {}", n == 0 ? "" : ";", text_of(stream.message()), health_.known_of(stream.peer));
  }
  if (streams_.empty()) text += " sends whose last bytes do not leave for the network";
  if (streams_.size() > kNamed) text += fmt::format("; and for {} more", streams_.size() - kNamed);
  return text;
}

/// "send of 100 × fp32 to rank 3 (host n1, pid 4711)".
std::string PointToPoint::text_of(const Message& message) const {
  return fmt::format("{} of {} {} {}", message.sends() ? "send" : "recv", elements_text(message.count, message.dtype),
                     message.sends() ? "to" : "from", members_.name(message.peer));
}

void PointToPoint::abandon() noexcept {
  for (const Stream& stream : streams_)
    for (net::RequestId& request : stream.exchange->requests)
      if (request != net::RequestId::none) members_.transport->abandon(std::exchange(request, net::RequestId::none));
  streams_.clear();
  leaving_.clear();
}

}  // namespace umbel::runtime
