#include "figures.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <utility>

namespace holdfast::bench {
namespace {

/// Those of the benchmark that is running.
std::vector<Figure>& unprinted() {
  static std::vector<Figure> figures;
  return figures;
}

std::string fixed(double number, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
  return text.data();
}

/// Three digits, or all of them with separators.
std::string readable(double number) {
  const double size = std::abs(number);
  if (size < 1000) return fixed(number, size >= 100 || number == std::trunc(number) ? 0 : size >= 10 ? 1 : 2);
  std::string digits = fixed(number, 0);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string with_space(const std::string& unit) { return unit.empty() ? unit : ' ' + unit; }

bool is_met(const Aim& aim, double number) {
  return aim.is == Aim::Is::below ? number < aim.limit : number >= aim.limit;
}

/// What the figure's aim is about.
double aimed_at(const Figure& figure) {
  return figure.aim->of == Aim::Of::ratio ? figure.peers.front().ratio : figure.value;
}

std::string verdict(const Aim& aim, double number, const std::string& unit) {
  return std::string("aim ") + (aim.is == Aim::Is::below ? "< " : ">= ") + readable(aim.limit) +
         (aim.of == Aim::Of::ratio ? "x" : with_space(unit)) + (is_met(aim, number) ? ": met" : ": MISSED");
}

std::string verdict(const Figure& figure) { return verdict(*figure.aim, aimed_at(figure), figure.unit); }

/// `text` with spaces after it, or before it if the width is negative.
std::string padded(std::string text, int width) {
  const auto size = static_cast<std::size_t>(std::abs(width));
  if (text.size() >= size) return text;
  text.insert(width < 0 ? 0 : text.size(), size - text.size(), ' ');
  return text;
}

constexpr int what_width = 62;
constexpr int value_width = -18;
constexpr int peer_width = 24;
constexpr int ratio_width = -10;

}  // namespace

void report(benchmark::State& state, const Figure& figure) {
  const auto note = [&](const std::string& of, const Aim& aim, double number) {
    state.counters[figure.what + of + ", aim"] = aim.limit;
    state.counters[figure.what + of + ", met"] = is_met(aim, number) ? 1 : 0;
  };
  state.counters[figure.what + " [" + figure.unit + "]"] = figure.value;
  for (const Peer& peer : figure.peers) {
    state.counters[figure.what + ", " + peer.name + " [" + figure.unit + "]"] = peer.value;
    state.counters[figure.what + ", ratio to " + peer.name] = peer.ratio;
    if (peer.aim) note(", ratio to " + peer.name, *peer.aim, peer.ratio);
  }
  if (figure.aim) note("", *figure.aim, aimed_at(figure));
  unprinted().push_back(figure);
}

bool TableReporter::ReportContext(const Context& context) {
  std::ostream& out = GetOutputStream();
  out << context.cpu_info.num_cpus << " CPUs, load";
  for (const double load : context.cpu_info.load_avg) out << ' ' << fixed(load, 2);
  out << "\n\n"
      << padded("", what_width) << padded("Holdfast", value_width) << "  " << padded("beside", peer_width)
      << padded("", value_width) << padded("ratio", ratio_width) << '\n';
  return true;
}

void TableReporter::ReportRuns(const std::vector<Run>& runs) {
  std::ostream& out = GetOutputStream();
  for (const Run& run : runs) {
    out << run.run_name.function_name << (run.run_name.args.empty() ? "" : ": ") << run.run_name.args << '\n';
    if (run.error_occurred) out << "  " << run.error_message << '\n';
  }
  for (const Figure& figure : std::exchange(unprinted(), {})) {
    out << padded("  " + figure.what, what_width)
        << padded(readable(figure.value) + with_space(figure.unit), value_width);
    bool first = true;
    for (const Peer& peer : figure.peers) {
      if (!first) out << '\n' << padded("", what_width) << padded("", value_width);
      out << "  " << padded(peer.name, peer_width)
          << padded(readable(peer.value) + with_space(figure.unit), value_width)
          << padded(readable(peer.ratio) + 'x', ratio_width);
      if (std::exchange(first, false) && figure.aim) out << "  " << verdict(figure);
      if (peer.aim) out << "  " << verdict(*peer.aim, peer.ratio, {});
    }
    if (figure.peers.empty() && figure.aim) out << "  " << verdict(figure);
    out << '\n';
  }
  out.flush();
}

}  // namespace holdfast::bench
