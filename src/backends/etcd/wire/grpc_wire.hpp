#pragma once

#include <etcd_api.pb.h>
#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "backends/etcd/wire.hpp"
#include "backends/etcd/wire/library.hpp"
#include "backends/etcd/wire/stream_call.hpp"
#include "backends/etcd/wire/unary_call.hpp"

namespace holdfast::etcd::wire {

/// Implements the wire with gRPC. One thread waits for what gRPC has done and tells it; everything else runs on the
/// threads of the callers. One mutex guards all of it.
class GrpcWire final : public Wire {
 public:
  explicit GrpcWire(WireEvents& events);
  ~GrpcWire() override;

  void connect(const std::string& server, const std::optional<WireTls>& tls, Timeout time_for_an_address) override;
  bool give_up_connecting() override;
  void use_token(const std::string& token) override;

  void call(std::uint64_t call, std::span<const Transaction* const> transactions, Timeout timeout) override;
  void grant_lease(std::uint64_t call, std::int64_t seconds, Timeout timeout) override;
  void revoke_lease(std::uint64_t call, std::int64_t lease, Timeout timeout) override;
  void time_to_live(std::uint64_t call, std::int64_t lease, Timeout timeout) override;
  void authenticate(std::uint64_t call, const std::string& user, const std::string& password, Timeout timeout) override;

  void open(std::uint64_t stream, Stream kind) override;
  void close(std::uint64_t stream) override;
  void keep_alive(std::uint64_t stream, std::int64_t lease) override;
  void watch(std::uint64_t stream, const std::string& key, const std::string& range_end) override;
  void unwatch(std::uint64_t stream, std::int64_t watch) override;

 private:
  using KeepAliveStream = StreamCall<api::LeaseKeepAliveRequest, api::LeaseKeepAliveResponse>;
  using WatchStream = StreamCall<api::WatchRequest, api::WatchResponse>;

  /// A server, and whether it has ever answered.
  struct Connection {
    std::shared_ptr<grpc::Channel> channel;
    bool answered = false;
  };
  struct CallUnderWay {
    std::shared_ptr<Connection> connection;
    std::unique_ptr<Cancellable> call;
  };

  template <class Request, class Response, class ToPlain>
  void start_call(std::uint64_t call, const char* method, const Request& request, Timeout timeout, ToPlain to_plain);
  template <class Call, class OnResponse>
  std::unique_ptr<Call> start_stream(std::uint64_t stream, const char* method, OnResponse on_response);
  template <class Streams>
  static auto find(Streams& streams, std::uint64_t stream) -> decltype(streams.begin()->second.get());
  void prepare(grpc::ClientContext& context) const;
  static CallStatus plain_of(const grpc::Status& status, const Connection& connection);
  void serve();

  const Library library_;  // declared before everything of gRPC, so that it is destroyed last
  WireEvents& events_;
  std::mutex mutex_;
  std::shared_ptr<Connection> connection_;
  std::string token_;
  std::map<std::uint64_t, CallUnderWay> calls_;
  std::map<std::uint64_t, std::unique_ptr<KeepAliveStream>> keep_alive_streams_;
  std::map<std::uint64_t, std::unique_ptr<WatchStream>> watch_streams_;
  bool ending_ = false;
  grpc::CompletionQueue queue_;
  std::thread thread_;
};

}  // namespace holdfast::etcd::wire
