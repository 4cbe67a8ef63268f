#include "backends/etcd/wire/grpc_wire.hpp"

#include <grpc/grpc.h>
#include <grpc/support/log.h>

#include <cstdlib>
#include <utility>

#include "backends/etcd/wire/messages.hpp"
#include "base/signals_blocked.hpp"

namespace holdfast::etcd::wire {
namespace {

grpc::ChannelArguments channel_arguments(std::chrono::nanoseconds time_for_an_address) {
  constexpr int first_pause = 100;  // milliseconds
  constexpr int longest_pause = 1000;
  constexpr int largest_message = 256 << 20;
  constexpr int ping_every = 10'000;  // a server may refuse more than one ping in 5 s
  constexpr int ping_patience = 5000;
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, first_pause);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS,
                   static_cast<int>(time_for_an_address / std::chrono::milliseconds(1)));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, longest_pause);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, ping_every);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ping_patience);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // the clients of one process do not share failures
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // only the caller knows what may be repeated
  arguments.SetInt(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, largest_message);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE,
                   0);  // messages are small, so measuring the bandwidth costs more than it brings
  return arguments;
}

std::shared_ptr<grpc::ChannelCredentials> credentials_for(const std::optional<WireTls>& tls) {
  if (!tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = tls->authorities;
  options.pem_cert_chain = tls->certificate;
  options.pem_private_key = tls->key;
  return grpc::SslCredentials(options);
}

}  // namespace

GrpcWire::GrpcWire(WireEvents& events) : events_(events) {
  // A library writes nothing to the terminal, and what went wrong is in the answers. GRPC_VERBOSITY shows it all the same.
  constexpr int nothing = GPR_LOG_SEVERITY_ERROR + 1;
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_verbosity(static_cast<gpr_log_severity>(nothing));
  const base::SignalsBlocked blocked;
  thread_ = std::thread([this] { serve(); });
}

GrpcWire::~GrpcWire() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
    for (const auto& [number, under_way] : calls_) under_way.call->cancel();
    for (const auto& [number, stream] : keep_alive_streams_) stream->cancel();
    for (const auto& [number, stream] : watch_streams_) stream->cancel();
    // What was given up still comes back, so the queue ends only after that.
    if (calls_.empty() && keep_alive_streams_.empty() && watch_streams_.empty()) queue_.Shutdown();
  }
  thread_.join();
}

void GrpcWire::serve() {
  pthread_setname_np(pthread_self(), "holdfast-etcd");
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
    const std::scoped_lock lock(mutex_);
    static_cast<Tag*>(tag)->done(ok);
    if (ending_ && calls_.empty() && keep_alive_streams_.empty() && watch_streams_.empty()) queue_.Shutdown();
  }
}

// --- the connection -------------------------------------------------------------------------------------------------

void GrpcWire::connect(const std::string& server, const std::optional<WireTls>& tls, Timeout time_for_an_address) {
  const base::SignalsBlocked blocked;
  const std::scoped_lock lock(mutex_);
  connection_ = std::make_shared<Connection>();
  connection_->channel =
      grpc::CreateCustomChannel("dns:///" + server, credentials_for(tls), channel_arguments(time_for_an_address));
}

bool GrpcWire::give_up_connecting() {
  const std::scoped_lock lock(mutex_);
  const auto state = connection_->channel->GetState(false);
  if (connection_->answered || state == GRPC_CHANNEL_READY || state == GRPC_CHANNEL_IDLE) return false;
  for (const auto& [number, under_way] : calls_) {
    if (under_way.connection == connection_) under_way.call->cancel();
  }
  return true;
}

void GrpcWire::use_token(const std::string& token) {
  const std::scoped_lock lock(mutex_);
  token_ = token;
}

void GrpcWire::prepare(grpc::ClientContext& context) const {
  if (!token_.empty()) context.AddMetadata("token", token_);
  context.AddMetadata("hasleader", "true");  // a server that has lost its leader says so instead of waiting for one
}

CallStatus GrpcWire::plain_of(const grpc::Status& status, const Connection& connection) {
  CallStatus plain = {.code = static_cast<int>(status.error_code()), .message = status.error_message()};
  const bool failed_to_connect =
      status.error_code() == grpc::StatusCode::UNAVAILABLE &&
      (plain.message.starts_with("failed to connect to all addresses") ||
       plain.message.starts_with("DNS resolution failed") || plain.message.starts_with("empty address list"));
  const bool given_up =
      status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED || status.error_code() == grpc::StatusCode::CANCELLED;
  const bool never_connected =
      given_up && !connection.answered && connection.channel->GetState(false) != GRPC_CHANNEL_READY;
  plain.sent = !failed_to_connect && !never_connected;
  return plain;
}

// --- calls ----------------------------------------------------------------------------------------------------------

template <class Request, class Response, class ToPlain>
void GrpcWire::start_call(std::uint64_t call, const char* method, const Request& request, Timeout timeout,
                          ToPlain to_plain) {
  using Call = UnaryCall<Request, Response>;
  const base::SignalsBlocked blocked;
  const std::scoped_lock lock(mutex_);
  auto started = std::make_unique<Call>(
      [this, call, to_plain, connection = connection_](const grpc::Status& status, Response& response) {
        const CallStatus plain = plain_of(status, *connection);
        connection->answered = connection->answered || status.ok();
        if (!ending_) events_.replied(call, plain, status.ok() ? Reply(to_plain(response)) : Reply());
        calls_.erase(call);
      });
  prepare(started->context());
  started->start(connection_->channel, queue_, method, request, timeout);
  calls_.emplace(call, CallUnderWay{connection_, std::move(started)});
}

void GrpcWire::call(std::uint64_t call, std::span<const Transaction* const> transactions, Timeout timeout) {
  start_call<api::TxnRequest, api::TxnResponse>(
      call, "/etcdserverpb.KV/Txn", message_of(transactions), timeout,
      [count = transactions.size()](api::TxnResponse& response) { return wire::plain_of(response, count); });
}

void GrpcWire::grant_lease(std::uint64_t call, std::int64_t seconds, Timeout timeout) {
  api::LeaseGrantRequest request;
  request.set_ttl(seconds);
  start_call<api::LeaseGrantRequest, api::LeaseGrantResponse>(
      call, "/etcdserverpb.Lease/LeaseGrant", request, timeout, [](const api::LeaseGrantResponse& response) {
        return LeaseReply{response.id(), response.ttl(), response.header().raft_term()};
      });
}

void GrpcWire::revoke_lease(std::uint64_t call, std::int64_t lease, Timeout timeout) {
  api::LeaseRevokeRequest request;
  request.set_id(lease);
  start_call<api::LeaseRevokeRequest, api::LeaseRevokeResponse>(
      call, "/etcdserverpb.Lease/LeaseRevoke", request, timeout,
      [lease](const api::LeaseRevokeResponse&) { return LeaseReply{.id = lease}; });
}

void GrpcWire::time_to_live(std::uint64_t call, std::int64_t lease, Timeout timeout) {
  api::LeaseTimeToLiveRequest request;
  request.set_id(lease);
  start_call<api::LeaseTimeToLiveRequest, api::LeaseTimeToLiveResponse>(
      call, "/etcdserverpb.Lease/LeaseTimeToLive", request, timeout, [](const api::LeaseTimeToLiveResponse& response) {
        return LeaseReply{.id = response.id(), .seconds = response.ttl()};
      });
}

void GrpcWire::authenticate(std::uint64_t call, const std::string& user, const std::string& password, Timeout timeout) {
  api::AuthenticateRequest request;
  request.set_name(user);
  request.set_password(password);
  start_call<api::AuthenticateRequest, api::AuthenticateResponse>(
      call, "/etcdserverpb.Auth/Authenticate", request, timeout,
      [](const api::AuthenticateResponse& response) { return TokenReply{response.token()}; });
}

// --- streams --------------------------------------------------------------------------------------------------------

template <class Call, class OnResponse>
std::unique_ptr<Call> GrpcWire::start_stream(std::uint64_t stream, const char* method, OnResponse on_response) {
  auto started =
      std::make_unique<Call>(on_response, [this, stream, connection = connection_](const grpc::Status& status) {
        CallStatus plain = plain_of(status, *connection);
        if (status.error_code() == grpc::StatusCode::CANCELLED)
          plain.sent = true;  // its owner has closed it, so nothing is wrong
        if (!ending_) events_.stream_ended(stream, plain);
        keep_alive_streams_.erase(stream);
        watch_streams_.erase(stream);
      });
  prepare(started->context());
  started->start(connection_->channel, queue_, method);
  return started;
}

void GrpcWire::open(std::uint64_t stream, Stream kind) {
  const base::SignalsBlocked blocked;
  const std::scoped_lock lock(mutex_);
  if (kind == Stream::keep_alive) {
    auto on_response = [this, stream](const api::LeaseKeepAliveResponse& response) {
      if (!ending_) events_.kept_alive(stream, {.id = response.id(), .seconds = response.ttl()});
    };
    keep_alive_streams_.emplace(
        stream, start_stream<KeepAliveStream>(stream, "/etcdserverpb.Lease/LeaseKeepAlive", on_response));
  } else {
    auto on_response = [this, stream](api::WatchResponse& response) {
      if (!ending_) events_.watched(stream, wire::plain_of(response));
    };
    watch_streams_.emplace(stream, start_stream<WatchStream>(stream, "/etcdserverpb.Watch/Watch", on_response));
  }
}

template <class Streams>
auto GrpcWire::find(Streams& streams, std::uint64_t stream) -> decltype(streams.begin()->second.get()) {
  const auto found = streams.find(stream);
  return found == streams.end() ? nullptr : found->second.get();
}

void GrpcWire::close(std::uint64_t stream) {
  const std::scoped_lock lock(mutex_);
  if (KeepAliveStream* const found = find(keep_alive_streams_, stream)) found->cancel();
  if (WatchStream* const found = find(watch_streams_, stream)) found->cancel();
}

void GrpcWire::keep_alive(std::uint64_t stream, std::int64_t lease) {
  const std::scoped_lock lock(mutex_);
  api::LeaseKeepAliveRequest request;
  request.set_id(lease);
  if (KeepAliveStream* const found = find(keep_alive_streams_, stream)) found->write(std::move(request));
}

void GrpcWire::watch(std::uint64_t stream, const std::string& key, const std::string& range_end) {
  const std::scoped_lock lock(mutex_);
  api::WatchRequest request;
  request.mutable_create_request()->set_key(key);
  request.mutable_create_request()->set_range_end(range_end);
  if (WatchStream* const found = find(watch_streams_, stream)) found->write(std::move(request));
}

void GrpcWire::unwatch(std::uint64_t stream, std::int64_t watch) {
  const std::scoped_lock lock(mutex_);
  api::WatchRequest request;
  request.mutable_cancel_request()->set_watch_id(watch);
  if (WatchStream* const found = find(watch_streams_, stream)) found->write(std::move(request));
}

}  // namespace holdfast::etcd::wire

extern "C" __attribute__((visibility("default"))) holdfast::etcd::Wire* holdfast_etcd_make_wire_5(
    holdfast::etcd::WireEvents& events) {
  return new holdfast::etcd::wire::GrpcWire(events);
}
