#include "fencing/document.hpp"

#include <fstream>
#include <stdexcept>

namespace holdfast::fencing {

std::string documented(const std::string& name) {
  std::ifstream page(HOLDFAST_FENCING_PAGE);
  std::string block;
  int found = 0;
  for (std::string line; std::getline(page, line);) {
    if (line != "<!-- guard: " + name + " -->") continue;
    ++found;
    std::getline(page, line);
    if (!line.starts_with("```")) throw std::runtime_error("no code block follows the mark of " + name);
    while (std::getline(page, line) && line != "```") block += line + '\n';
  }
  if (found != 1 || block.empty()) throw std::runtime_error(HOLDFAST_FENCING_PAGE " must have one guard " + name);
  return block;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
    throw std::runtime_error("'" + from + "' must be there once in: " + text);
  }
  return text.replace(at, from.size(), to);
}

}  // namespace holdfast::fencing
