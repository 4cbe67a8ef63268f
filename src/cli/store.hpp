#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace holdfast::cli {

/// Which store to use, and how it was found.
struct Store {
  std::string url = {};
  std::string default_file = {};  ///< the embedded store's file, when nobody named a store; else empty
};

/// `url` if it was given, else $HOLDFAST_URL, else the embedded store of this user. Throws holdfast::Error when the
/// user has no home and named no store, or when `url` is empty: whoever names a store does not want this host's own.
Store choose_store(const std::optional<std::string>& url);

/// The embedded store's file: for root `/var/lib/holdfast/locks.db`, else below `home`. The home is the password
/// database's, not $HOME or XDG variables, which differ between a login and cron.
std::string default_file_of(uid_t user, const std::string& home);

/// Creates the folders of the default file, for their owner only. Nothing to do for other stores.
void prepare(const Store& store);

/// Says on standard error which file the embedded store is in and whom it serves. Silent for other stores.
void tell_if_default(const Store& store);

}  // namespace holdfast::cli
