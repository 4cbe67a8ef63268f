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

/// The directory with the doors of all clients of a store: sockets, named by the clients' numbers.
class Doors {
 public:
  /// Creates the directory unless it exists. Refuses a symbolic link, and a directory that is not for this user alone.
  /// Throws Refusal.
  explicit Doors(const std::string& directory);

  /// A socket that listens at the door of `client`, which nobody else has. Throws Refusal.
  PrivateDescriptor open(ClientNumber client) const;
  /// A connection to the door of `client`; empty if nobody is there, or too many are.
  PrivateDescriptor connect(ClientNumber client) const;
  /// Leaves messages at the door of `client`; whether they were delivered is not told.
  void tell(ClientNumber client, std::span<const Message> messages) const;
  void remove(ClientNumber client) const;
  /// Those of clients that lived before the machine was started. Leaves alone what is not a socket of this user.
  void remove_all() const;

 private:
  std::string path_of(ClientNumber client) const;

  base::FileDescriptor directory_;
  std::string path_;  ///< short, however long the directory's own is: sockets take no more than 107 bytes
};

/// The door of one client. Others leave messages there; those who wait behind it keep their connection open, and so see
/// when it goes. Under the client's monitor.
class Door {
 public:
  using OnMessage = base::Callback<void(const Message&)>;

  /// All must outlive it. `on_message` must not end this object. Throws Refusal.
  Door(spi::Loop& loop, const Doors& doors, ClientNumber client, OnMessage on_message);
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  /// Whoever has a copy of it open keeps the door open, too; but nobody answers there.
  int descriptor() const { return listener_.get(); }

 private:
  void listen();
  void let_in();
  bool hear(int guest);

  spi::Loop& loop_;
  const Doors& doors_;
  const ClientNumber client_;
  OnMessage on_message_;
  PrivateDescriptor listener_;
  std::unordered_map<int, PrivateDescriptor> guests_;
  spi::Timer reopen_;  ///< after a pause for want of descriptors
};

}  // namespace holdfast::sqlite
