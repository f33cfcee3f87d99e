// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/ucx/message.hpp"

#include <fmt/core.h>

namespace umbel::net {
namespace {

std::string_view call_name(Collective collective) {
  return collective == kSendRecv ? std::string_view("send_recv") : name_of(collective);
}

/// The arguments in which two summaries differ: `count 12 here, 13 there`.
std::string difference(const CallSummary& a, const CallSummary& b) {
  std::string text;
  const auto add = [&text](std::string_view what, const auto& mine, const auto& theirs) {
    if (mine == theirs) return;
    text += fmt::format("{}{} {} here, {} there", text.empty() ? "" : "; ", what, mine, theirs);
  };
  add("collective", call_name(a.collective), call_name(b.collective));
  add("count", a.count, b.count);
  add("hash of the counts", a.counts, b.counts);
  add("dtype", name_of(a.dtype), name_of(b.dtype));
  if (reduces(a.collective) && reduces(b.collective)) add("op", name_of(a.op), name_of(b.op));
  add("root", a.root, b.root);
  add("plan", a.plan, b.plan);
  add("earlier calls", a.earlier, b.earlier);
  add("variant", static_cast<int>(a.extra), static_cast<int>(b.extra));
  return text;
}

}  // namespace

std::string to_text(const CallSummary& summary) {
  std::string text(call_name(summary.collective));
  if (counted_by_pairs(summary.collective))
    text += fmt::format(" of {}", name_of(summary.dtype));
  else if (summary.collective != Collective::barrier)
    text += fmt::format(" of {} × {}", summary.count, name_of(summary.dtype));
  if (summary.counts != 0) text += fmt::format(", counts {:08x}", summary.counts);
  if (reduces(summary.collective)) text += fmt::format(", {}", name_of(summary.op));
  if (summary.root >= 0) text += fmt::format(", root {}", summary.root);
  if (summary.plan != 0) text += fmt::format(", plan {:04x}", summary.plan);
  return text;
}

std::string to_text(const Mismatch& m) {
  const std::string where = fmt::format("operation {}", m.key.sequence);
  if (m.only_length()) {
    return fmt::format(
        "{}: rank {} sent {} bytes where {} were expected (channel {}, message {}), in the same call: {}", where,
        m.key.source, m.found_bytes, m.expected_bytes, m.key.channel, m.key.index, to_text(m.expected));
  }
  return fmt::format("{}: this rank called {}, but rank {} called {} ({})", where, to_text(m.expected), m.key.source,
                     to_text(m.found), difference(m.expected, m.found));
}

}  // namespace umbel::net
