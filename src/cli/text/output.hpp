#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

/// Safe to show on a terminal: control characters, characters that change the direction of writing or are invisible,
/// and broken UTF-8 become escapes (`\n`, `\x1b`, `\u202e`). A lock's name may hold any character, and whoever lists
/// locks did not choose the names.
std::string printable(std::string_view text);
/// The same between single quotes, for messages.
std::string in_quotes(std::string_view text);
/// How many columns a printable text takes: two for each wide character and emoji, none for marks that combine.
std::size_t width(std::string_view printable_text);

/// One message for people on standard error, in one write: `holdfast: TEXT`.
void tell(std::string_view text);
/// The answer, on standard output. Throws std::system_error when it cannot be written (a full disk).
void print(std::string_view text);

enum class Stream { output, error };
bool is_terminal(Stream stream);
/// Whether colours are welcome there: a terminal, and neither NO_COLOR nor TERM=dumb is set.
bool wants_colour(Stream stream);

/// Bold on a standard output that wants colours, else as it is.
std::string heading(const std::string& text);

}  // namespace holdfast::cli
