#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

/// A manual page in roff, with the macros of man(7). Texts are escaped, so they cannot be taken for requests, except
/// for those that are markup already: bold(), italic() and what was put together from them.
class Roff {
 public:
  /// `.TH`: the page's head.
  Roff(std::string_view name, std::string_view section, std::string_view source, std::string_view manual);

  void section(std::string_view title);
  void subsection(std::string_view markup);
  /// A paragraph of its own.
  void paragraph(std::string_view markup);
  /// Another line of the last paragraph.
  void next_line(std::string_view markup);
  /// What it is, and below, indented, what that means.
  void item(std::string_view markup, std::string_view meaning);
  /// A hand-made text: lines that begin with blanks stay as they are, the others are filled. A
  /// heading such as `Examples:` begins a paragraph.
  void prose(std::string_view text);
  /// Lines that stay as they are.
  void example(std::string_view lines);

  const std::string& text() const { return text_; }

 private:
  void line(std::string_view markup);

  std::string text_;
};

std::string roff_escaped(std::string_view text);
std::string bold(std::string_view text);
std::string italic(std::string_view text);

}  // namespace holdfast::cli
