// The resource has the last word. Alice's lease ends while she is busy with something else, Bob takes the lock and
// writes, and then Alice's write arrives: a FenceGate beside the data refuses it.

#include <chrono>
#include <holdfast/fence_gate.hpp>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

namespace {

/// What the lock protects, with its gate. Whoever writes must show the token of its hold.
class Report {
 public:
  bool write(holdfast::Token token, const std::string& text) {
    const bool written = gate_.write(token, [&] { text_ = text; });
    std::cout << (written ? "written: " : "refused: ") << text << '\n';
    return written;
  }
  const std::string& text() const { return text_; }

 private:
  holdfast::FenceGate gate_;
  std::string text_;
};

}  // namespace

int main() {
  holdfast::Client alice("memory:");
  holdfast::Client bob("memory:");
  Report report;

  // A fixed lease is not renewed: it ends after its ttl, as a renewed one does when its holder is stopped or cut off.
  const holdfast::Hold first =
      holdfast::Mutex(alice, "report", {.ttl = 500ms, .lease = holdfast::LeaseKind::fixed}).acquire();
  if (!report.write(first.token(), "by Alice, first draft")) return 1;
  if (!report.write(first.token(), "by Alice, second draft")) return 1;  // the same token again is fine

  // Alice does not look at her hold any more. Bob waits for his turn, and has it when her lease is over.
  const holdfast::Hold second = holdfast::Mutex(bob, "report").acquire();
  if (!(first.token() < second.token()) || first.valid()) return 1;
  if (!report.write(second.token(), "by Bob")) return 1;

  // Without the gate, this would replace what Bob has written.
  if (report.write(first.token(), "by Alice, too late")) return 1;
  std::cout << "the report is " << report.text() << '\n';
  return report.text() == "by Bob" ? 0 : 1;
}
