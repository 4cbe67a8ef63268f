#pragma once

#include <array>

namespace holdfast::cli {

/// The keys of `top`, for people.
inline constexpr std::array top_help{
    "up, down, k, j      select a lock, or scroll",
    "PgUp, PgDn          a page up or down",
    "Home, End           the first or the last",
    "Enter               all about the selected lock; Esc or q: back",
    "n                   sort by name",
    "s                   sort by age: who has held longest first",
    "t                   sort by TTL: whose lease ends next first",
    "w                   sort by waiters: most first",
    "                    the same key again reverses the order",
    "/                   show only names that contain a text; Esc: show all",
    "Ctrl-L              draw the screen again",
    "Ctrl-Z              stop; the shell's fg continues",
    "q, Ctrl-C           quit",
};

}  // namespace holdfast::cli
