#pragma once

#include <span>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// A store's URL as a child process may see it: without the password of `scheme://user:password@host`, and without
/// options that name a secret (`?password=...`). Errs on the side of taking away too much.
std::string without_password(std::string_view url);

/// Whether the URL's store can ask for a password: not one that is only a name or a file.
bool can_have_password(std::string_view url);
/// The URL with this password instead of its own.
std::string with_password(std::string_view url, std::string_view password);

/// Overwrites passwords in this process's own arguments, up to `--`, so that `ps` does not show them. What comes after
/// belongs to the command that is run.
void hide_passwords(std::span<char*> arguments);

/// Keeps this process's memory, in which the password of a store lies in many copies, out of core dumps and from other
/// processes of the same user, until it exits. Holds for processes that are forked, but not beyond exec: a command is
/// not affected.
void keep_memory_private();

}  // namespace holdfast::cli
