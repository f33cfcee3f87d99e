// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026, the Umbel authors
//
// The C++ interface of Umbel: a header-only layer over umbel.h. C++20.
//
//   #include <umbel/umbel.hpp>
//   #include <umbel/umbel_mpi.h>               // only for from_mpi: umbel.hpp includes no mpi.h
//
//   umbel::Comm comm = umbel::Comm::from_mpi(MPI_COMM_WORLD);
//   std::vector<float> gradient(n), sum(n);
//   comm.all_reduce(gradient, sum);            // out-of-place
//   comm.all_reduce_in_place(sum, UMBEL_AVG);  // in-place
#pragma once

#if __cplusplus < 202002L
#error "umbel.hpp needs C++20 (in CMake: link umbel::umbel_cxx); umbel.h is for C and older C++"
#endif

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "umbel/umbel.h"

namespace umbel {
inline namespace v0 {

/// A failed call: the code, and the message as what().
class Error : public std::runtime_error {
 public:
  Error(umbel_result_t code, const std::string& message) : std::runtime_error(message), code_(code) {}
  umbel_result_t code() const noexcept { return code_; }

 private:
  umbel_result_t code_;
};

/// @throws Error with the calling thread's last message when `result` is not UMBEL_SUCCESS.
inline void check(umbel_result_t result) {
  if (result != UMBEL_SUCCESS) {
    throw Error(result, std::string(umbel_result_name(result)) + ": " + umbel_last_error());
  }
}

/// 16- and 8-bit floats as they lie in memory. For arithmetic use whatever type your program has, and reinterpret.
struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};
struct Fp8E4M3 {
  std::uint8_t bits;
};
struct Fp8E5M2 {
  std::uint8_t bits;
};

/// A value and where it was found, for UMBEL_MINLOC and UMBEL_MAXLOC.
template <class T>
struct ValueIndex {
  T value;
  std::int32_t index;
  bool operator==(const ValueIndex&) const = default;
};
static_assert(sizeof(ValueIndex<float>) == 8 && sizeof(ValueIndex<double>) == 16 &&
              sizeof(ValueIndex<std::int32_t>) == 8 && sizeof(ValueIndex<std::int64_t>) == 16 &&
              sizeof(ValueIndex<std::int16_t>) == 8);

namespace detail {
template <class T>
constexpr std::optional<umbel_dtype_t> dtype_of() noexcept {
  if constexpr (std::same_as<T, Half>) return UMBEL_FP16;
  if constexpr (std::same_as<T, BFloat16>) return UMBEL_BF16;
  if constexpr (std::same_as<T, Fp8E4M3>) return UMBEL_FP8_E4M3;
  if constexpr (std::same_as<T, Fp8E5M2>) return UMBEL_FP8_E5M2;
  if constexpr (std::same_as<T, std::complex<float>>) return UMBEL_COMPLEX64;
  if constexpr (std::same_as<T, std::complex<double>>) return UMBEL_COMPLEX128;
  if constexpr (std::same_as<T, ValueIndex<float>>) return UMBEL_FP32_INT32;
  if constexpr (std::same_as<T, ValueIndex<double>>) return UMBEL_FP64_INT32;
  if constexpr (std::same_as<T, ValueIndex<std::int32_t>>) return UMBEL_INT32_INT32;
  if constexpr (std::same_as<T, ValueIndex<std::int64_t>>) return UMBEL_INT64_INT32;
  if constexpr (std::same_as<T, ValueIndex<std::int16_t>>) return UMBEL_INT16_INT32;
  if constexpr (std::same_as<T, float>) return UMBEL_FP32;
  if constexpr (std::same_as<T, double>) return UMBEL_FP64;
  if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1) return is_signed ? UMBEL_INT8 : UMBEL_UINT8;
    if constexpr (sizeof(T) == 2) return is_signed ? UMBEL_INT16 : UMBEL_UINT16;
    if constexpr (sizeof(T) == 4) return is_signed ? UMBEL_INT32 : UMBEL_UINT32;
    if constexpr (sizeof(T) == 8) return is_signed ? UMBEL_INT64 : UMBEL_UINT64;
  }
  return std::nullopt;
}
}  // namespace detail

/// A type that has a umbel_dtype_t: the integers, float, double, Half, BFloat16, Fp8E4M3, Fp8E5M2, std::complex,
/// ValueIndex.
template <class T>
concept Element = detail::dtype_of<T>()
.has_value();

template <Element T>
inline constexpr umbel_dtype_t dtype_of = *detail::dtype_of<T>();

/// Contiguous elements: a vector, an array, a span.
template <class R>
concept ElementRange =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && Element<std::ranges::range_value_t<R>>;

template <class R>
concept WritableElementRange =
    ElementRange<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

template <class A, class B>
concept SameElement = std::same_as<std::ranges::range_value_t<A>, std::ranges::range_value_t<B>>;

/// A call without its buffers.
struct Call {
  umbel_collective_t collective = UMBEL_ALL_REDUCE;
  std::size_t count = 0;  ///< as the call takes it
  umbel_dtype_t dtype = UMBEL_FP32;
  umbel_op_t op = UMBEL_SUM;  ///< of a collective that reduces
  int root = 0;               ///< of a rooted one
};

/// Owner of an operation that was started, or prepared. Move-only. Its buffers must outlive it.
class Request {
 public:
  Request() noexcept = default;
  /// Takes ownership of `handle`.
  explicit Request(umbel_request_t handle) noexcept : handle_(handle) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  Request(Request&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Request& operator=(Request&& other) noexcept {
    if (this != &other) {
      umbel_request_free(handle_);
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  /// Waits for an operation that is under way.
  ~Request() { umbel_request_free(handle_); }

  /// Starts a prepared operation once more. @throws Error
  void start() { check(umbel_request_start(handle_)); }
  /// Goes on without waiting; whether the operation is done. @throws Error that it failed with
  bool test() {
    int done = 0;
    check(umbel_request_test(handle_, &done));
    return done != 0;
  }
  /// @throws Error that the operation failed with
  void wait() { check(umbel_request_wait(handle_)); }
  umbel_request_t native() const noexcept { return handle_; }

 private:
  umbel_request_t handle_ = nullptr;
};

/// Owner of an operator that umbel_op_create or umbel_op_create_premul_sum made; converts to a umbel_op_t. Move-only.
class Op {
 public:
  /// See umbel_op_create. @throws Error
  explicit Op(umbel_op_fn fn, void* context = nullptr, bool commutative = true) {
    check(umbel_op_create(fn, context, commutative ? 1 : 0, &handle_));
  }
  /// Multiplies this rank's input by `scalar`, and sums. @throws Error
  template <Element T>
  static Op premul_sum(const T& scalar) {
    Op op;
    check(umbel_op_create_premul_sum(&scalar, dtype_of<T>, &op.handle_));
    return op;
  }
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  Op(Op&& other) noexcept : handle_(std::exchange(other.handle_, kNone)) {}
  Op& operator=(Op&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Op() {
    if (handle_ != kNone) umbel_op_destroy(handle_);
  }

  operator umbel_op_t() const noexcept { return handle_; }

 private:
  static constexpr umbel_op_t kNone = -1;
  Op() noexcept = default;
  umbel_op_t handle_ = kNone;
};

/// Owner of elements that node-mates read in place (umbel_mem_alloc), for the buffers of calls. A contiguous range; all
/// zero at first. Move-only; a moved-from one is empty.
template <Element T>
class RegisteredArray {
 public:
  RegisteredArray() noexcept = default;
  /// @throws Error when there is not enough memory
  explicit RegisteredArray(std::size_t size) {
    if (size > std::numeric_limits<std::size_t>::max() / sizeof(T))
      throw Error(UMBEL_ERROR_SYSTEM, std::to_string(size) + " elements are more than fit in memory");
    void* memory = nullptr;
    check(umbel_mem_alloc(&memory, size * sizeof(T)));
    data_ = static_cast<T*>(memory);
    size_ = size;
  }
  RegisteredArray(const RegisteredArray&) = delete;
  RegisteredArray& operator=(const RegisteredArray&) = delete;
  RegisteredArray(RegisteredArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  RegisteredArray& operator=(RegisteredArray&& other) noexcept {
    if (this != &other) {
      umbel_mem_free(data_);
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~RegisteredArray() { umbel_mem_free(data_); }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  T& operator[](std::size_t index) noexcept { return data_[index]; }
  const T& operator[](std::size_t index) const noexcept { return data_[index]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Owner of a communicator. Move-only; a moved-from Comm owns nothing and may only be destroyed or assigned to.
class Comm {
 public:
  Comm() noexcept = default;
  /// Takes ownership of `handle`.
  explicit Comm(umbel_comm_t handle) noexcept : handle_(handle) {}
  /// Makes a communicator. Collective over the bootstrap's ranks. @throws Error
  explicit Comm(const umbel_bootstrap_t& bootstrap) { check(umbel_comm_create(&handle_, &bootstrap, nullptr)); }
  Comm(const umbel_bootstrap_t& bootstrap, const umbel_config_t& config) {
    check(umbel_comm_create(&handle_, &bootstrap, &config));
  }
  /// Makes a communicator over the ranks of an MPI communicator, which is not used afterwards. Collective over it. For
  /// programs that include umbel/umbel_mpi.h too, before or after this header.
  /// @param mpi_comm  an MPI_Comm  @throws Error
  template <class MpiComm>
  static Comm from_mpi(MpiComm mpi_comm, const umbel_config_t& config = UMBEL_CONFIG_INIT) {
    umbel_comm_t handle = nullptr;
    // by argument-dependent lookup when this is instantiated, so that the order of the includes does not matter
    check(umbel_comm_create_from_mpi(&handle, mpi_comm, &config));
    return Comm(handle);
  }

  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  Comm(Comm&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Comm& operator=(Comm&& other) noexcept {
    if (this != &other) {
      umbel_comm_destroy(handle_);
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  /// Errors are lost here: close() reports them.
  ~Comm() { umbel_comm_destroy(handle_); }

  /// Frees the communicator and reports errors. Collective. @throws Error
  void close() { check(umbel_comm_destroy(std::exchange(handle_, nullptr))); }

  umbel_comm_t native() const noexcept { return handle_; }
  /// Gives up ownership.
  umbel_comm_t release() noexcept { return std::exchange(handle_, nullptr); }
  explicit operator bool() const noexcept { return handle_ != nullptr; }

  umbel_comm_info_t info() const {
    umbel_comm_info_t info{};
    info.struct_size = sizeof(info);
    check(umbel_comm_get_info(handle_, &info));
    return info;
  }
  int rank() const { return info().rank; }
  int ranks() const { return info().ranks; }
  int nodes() const { return info().nodes; }

  // The collectives of umbel.h, blocking: its rules hold (in-place, NULL, mismatches). Lengths are the ranges'; `recv`,
  // or `send`, may be empty where a rank has none. All throw Error: InvalidArgument, Mismatch, Timeout, PeerFailure by
  // its code.

  /// Every rank gets the sum (or min, …) of `send` over the ranks, bitwise equal on all. @pre equal lengths
  template <ElementRange Send, WritableElementRange Recv>
  requires SameElement<Send, Recv>
  void all_reduce(const Send& send, Recv&& recv, umbel_op_t op = UMBEL_SUM) {
    demand(std::ranges::size(send) == std::ranges::size(recv), "all_reduce", send, recv, "as many");
    check(umbel_all_reduce(std::ranges::data(send), std::ranges::data(recv), std::ranges::size(recv), dtype<Recv>, op,
                           handle_));
  }
  /// The same with the result in place of the input.
  template <WritableElementRange Data>
  void all_reduce_in_place(Data&& data, umbel_op_t op = UMBEL_SUM) {
    check(umbel_all_reduce(std::ranges::data(data), std::ranges::data(data), std::ranges::size(data), dtype<Data>, op,
                           handle_));
  }

  /// Every rank's `data` becomes the root's. @pre equal lengths on all ranks
  template <WritableElementRange Data>
  void broadcast(Data&& data, int root) {
    check(umbel_broadcast(std::ranges::data(data), std::ranges::data(data), std::ranges::size(data), dtype<Data>, root,
                          handle_));
  }

  /// The root's `recv` becomes the sum (or min, …) of `send` over the ranks. @pre on the root: equal lengths
  template <ElementRange Send, WritableElementRange Recv>
  requires SameElement<Send, Recv>
  void reduce(const Send& send, Recv&& recv, int root, umbel_op_t op = UMBEL_SUM) {
    demand(rank() != root || std::ranges::size(send) == std::ranges::size(recv), "reduce", send, recv, "as many");
    check(umbel_reduce(std::ranges::data(send), std::ranges::data(recv), std::ranges::size(send), dtype<Send>, op, root,
                       handle_));
  }

  /// Every rank's `recv` becomes all ranks' `send`, in the order of ranks. @pre recv is ranks() times as long
  template <ElementRange Send, WritableElementRange Recv>
  requires SameElement<Send, Recv>
  void all_gather(const Send& send, Recv&& recv) {
    demand(std::ranges::size(recv) == shares_of(send), "all_gather", send, recv, "ranks times as many");
    check(umbel_all_gather(std::ranges::data(send), std::ranges::data(recv), std::ranges::size(send), dtype<Send>,
                           handle_));
  }

  /// Rank r's `recv` becomes share r of the sum (or min, …) of `send` over the ranks. @pre send is ranks() times as
  /// long
  template <ElementRange Send, WritableElementRange Recv>
  requires SameElement<Send, Recv>
  void reduce_scatter(const Send& send, Recv&& recv, umbel_op_t op = UMBEL_SUM) {
    demand(std::ranges::size(send) == shares_of(recv), "reduce_scatter", send, recv, "a rank's share of them");
    check(umbel_reduce_scatter(std::ranges::data(send), std::ranges::data(recv), std::ranges::size(recv), dtype<Recv>,
                               op, handle_));
  }

  /// Rank r's `recv` becomes share r of all ranks' `send`, in the order of ranks. @pre equal lengths, divisible by
  /// ranks()
  template <ElementRange Send, WritableElementRange Recv>
  requires SameElement<Send, Recv>
  void all_to_all(const Send& send, Recv&& recv) {
    const std::size_t share = std::ranges::size(send) / static_cast<std::size_t>(ranks());
    demand(std::ranges::size(send) == std::ranges::size(recv) &&
               share * static_cast<std::size_t>(ranks()) == std::ranges::size(send),
           "all_to_all", send, recv, "as many, a multiple of the ranks");
    check(umbel_all_to_all(std::ranges::data(send), std::ranges::data(recv), share, dtype<Send>, handle_));
  }

  /// The root's `recv` becomes all ranks' `send`, in the order of ranks. @pre on the root: recv is ranks() times as
  /// long
  template <ElementRange Send, WritableElementRange Recv>
  requires SameElement<Send, Recv>
  void gather(const Send& send, Recv&& recv, int root) {
    demand(rank() != root || std::ranges::size(recv) == shares_of(send), "gather", send, recv, "ranks times as many");
    check(umbel_gather(std::ranges::data(send), std::ranges::data(recv), std::ranges::size(send), dtype<Send>, root,
                       handle_));
  }

  /// Rank r's `recv` becomes share r of the root's `send`. @pre on the root: send is ranks() times as long
  template <ElementRange Send, WritableElementRange Recv>
  requires SameElement<Send, Recv>
  void scatter(const Send& send, Recv&& recv, int root) {
    demand(rank() != root || std::ranges::size(send) == shares_of(recv), "scatter", send, recv,
           "a rank's share of them");
    check(umbel_scatter(std::ranges::data(send), std::ranges::data(recv), std::ranges::size(recv), dtype<Recv>, root,
                        handle_));
  }

  // The v-forms, with shares of different lengths: counts and places of the shares, by rank, in elements. Places may be
  // left out: then the shares follow one another.
  using Counts = std::span<const std::size_t>;

  /// Every rank's `recv` becomes all ranks' `send`. @pre the same `counts` on all ranks
  template <ElementRange Send, WritableElementRange Recv>
  requires SameElement<Send, Recv>
  void all_gatherv(const Send& send, Recv&& recv, Counts counts, Counts displs = {}) {
    demand_shares("all_gatherv", recv, counts, displs);
    check(umbel_all_gatherv(std::ranges::data(send), std::ranges::size(send), std::ranges::data(recv), counts.data(),
                            places(displs), dtype<Send>, handle_));
  }

  /// Rank r's `recv` becomes share r of the sum (or min, …) of `send` over the ranks. @pre the same `counts` on all
  /// ranks
  template <ElementRange Send, WritableElementRange Recv>
  requires SameElement<Send, Recv>
  void reduce_scatterv(const Send& send, Recv&& recv, Counts counts, umbel_op_t op = UMBEL_SUM) {
    demand_shares("reduce_scatterv", send, counts, {});
    demand(std::ranges::size(recv) == counts[static_cast<std::size_t>(rank())], "reduce_scatterv", send, recv,
           "this rank's count");
    check(umbel_reduce_scatterv(std::ranges::data(send), std::ranges::data(recv), counts.data(), dtype<Send>, op,
                                handle_));
  }

  /// Rank r gets send_counts[r] elements of `send`. @pre its recv_counts[rank()] is the same
  template <ElementRange Send, WritableElementRange Recv>
  requires SameElement<Send, Recv>
  void all_to_allv(const Send& send, Counts send_counts, Recv&& recv, Counts recv_counts, Counts send_displs = {},
                   Counts recv_displs = {}) {
    demand_shares("all_to_allv", send, send_counts, send_displs);
    demand_shares("all_to_allv", recv, recv_counts, recv_displs);
    check(umbel_all_to_allv(std::ranges::data(send), send_counts.data(), places(send_displs), std::ranges::data(recv),
                            recv_counts.data(), places(recv_displs), dtype<Send>, handle_));
  }

  /// The root's `recv` becomes all ranks' `send`. `recv`, `counts` and `displs` may be empty elsewhere.
  template <ElementRange Send, WritableElementRange Recv>
  requires SameElement<Send, Recv>
  void gatherv(const Send& send, Recv&& recv, Counts counts, int root, Counts displs = {}) {
    if (rank() == root) demand_shares("gatherv", recv, counts, displs);
    check(umbel_gatherv(std::ranges::data(send), std::ranges::size(send), std::ranges::data(recv), counts.data(),
                        places(displs), dtype<Send>, root, handle_));
  }

  /// Rank r's `recv` becomes share r of the root's `send`. `send`, `counts` and `displs` may be empty elsewhere.
  template <ElementRange Send, WritableElementRange Recv>
  requires SameElement<Send, Recv>
  void scatterv(const Send& send, Counts counts, Recv&& recv, int root, Counts displs = {}) {
    if (rank() == root) demand_shares("scatterv", send, counts, displs);
    check(umbel_scatterv(std::ranges::data(send), counts.data(), places(displs), std::ranges::data(recv),
                         std::ranges::size(recv), dtype<Send>, root, handle_));
  }

  /// Returns when every rank has called it.
  void barrier() { check(umbel_barrier(handle_)); }

  // Messages between two ranks, as umbel.h has them; blocking, but in a group.

  /// Sends `data` to rank `peer`, which receives as many.
  template <ElementRange Data>
  void send(const Data& data, int peer) {
    check(umbel_send(std::ranges::data(data), std::ranges::size(data), dtype<Data>, peer, handle_));
  }
  /// Receives from rank `peer` what it sends next to this one. @pre `data` is as long
  template <WritableElementRange Data>
  void recv(Data&& data, int peer) {
    check(umbel_recv(std::ranges::data(data), std::ranges::size(data), dtype<Data>, peer, handle_));
  }
  /// Both at once: `send` to rank `dest`, `recv` from rank `source`. Their lengths may differ.
  template <ElementRange Send, WritableElementRange Recv>
  requires SameElement<Send, Recv>
  void sendrecv(const Send& send, int dest, Recv&& recv, int source) {
    check(umbel_sendrecv(std::ranges::data(send), std::ranges::size(send), dest, std::ranges::data(recv),
                         std::ranges::size(recv), source, dtype<Send>, handle_));
  }
  /// Between the two, sends and receives are only collected; group_end() runs them together. Their buffers must live
  /// until then. @throws Error
  void group_start() { check(umbel_group_start(handle_)); }
  void group_end() { check(umbel_group_end(handle_)); }

  /// Starts any of the collectives above and returns (umbel_start). @throws Error
  Request start(const umbel_args_t& args) {
    umbel_request_t request = nullptr;
    check(umbel_start(&args, handle_, &request));
    return Request(request);
  }
  /// Ends a group and returns; it goes on as a started call does (umbel_group_end_start). @throws Error
  Request group_end_start() {
    umbel_request_t request = nullptr;
    check(umbel_group_end_start(handle_, &request));
    return Request(request);
  }
  /// Prepares a call that is to be started many times (umbel_prepare). Collective. @throws Error
  Request prepare(const umbel_args_t& args) {
    umbel_request_t request = nullptr;
    check(umbel_prepare(&args, handle_, &request));
    return Request(request);
  }

  /// A communicator of the ranks with this color, in the order of `key`; an empty one for a negative color. Collective.
  /// @throws Error
  Comm split(int color, int key) {
    umbel_comm_t made = nullptr;
    check(umbel_comm_split(handle_, color, key, &made));
    return Comm(made);
  }
  /// Another communicator of the same ranks. Collective. @throws Error
  Comm dup() {
    umbel_comm_t made = nullptr;
    check(umbel_comm_dup(handle_, &made));
    return Comm(made);
  }

  /// Forces algorithms for the calls that follow, as umbel_comm_set_algorithm takes them. The same on every rank.
  /// @throws Error
  void set_algorithm(const std::string& name) { check(umbel_comm_set_algorithm(handle_, name.c_str())); }

  /// Why `algorithm` cannot serve this call; nullopt when it can. @throws Error on anything else (no such algorithm).
  std::optional<std::string> refusal(const std::string& algorithm, const Call& call) const {
    const umbel_call_t native{sizeof(native), call.collective, call.count, call.dtype, call.op, call.root};
    const umbel_result_t result = umbel_comm_supports(handle_, algorithm.c_str(), &native);
    if (result == UMBEL_ERROR_UNSUPPORTED) {
      return umbel_last_error();
    }
    check(result);
    return std::nullopt;
  }

  /// The algorithm that ran last and its predicted time.
  umbel_call_info_t last_call() const {
    umbel_call_info_t call{};
    call.struct_size = sizeof(call);
    check(umbel_comm_last_call(handle_, &call));
    return call;
  }

  /// @throws Error when the communicator has failed. Local: does not wait for other ranks (see umbel_comm_check).
  void check_health() const { check(umbel_comm_check(handle_)); }

 private:
  template <class Range>
  static constexpr umbel_dtype_t dtype = dtype_of<std::ranges::range_value_t<Range>>;

  /// Elements of all ranks' shares when `share` is one.
  template <class Range>
  std::size_t shares_of(const Range& share) const {
    return std::ranges::size(share) * static_cast<std::size_t>(ranks());
  }

  template <class Send, class Recv>
  static void demand(bool fits, const char* call, const Send& send, const Recv& recv, const char* needed) {
    if (fits) return;
    throw Error(UMBEL_ERROR_INVALID_ARGUMENT, std::string(call) + ": send has " +
                                                  std::to_string(std::ranges::size(send)) + " elements, recv has " +
                                                  std::to_string(std::ranges::size(recv)) + "; it must have " + needed);
  }

  static const std::size_t* places(Counts displs) { return displs.empty() ? nullptr : displs.data(); }

  /// The arrays are complete, and the buffer reaches as far as they say.
  template <class Range>
  void demand_shares(const char* call, const Range& buffer, Counts counts, Counts displs) const {
    const auto needed = static_cast<std::size_t>(ranks());
    if (counts.size() != needed || (!displs.empty() && displs.size() != needed))
      throw Error(UMBEL_ERROR_INVALID_ARGUMENT, std::string(call) + ": counts and displs must have an entry per rank");
    std::size_t end = 0, reach = 0;
    for (std::size_t r = 0; r < needed; ++r) {
      const std::size_t first = displs.empty() ? end : displs[r];
      end = first + counts[r];
      if (counts[r] != 0 && end > reach) reach = end;
    }
    if (reach > std::ranges::size(buffer))
      throw Error(UMBEL_ERROR_INVALID_ARGUMENT, std::string(call) + ": the buffer has " +
                                                    std::to_string(std::ranges::size(buffer)) +
                                                    " elements, the shares reach to " + std::to_string(reach));
  }

  umbel_comm_t handle_ = nullptr;
};

}  // namespace v0
}  // namespace umbel
