#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backends/etcd/address.hpp"
#include "backends/etcd/failures.hpp"
#include "backends/etcd/preparations.hpp"
#include "backends/etcd/wire.hpp"
#include "base/lifetime.hpp"
#include "spi/loop.hpp"
#include "spi/operation.hpp"

namespace holdfast::etcd {

/// Is told what happens on the streams of the wire. Everything is told under the monitor.
class StreamListener {
 public:
  virtual ~StreamListener() = default;
  virtual void kept_alive(std::uint64_t stream, const LeaseReply& lease) = 0;
  virtual void watched(std::uint64_t stream, WatchReply reply) = 0;
  virtual void stream_ended(std::uint64_t stream) = 0;
  /// Another server is used from now on, so streams have to be opened again.
  virtual void moved() = 0;
};

/// Calls one of a cluster's servers, and another one when that one fails. Logs in if the URL names a user. Every call is
/// answered by its deadline, and never inside the function that makes it.
///
/// A call costs the servers about the same whatever it contains. So while some transactions are under way, others that
/// may go together are gathered. They are sent as one when an answer comes, or after 2 ms.
///
/// If there are several servers, one that cannot be connected to within 0.4 s is passed over, and the calls that wait
/// for it go to the next one. When all of them were passed over, each is given twice as long, because they may be far
/// away.
class ServerCalls final : WireEvents {
 public:
  /// Provides the wire and the contents of the files that the URL names. It may block, and does not run under the
  /// monitor.
  using Prepare = spi::Result<Preparations> (*)(const std::optional<kit::TlsFiles>& files);

  /// Contacts nobody and loads nothing yet. REQUIRES: `loop` and `address` outlive it. Throws Error in a child that was
  /// forked after its parent had used etcd, because gRPC does not survive that.
  ServerCalls(spi::Loop& loop, const Address& address, Prepare preparation = &Preparations::made_from);
  ServerCalls(const ServerCalls&) = delete;
  ServerCalls& operator=(const ServerCalls&) = delete;

  void listen(StreamListener& listener) { listeners_.push_back(&listener); }

  using Instant = base::Instant;
  /// The reply has one outcome for each operation of the branch that was taken.
  void transact(Transaction transaction, Instant deadline, spi::Done<TransactionReply> done);
  void grant_lease(std::int64_t seconds, Instant deadline, spi::Done<LeaseReply> done);
  void revoke_lease(std::int64_t lease, Instant deadline, spi::Done<LeaseReply> done);
  void time_to_live(std::int64_t lease, Instant deadline, spi::Done<LeaseReply> done);

  /// By when a request must be answered that has waited for other requests of this client since `began`. As long as the
  /// servers answer, its patience begins now.
  Instant deadline_after(Instant began, base::Duration patience) const;

  /// The largest term that a server has told. It grows when another leader is elected. 0 if none was told yet.
  std::uint64_t term() const { return term_; }

  /// Leaves the present server. Another one is used from now on, if there is one.
  void move_on();

  /// For the streams. Null while nothing can be sent.
  Wire* wire();
  std::uint64_t next_number() { return ++last_number_; }

  const Address& address() const { return address_; }
  /// Answers all calls, and refuses later ones.
  void close();
  /// Revokes leases after close(), if that can be done soon. `done` is told in any case.
  void give_back(const std::vector<std::int64_t>& leases, spi::Done<> done);
  bool closed() const { return closed_; }

 private:
  struct GrantLease {
    std::int64_t seconds;
  };
  struct RevokeLease {
    std::int64_t lease;
  };
  struct TimeToLive {
    std::int64_t lease;
  };
  struct Login {};
  using Request = std::variant<Transaction, GrantLease, RevokeLease, TimeToLive, Login>;

  struct Call {
    Request request;
    Instant deadline = {};
    base::Callback<void(spi::Result<Reply>)> done;
    std::size_t attempts = 0;
    bool logged_in_again = false;
    bool alone = false;  ///< it is never sent together with others

    const std::string* about() const;
  };
  /// Calls that are under way together, as one.
  struct Sending {
    std::vector<Call> calls;
    std::uint64_t connection = 0;
    bool gathered = false;
  };

  template <class T>
  void start(Request request, Instant deadline, spi::Done<T> done);
  void send(Call call);
  void gather(Call call);
  void send_gathered();
  std::vector<Call> take_what_goes_together();
  void transmit(std::vector<Call> calls, bool gathered);
  void wait_until_prepared(Call call);
  void prepare();
  void prepared(spi::Result<Preparations> preparations);
  std::optional<spi::Failure> use(Preparations preparations);
  void limit_preparing(Instant deadline);
  void preparing_takes_long();
  void connect();
  std::size_t rounds() const;
  void limit_connecting();
  void connecting_takes_long();
  void log_in(Instant deadline);
  void logged_in(spi::Result<Reply> result);
  void answered(std::uint64_t number, const CallStatus& status, Reply reply);
  void note_term(const Reply& reply);
  void succeeded(std::vector<Call> calls, Reply reply);
  void failed(Call call, const CallStatus& status, bool in_company);
  static bool makes_sense(const Transaction& asked, const TransactionReply& told);
  static Effect effect_of(const Request& request);
  static bool is_read_only(const Transaction& transaction);
  void fail_soon(Call call, spi::Failure failure);

  // On the wire's thread.
  void replied(std::uint64_t call, CallStatus status, Reply reply) override;
  void kept_alive(std::uint64_t stream, LeaseReply lease) override;
  void watched(std::uint64_t stream, WatchReply reply) override;
  void stream_ended(std::uint64_t stream, CallStatus status) override;
  template <class Task>
  void come_back(Task task);

  spi::Loop& loop_;
  const Address& address_;
  const Prepare prepare_;
  std::vector<StreamListener*> listeners_;
  std::map<std::uint64_t, Sending> sendings_;
  std::vector<Call> gathered_;
  spi::Timer gathered_timer_;
  std::size_t gathered_under_way_ = 0;
  std::vector<Call> waiting_for_login_;
  std::vector<Call> unprepared_;  ///< calls that wait for the preparations
  spi::Timer preparing_timer_;
  bool preparing_ = false;
  bool prepared_ = false;  ///< false again when a server refuses the certificates, whose files may be mended meanwhile
  std::optional<WireTls> tls_;
  spi::Timer connecting_timer_;
  Instant contacted_ = {};       ///< when the present server was first sent something
  bool connected_ = false;       ///< the present server has answered
  std::size_t passed_over_ = 0;  ///< how many servers were passed over since one has answered
  std::uint64_t last_number_ = 0;
  std::uint64_t connection_ = 0;
  std::uint64_t connected_at_ = 0;  ///< the streams of this connection have larger numbers
  std::size_t server_ = 0;
  Instant heard_ = Instant::min();  ///< when a server answered last
  std::uint64_t term_ = 0;
  bool logging_in_ = false;
  bool has_token_ = false;
  bool closed_ = false;
  base::Lifetime lifetime_;     ///< used under the monitor only
  std::unique_ptr<Wire> wire_;  ///< the last member, because its destructor waits for its thread
};

/// `co_await transacting(...)` returns the reply.
inline auto transacting(ServerCalls& calls, Transaction transaction, base::Instant deadline) {
  return spi::answer_of<TransactionReply>(
      [&calls, transaction = std::move(transaction), deadline](spi::Done<TransactionReply> done) mutable {
        calls.transact(std::move(transaction), deadline, std::move(done));
      });
}

}  // namespace holdfast::etcd
