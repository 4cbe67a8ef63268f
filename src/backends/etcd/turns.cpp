#include "backends/etcd/turns.hpp"

namespace holdfast::etcd {

void Turns::pass_on(const std::string& name) {
  const auto found = lines_.find(name);
  if (found == lines_.end()) return;
  if (found->second.empty()) {
    lines_.erase(found);
    return;
  }
  // Not from here: whoever ends may be in the middle of something.
  const std::coroutine_handle<> next = found->second.front();
  found->second.pop_front();
  starting_.push_back(next);
  loop_.defer([this] { start_next(); });
}

void Turns::start_next() {
  if (starting_.empty()) return;
  const std::coroutine_handle<> next = starting_.front();
  starting_.pop_front();
  next.resume();
}

void Turns::close() {
  closed_ = true;
  auto lines = std::exchange(lines_, {});
  for (const std::coroutine_handle<> waiting : std::exchange(starting_, {})) waiting.resume();
  for (auto& [name, line] : lines) {
    for (const std::coroutine_handle<> waiting : line) waiting.resume();
  }
}

}  // namespace holdfast::etcd
