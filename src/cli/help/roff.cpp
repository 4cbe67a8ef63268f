#include "cli/help/roff.hpp"

#include <utility>

namespace holdfast::cli {
namespace {

/// Cuts the first line off.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

/// One word and a colon.
bool is_heading(std::string_view line) { return line.ends_with(':') && line.find(' ') == std::string_view::npos; }
bool is_indented(std::string_view line) { return line.starts_with(' '); }

}  // namespace

// What roff would make typographic signs of must stay what people type.
std::string roff_escaped(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    switch (character) {
      case '\\': escaped += "\\e"; break;
      case '-': escaped += "\\-"; break;
      case '\'': escaped += "\\(aq"; break;
      case '`': escaped += "\\(ga"; break;
      case '^': escaped += "\\(ha"; break;
      case '~': escaped += "\\(ti"; break;
      default: escaped += character;
    }
  }
  return escaped;
}

std::string bold(std::string_view text) { return "\\fB" + roff_escaped(text) + "\\fP"; }
std::string italic(std::string_view text) { return "\\fI" + roff_escaped(text) + "\\fP"; }

Roff::Roff(std::string_view name, std::string_view section, std::string_view source, std::string_view manual) {
  // Without a date, so that the same sources make the same page.
  text_ = ".TH " + std::string(name) + " " + std::string(section) + R"( "" ")" + std::string(source) + "\" \"" +
          std::string(manual) + "\"\n.nh\n.ad l\n";
}

void Roff::line(std::string_view markup) {
  if (markup.starts_with('.')) text_ += "\\&";  // not a request
  text_ += std::string(markup) + "\n";
}

void Roff::section(std::string_view title) { text_ += ".SH " + std::string(title) + "\n"; }

void Roff::subsection(std::string_view markup) { text_ += ".SS " + std::string(markup) + "\n"; }

void Roff::paragraph(std::string_view markup) {
  text_ += ".PP\n";
  line(markup);
}

void Roff::next_line(std::string_view markup) {
  text_ += ".br\n";
  line(markup);
}

void Roff::item(std::string_view markup, std::string_view meaning) {
  text_ += ".TP\n";
  line(markup);
  line(meaning);
}

void Roff::example(std::string_view lines) {
  text_ += ".PP\n.RS 4\n.nf\n";
  while (!lines.empty()) line(roff_escaped(take_line(lines)));
  text_ += ".fi\n.RE\n";
}

void Roff::prose(std::string_view text) {
  std::string indented;
  bool in_paragraph = false;
  const auto end_example = [&] {
    if (!indented.empty()) example(std::exchange(indented, {}));
  };
  while (!text.empty()) {
    const std::string_view next = take_line(text);
    if (is_indented(next)) {
      indented += std::string(next.substr(next.starts_with("  ") ? 2 : 1)) + "\n";
      in_paragraph = false;
      continue;
    }
    end_example();
    if (!in_paragraph || is_heading(next)) text_ += ".PP\n";
    in_paragraph = !next.empty();
    if (in_paragraph) line(roff_escaped(next));
  }
  end_example();
}

}  // namespace holdfast::cli
