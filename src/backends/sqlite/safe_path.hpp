#pragma once

#include <string>

namespace holdfast::sqlite {

// A store may lie in a directory where other users create files, such as /tmp. There they can prepare links and files
// under the names that the store is about to use. So everything it opens is checked first: it must belong to this user,
// and nobody else may be able to change it or to put something else in its place.

/// The path without symbolic links. Unlike realpath(), it follows only links that this user or root has made, and the
/// last component need not exist. REQUIRES: an absolute path. Throws Refusal; Errc::bad_url if a directory is missing.
std::string resolve(const std::string& path);

/// Refuses a directory in which somebody else could replace our files: one that belongs to another user (except root),
/// or that others may write and that is not sticky. Throws Refusal.
void check_directory(const std::string& path);

/// Makes sure that there is a regular file with one name, which belongs to this user and which nobody else may write:
/// creates an empty one, for its owner only, unless the name is taken, and refuses anything else. A symbolic link is no
/// regular file. Returns whether it created it. Throws Refusal.
bool make_own_file(const std::string& path);

}  // namespace holdfast::sqlite
