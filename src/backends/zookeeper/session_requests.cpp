// What is asked in a session, and how the answers come back.

#include <zookeeper/zookeeper.h>

#include <utility>

#include "backends/zookeeper/answers.hpp"
#include "backends/zookeeper/session_callbacks.hpp"

namespace holdfast::zookeeper {

using base::Instant;

/// One request on its way. Whoever made it may have gone when the answer comes; the session has not.
struct Session::Exchange {
  std::shared_ptr<Session> session;
  base::Future<Reply> reply;
  Instant sent;
  bool writes;
  std::string removes = {};
  std::string creates = {};  ///< the path that was asked for
  bool is_numbered = false;  ///< the servers append a number to it
  // Of a change with several parts: where the library puts the answers.
  std::vector<zoo_op_result_t> results = {};
  std::string path = {};
  Stat stat = {};
};

namespace {

constexpr std::size_t longest_path = 4096;

int mode_of(Session::Lasting lasting) {
  switch (lasting) {
    case Session::Lasting::persistent: return ZOO_PERSISTENT;
    case Session::Lasting::container: return ZOO_CONTAINER;
    case Session::Lasting::ephemeral: return ZOO_EPHEMERAL;
    case Session::Lasting::ephemeral_sequential: return ZOO_EPHEMERAL_SEQUENTIAL;
  }
  return ZOO_EPHEMERAL;
}

/// With credentials, what we make is ours alone.
const ACL_vector& access_for(const Address& address) {
  return address.user.empty() ? ZOO_OPEN_ACL_UNSAFE : ZOO_CREATOR_ALL_ACL;
}

int flag_of(Session::Watching watching) { return watching == Session::Watching::yes ? 1 : 0; }

}  // namespace

// --- requests -------------------------------------------------------------------------------------------------------

/// Null if it cannot be sent.
Session::Exchange* Session::begin(const base::Future<Reply>& reply, bool writes) {
  if (state_ != State::up || handle_ == nullptr || zoo_state(handle_) != ZOO_CONNECTED_STATE) {
    reply.answer({.outcome = Outcome::not_sent});
    return nullptr;
  }
  return new Exchange{.session = shared_from_this(), .reply = reply, .sent = loop_.now(), .writes = writes};
}

void Session::sent_or_not(Exchange* exchange, int code) {
  drive_soon();
  if (code == ZOK) return;
  const base::Future<Reply> reply = exchange->reply;
  delete exchange;
  const bool refused = code == ZBADARGUMENTS || code == ZMARSHALLINGERROR;
  reply.answer({.outcome = refused ? Outcome::failed : Outcome::not_sent, .text = zerror(code)});
}

base::Future<Reply> Session::create(const std::string& path, std::string_view data, Lasting lasting) {
  base::Future<Reply> reply;
  if (Exchange* const exchange = begin(reply, true)) {
    exchange->creates = path;
    exchange->is_numbered = lasting == Lasting::ephemeral_sequential;
    sent_or_not(exchange, zoo_acreate2(handle_, path.c_str(), data.data(), static_cast<int>(data.size()),
                                       &access_for(address_), mode_of(lasting), &Callbacks::created, exchange));
  }
  return reply;
}

base::Future<Reply> Session::remove(const std::string& path) {
  base::Future<Reply> reply;
  if (Exchange* const exchange = begin(reply, true)) {
    exchange->removes = path;
    sent_or_not(exchange, zoo_adelete(handle_, path.c_str(), any_version, &Callbacks::done, exchange));
  }
  return reply;
}

base::Future<Reply> Session::set(const std::string& path, std::string_view data, std::int32_t version) {
  base::Future<Reply> reply;
  if (Exchange* const exchange = begin(reply, true)) {
    sent_or_not(exchange, zoo_aset(handle_, path.c_str(), data.data(), static_cast<int>(data.size()), version,
                                   &Callbacks::with_stat, exchange));
  }
  return reply;
}

base::Future<Reply> Session::get(const std::string& path, Watching watching) {
  base::Future<Reply> reply;
  if (Exchange* const exchange = begin(reply, false)) {
    sent_or_not(exchange, zoo_aget(handle_, path.c_str(), flag_of(watching), &Callbacks::with_data, exchange));
  }
  return reply;
}

base::Future<Reply> Session::exists(const std::string& path, Watching watching) {
  base::Future<Reply> reply;
  if (Exchange* const exchange = begin(reply, false)) {
    sent_or_not(exchange, zoo_aexists(handle_, path.c_str(), flag_of(watching), &Callbacks::with_stat, exchange));
  }
  return reply;
}

base::Future<Reply> Session::children(const std::string& path, Watching watching) {
  base::Future<Reply> reply;
  if (Exchange* const exchange = begin(reply, false)) {
    sent_or_not(exchange,
                zoo_aget_children2(handle_, path.c_str(), flag_of(watching), &Callbacks::with_children, exchange));
  }
  return reply;
}

base::Future<Reply> Session::sync(const std::string& path) {
  base::Future<Reply> reply;
  if (Exchange* const exchange = begin(reply, false)) {
    sent_or_not(exchange, zoo_async(handle_, path.c_str(), &Callbacks::synced, exchange));
  }
  return reply;
}

base::Future<Reply> Session::together(const std::vector<Part>& parts) {
  base::Future<Reply> reply;
  Exchange* const exchange = begin(reply, true);
  if (exchange == nullptr) return reply;
  std::vector<zoo_op_t> operations(parts.size());
  exchange->results.resize(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    const int length = static_cast<int>(part.data.size());
    switch (part.kind) {
      case Part::Kind::create: {
        char* answer = nullptr;
        if (exchange->path.empty()) {
          exchange->path.resize(longest_path);
          exchange->creates = part.path;
          exchange->is_numbered = part.lasting == Lasting::ephemeral_sequential;
          answer = exchange->path.data();
        }
        zoo_create_op_init(&operations[i], part.path.c_str(), part.data.data(), length, &access_for(address_),
                           mode_of(part.lasting), answer, answer == nullptr ? 0 : static_cast<int>(longest_path));
        break;
      }
      case Part::Kind::set:
        zoo_set_op_init(&operations[i], part.path.c_str(), part.data.data(), length, any_version, &exchange->stat);
        break;
      case Part::Kind::remove: zoo_delete_op_init(&operations[i], part.path.c_str(), any_version); break;
    }
  }
  sent_or_not(exchange, zoo_amulti(handle_, static_cast<int>(parts.size()), operations.data(), exchange->results.data(),
                                   &Callbacks::done, exchange));
  return reply;
}

// --- answers --------------------------------------------------------------------------------------------------------

void Session::Callbacks::finish(int code, Reply reply, const void* exchange) {
  const std::unique_ptr<Exchange> owned(static_cast<Exchange*>(const_cast<void*>(exchange)));
  reply.outcome = outcome_of(code);
  if (reply.outcome == Outcome::failed) reply.text = std::string(zerror(code)) + " (" + std::to_string(code) + ")";
  Session& session = *owned->session;
  if (was_heard(reply.outcome)) session.proof_.answered(owned->sent);
  if (owned->writes && reply.ok()) session.proof_.committed(owned->sent);
  owned->reply.answer(std::move(reply));
}

void Session::Callbacks::created(int code, const char* path, const Stat* stat, const void* exchange) {
  Reply reply;
  const auto* const owned = static_cast<const Exchange*>(exchange);
  if (code == ZOK && (path == nullptr || !is_path_for(path, owned->creates, owned->is_numbered))) code = not_understood;
  if (code == ZOK) {
    reply.text = path;
    owned->session->line_cache_.added(reply.text);
  }
  if (code == ZOK) reply.stat = stat_from(stat);
  finish(code, std::move(reply), exchange);
}

void Session::Callbacks::done(int code, const void* exchange) {
  Reply reply;
  const auto* const owned = static_cast<const Exchange*>(exchange);
  if (code == ZOK && !owned->path.empty()) {
    reply.text = owned->path.data();  // NOLINT(readability-redundant-string-cstr): up to the NUL
    if (!is_path_for(reply.text, owned->creates, owned->is_numbered)) code = not_understood;
  }
  if (code == ZOK && !owned->results.empty()) reply.stat = stat_from(&owned->stat);
  if (code == ZOK && !owned->removes.empty()) owned->session->line_cache_.removed(owned->removes);
  finish(code, std::move(reply), exchange);
}

void Session::Callbacks::with_stat(int code, const Stat* stat, const void* exchange) {
  finish(code, {.stat = code == ZOK ? stat_from(stat) : NodeStat{}}, exchange);
}

void Session::Callbacks::with_data(int code, const char* data, int length, const Stat* stat, const void* exchange) {
  Reply reply;
  if (code == ZOK && data != nullptr && length > 0) reply.text.assign(data, static_cast<std::size_t>(length));
  if (code == ZOK) reply.stat = stat_from(stat);
  finish(code, std::move(reply), exchange);
}

void Session::Callbacks::with_children(int code, const String_vector* names, const Stat* stat, const void* exchange) {
  Reply reply;
  if (code == ZOK && names != nullptr) {
    reply.stat = stat_from(stat);
    if (!read_names(*names, reply.children)) code = not_understood;
  }
  finish(code, std::move(reply), exchange);
}

void Session::Callbacks::synced(int code, const char* /*path*/, const void* exchange) { finish(code, {}, exchange); }

// --- what nobody asked for ------------------------------------------------------------------------------------------

void Session::Callbacks::watcher(zhandle_t* /*handle*/, int type, int state, const char* path, void* context) {
  Session& session = *static_cast<Session*>(context);
  if (session.has_ended()) return;
  if (type != ZOO_SESSION_EVENT) {
    if (path != nullptr) session.owner_.node_changed(session, path);
    return;
  }
  if (state == ZOO_CONNECTED_STATE) {
    if (session.state_ == State::connecting) session.connected();
  } else if (state == ZOO_EXPIRED_SESSION_STATE) {
    session.end({Errc::unreachable, "the session with " + session.address_.shown() + " has expired"});
  } else if (state == ZOO_READONLY_STATE) {  // never asked for, so it is no server that says so
    session.end(session.not_zookeeper());
  } else if (state == ZOO_AUTH_FAILED_STATE) {
    session.end({Errc::access_denied, session.address_.shown() + " refused the user or the password of the URL"});
  } else if (session.state_ == State::up) {
    session.disconnected();
  }
}

void Session::Callbacks::authenticated(int code, const void* context) {
  Session& session = *static_cast<Session*>(const_cast<void*>(context));
  if (code == ZAUTHFAILED && !session.has_ended()) {
    session.end({Errc::access_denied, session.address_.shown() + " refused the user or the password of the URL"});
  }
}

}  // namespace holdfast::zookeeper
