#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/sqlite/fork_gate.hpp"
#include "backends/sqlite/lifelines.hpp"
#include "backends/sqlite/message.hpp"
#include "base/file_descriptor.hpp"
#include "spi/loop.hpp"

namespace holdfast::sqlite {

/// The directory with the mailboxes of all clients of a store: a socket each, named by the client's number.
class Mailboxes {
 public:
  /// Creates the directory unless it exists. Refuses a symbolic link, and a directory that is not for this user alone.
  /// Throws Refusal.
  explicit Mailboxes(const std::string& directory);

  /// Makes the mailbox of `client`: a socket that listens. REQUIRES: nobody else has this number. Throws Refusal.
  PrivateDescriptor open(ClientNumber client) const;
  /// A connection to the mailbox of `client`; empty if it does not listen, or too many connections wait there.
  PrivateDescriptor connect(ClientNumber client) const;
  /// Sends messages to the mailbox of `client`. They may be lost, and nobody hears of it.
  void tell(ClientNumber client, std::span<const Message> messages) const;
  void remove(ClientNumber client) const;
  /// Removes all mailboxes, which are those of clients that lived before the machine was started. Leaves alone what is
  /// not a socket of this user.
  void remove_all() const;

 private:
  std::string path_of(ClientNumber client) const;

  base::FileDescriptor directory_;
  std::string path_;  ///< short, however long the directory's own is: sockets take no more than 107 bytes
};

/// The mailbox of one client, to which others send messages. Those who wait behind the client keep a connection to it
/// open, which the kernel closes when the client ends. Under the client's monitor.
class Mailbox {
 public:
  using OnMessage = base::Callback<void(const Message&)>;

  /// REQUIRES: all outlive it; `on_message` does not end this object. Throws Refusal.
  Mailbox(spi::Loop& loop, const Mailboxes& mailboxes, ClientNumber client, OnMessage on_message);
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// Whoever has a copy of it open keeps the mailbox open, too, although nobody reads what is sent there.
  int descriptor() const { return listener_.get(); }

 private:
  void listen();
  void accept_connections();
  bool read_messages(int connection);

  spi::Loop& loop_;
  const Mailboxes& mailboxes_;
  const ClientNumber client_;
  OnMessage on_message_;
  PrivateDescriptor listener_;
  std::unordered_map<int, PrivateDescriptor> connections_;
  spi::Timer listen_again_;  ///< after a pause for want of descriptors
};

}  // namespace holdfast::sqlite
