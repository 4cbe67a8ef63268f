#pragma once

#include <optional>
#include <string>

#include "faults/sqlite_database.hpp"
#include "faults/sqlite_store.hpp"
#include "holdfast/holdfast.hpp"
#include "support/peer.hpp"

namespace holdfast::faults {

/// How a call failed; empty if it did not.
struct Complaint {
  std::optional<Errc> code = {};
  std::string text = {};
};

template <class Call>
Complaint complaint_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.errc(), error.what()};
  }
  return {};
}

/// What a new client says when it wants a lock.
inline Complaint complaint_about(const std::string& url) {
  return complaint_of([&] {
    Client client(url, {.connect_timeout = 2s});
    Mutex(client, "a").try_lock();
  });
}

/// Lets another process make the store, so that this one has never had its file open.
inline void make(const SqliteStore& store) {
  test::ProcessPeer maker(store.url());
  ASSERT_THAT(maker.ask("acquire first 10000 0"), testing::StartsWith("granted"));
  ASSERT_EQ(maker.ask("release first"), "released");
  maker.leave();
  SqliteDatabase(store.file()).execute("PRAGMA wal_checkpoint(TRUNCATE)");  // all of it into one file
}

}  // namespace holdfast::faults
