// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
#include "net/window/window.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/error.hpp"
#include "net/fork.hpp"
#include "net/host.hpp"
#include "net/process.hpp"
#include "net/window/memory_limits.hpp"

namespace umbel::net {
namespace {

using Nonce = std::pair<std::uint64_t, std::uint64_t>;

// The header: a page that begins with the nonce.
constexpr const char* kMemfdName = "umbel-window";

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t round_to_pages(std::size_t bytes) { return (bytes + page_bytes() - 1) / page_bytes() * page_bytes(); }

/// A descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd) noexcept : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }
  void reset() noexcept {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

std::string advice_for(int error, std::size_t bytes) {
  if (error == EMFILE || error == ENFILE) return "too many open descriptors: raise `ulimit -n`";
  if (const std::string obstacle = memory_obstacle(bytes); !obstacle.empty()) return obstacle;
  if (error == ENOMEM || error == ENOSPC) {
    return "out of memory, or past a limit on it (ulimit -v, control group): use fewer ranks per node, smaller windows";
  }
  if (error == ENOSYS || error == EPERM)
    return "a filter on system calls (seccomp) forbids it, or this kernel is older than Linux 3.17";
  return "see the error";
}

[[noreturn]] void throw_window_error(const char* call, int error, std::size_t bytes) {
  throw SystemError(fmt::format("shared memory window of {}: {}: {}; {}", bytes_text(bytes), call, std::strerror(error),
                                advice_for(error, bytes)));
}

}  // namespace

namespace detail {

/// One mmap of a window in this process. All ranks of a process that reach one window share one of these, so that
/// ThreadSanitizer, which is blind across two mappings of one memory, sees their accesses.
class Mapping {
 public:
  Mapping(void* base, const WindowDescriptor& descriptor, int fd) noexcept
      : base_(static_cast<std::byte*>(base)),
        total_bytes_(descriptor.total_bytes),
        header_bytes_(descriptor.header_bytes),
        nonce_(descriptor.nonce[0], descriptor.nonce[1]),
        fd_(fd) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  std::byte* data() const noexcept { return base_ + header_bytes_; }
  std::size_t bytes() const noexcept { return total_bytes_ - header_bytes_; }
  Nonce nonce() const noexcept { return nonce_; }
  int fd() const noexcept { return fd_.get(); }

 private:
  std::byte* base_;
  std::size_t total_bytes_;
  std::size_t header_bytes_;
  Nonce nonce_;
  Fd fd_;
};

}  // namespace detail

namespace {

/// Every window this process has mapped, by nonce.
class Registry {
 public:
  /// Never destroyed: windows in static objects may outlive it otherwise.
  static Registry& instance() {
    static auto* registry = new Registry;
    return *registry;
  }

  std::shared_ptr<detail::Mapping> find(Nonce nonce) {
    const std::lock_guard lock(mutex_);
    const auto found = mappings_.find(nonce);
    return found == mappings_.end() ? nullptr : found->second.lock();
  }

  /// Adds `mapping`, unless another thread was faster: then theirs is returned and `mapping` dies.
  std::shared_ptr<detail::Mapping> add(std::shared_ptr<detail::Mapping> mapping) {
    const std::lock_guard lock(mutex_);
    auto& entry = mappings_[mapping->nonce()];
    if (auto other = entry.lock()) return other;
    entry = mapping;
    return mapping;
  }

  void forget(Nonce nonce) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = mappings_.find(nonce);
    if (found != mappings_.end() && found->second.expired()) mappings_.erase(found);
  }

 private:
  std::mutex mutex_;
  std::map<Nonce, std::weak_ptr<detail::Mapping>> mappings_;
};

void give_pages(void* base, int fd, std::size_t offset, std::size_t bytes) {
  if (const std::string obstacle = memory_obstacle(bytes); !obstacle.empty())
    throw SystemError(fmt::format("shared memory window of {}: {}", bytes_text(bytes), obstacle));
#ifdef MADV_POPULATE_WRITE
  // First through the mapping, which honours the advice on huge pages; fallocate alone takes small ones. Whether it
  // worked is fallocate's to say: it only fills what is missing.
  (void)madvise(base, bytes, MADV_POPULATE_WRITE);
#else
  (void)base;
#endif
  int error = 0;
  do {
    error = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (error == EINTR);
  if (error != 0) throw_window_error("fallocate", error, bytes);
}

/// Maps `fd`; a child of fork must not have it (it would be the same memory, with the parent's peers at work in it).
void* map_window(int fd, std::size_t bytes, int protection) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20U;
  void* base = mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) throw_window_error("mmap", errno, bytes);
  (void)madvise(base, bytes, MADV_DONTFORK);
  if (bytes >= 2 * kHugePage) (void)madvise(base, bytes, MADV_HUGEPAGE);
  return base;
}

bool is_window_link(const std::string& path) {
  std::array<char, 64> target{};
  if (readlink(path.c_str(), target.data(), target.size() - 1) < 0) return false;
  return std::string(target.data()).rfind(fmt::format("/memfd:{}", kMemfdName), 0) == 0;
}

/// The owner's memfd, opened again; an empty Fd when it is out of reach or something else stands under that number.
Fd open_window(const WindowDescriptor& d) {
  if (d.pid_ns != 0 && host_hint().pid_ns != 0 && d.pid_ns != host_hint().pid_ns) return Fd(-1);
  if (has_ended(process_state(d.owner))) return Fd(-1);
  const std::string path = fmt::format("/proc/{}/fd/{}", d.owner.pid, d.fd);
  // Looked at before it is opened: opening another program's device or pipe could do things.
  if (!is_window_link(path)) return Fd(-1);
  Fd fd(open(path.c_str(), (d.peers == Peers::write ? O_RDWR : O_RDONLY) | O_CLOEXEC));
  if (fd.get() < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) throw_window_error("open", errno, d.total_bytes);
    return Fd(-1);
  }
  struct stat status {};
  std::uint64_t nonce[2] = {};
  const bool right = fstat(fd.get(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) == d.total_bytes &&
                     pread(fd.get(), nonce, sizeof nonce, 0) == static_cast<ssize_t>(sizeof nonce) &&
                     nonce[0] == d.nonce[0] && nonce[1] == d.nonce[1];
  return Fd(right ? fd.release() : -1);
}

}  // namespace

detail::Mapping::~Mapping() {
  // In a forked child nothing is mapped here (MADV_DONTFORK), something else may be by now, and the registry's lock may
  // be held for ever.
  if (forked()) return;
  Registry::instance().forget(nonce_);
  munmap(base_, total_bytes_);
}

Window::Window(std::shared_ptr<detail::Mapping> mapping, const WindowDescriptor& descriptor)
    : mapping_(std::move(mapping)), descriptor_(descriptor) {}

Window Window::create(std::size_t bytes, Peers peers) {
  refuse_if_forked("Window::create");
  watch_for_fork();
  WindowDescriptor d;
  d.header_bytes = page_bytes();
  d.total_bytes = d.header_bytes + round_to_pages(bytes);
  constexpr auto kLargest = static_cast<std::size_t>(std::numeric_limits<off_t>::max());
  if (d.total_bytes < bytes || d.total_bytes > kLargest) throw_window_error("size", EFBIG, bytes);
  if (const std::string obstacle = file_size_obstacle(d.total_bytes); !obstacle.empty())
    throw SystemError(fmt::format("shared memory window of {}: {}", bytes_text(d.total_bytes), obstacle));
  d.nonce[0] = random_bits();
  d.nonce[1] = random_bits();
  d.owner = this_process();
  d.pid_ns = host_hint().pid_ns;
  d.peers = peers;

  Fd fd(memfd_create(kMemfdName, MFD_CLOEXEC));
  if (fd.get() < 0) throw_window_error("memfd_create", errno, d.total_bytes);
  d.fd = fd.get();
  if (ftruncate(fd.get(), static_cast<off_t>(d.total_bytes)) != 0) {
    throw_window_error("ftruncate", errno, d.total_bytes);
  }
  void* base = map_window(fd.get(), d.total_bytes, PROT_READ | PROT_WRITE);
  auto mapping = std::make_shared<detail::Mapping>(base, d, fd.release());
  give_pages(base, d.fd, 0, d.header_bytes);
  std::memcpy(base, d.nonce, sizeof d.nonce);
  return {Registry::instance().add(std::move(mapping)), d};
}

void Window::populate(std::size_t offset, std::size_t bytes) {
  refuse_if_forked("Window::populate");
  give_pages(mapping_->data() + offset, mapping_->fd(), descriptor_.header_bytes + offset, bytes);
}

void Window::discard(std::size_t offset, std::size_t bytes) noexcept {
  if (forked()) return;
  const auto from = static_cast<off_t>(descriptor_.header_bytes + offset);
  if (fallocate(mapping_->fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, static_cast<off_t>(bytes)) != 0)
    std::memset(mapping_->data() + offset, 0, bytes);
}

std::byte* Window::data() const noexcept { return mapping_->data(); }
std::size_t Window::bytes() const noexcept { return mapping_->bytes(); }

PeerWindow::PeerWindow(std::shared_ptr<detail::Mapping> mapping) : mapping_(std::move(mapping)) {}
std::byte* PeerWindow::data() const noexcept { return mapping_->data(); }
std::size_t PeerWindow::bytes() const noexcept { return mapping_->bytes(); }

std::optional<PeerWindow> attach(const WindowDescriptor& descriptor) {
  refuse_if_forked("attach");
  const Nonce nonce(descriptor.nonce[0], descriptor.nonce[1]);
  if (auto mapping = Registry::instance().find(nonce)) return PeerWindow(std::move(mapping));
  const Fd fd = open_window(descriptor);
  if (fd.get() < 0) return std::nullopt;
  watch_for_fork();
  const int protection = descriptor.peers == Peers::write ? PROT_READ | PROT_WRITE : PROT_READ;
  void* base = map_window(fd.get(), descriptor.total_bytes, protection);
  return PeerWindow(Registry::instance().add(std::make_shared<detail::Mapping>(base, descriptor, -1)));
}

}  // namespace umbel::net
