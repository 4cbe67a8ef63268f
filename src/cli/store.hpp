#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "holdfast/client.hpp"

namespace holdfast::cli {

/// What a command line says about the store.
struct StoreFlags {
  std::optional<std::string> url = {};
  std::optional<std::string> password_file = {};
};

/// Which store to use, and how it was found.
struct Store {
  std::string url = {};           ///< with the password, if there is one: never shown
  std::string default_file = {};  ///< the embedded store's file, when nobody named a store; else empty
};

/// The flags' URL if one was given, else $HOLDFAST_URL, else the embedded store of this user. The password is that of
/// the flags' file, else the URL's own, else $HOLDFAST_PASSWORD. Throws holdfast::Error when the user has no home and
/// named no store, when the URL is empty (whoever names a store does not want this host's own), and when the password's
/// file cannot be read. If there is a password, used or not, the process's memory is kept private from then on.
Store choose_store(const StoreFlags& flags);

/// The embedded store's file: for root `/var/lib/holdfast/locks.db`, else below `home`. The home is the password
/// database's, not $HOME or XDG variables, which differ between a login and cron.
std::string default_file_of(uid_t user, const std::string& home);

/// Creates the folders of the default file, for their owner only. Nothing to do for other stores.
void prepare(const Store& store);
/// prepare(), and a client of the store.
Client open_client(const Store& store, ClientOptions options = {});

/// Says on standard error which file the embedded store is in and whom it serves. Silent for other stores.
void tell_if_default(const Store& store);

}  // namespace holdfast::cli
