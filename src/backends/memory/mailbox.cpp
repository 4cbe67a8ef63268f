#include "backends/memory/mailbox.hpp"

#include <utility>

namespace holdfast::memory {

void Mailbox::put(Event event, void (spi::Loop::*schedule)(base::Task)) {
  const std::lock_guard lock(mutex_);
  if (loop_ == nullptr) return;
  waiting_.push_back(std::move(event));
  if (scheduled_) return;
  (loop_->*schedule)([self = shared_from_this()] { self->empty_it(); });
  scheduled_ = true;
}

void Mailbox::empty_it() {
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex_);
    events.swap(waiting_);
    scheduled_ = false;
  }
  for (const Event& event : events) {
    if (closed_) return;  // perhaps by the event before
    switch (event.kind) {
      case Event::Kind::granted: events_.granted(event.name, event.line, event.id, event.answer); break;
      case Event::Kind::check: events_.check(event.name, event.line, event.id); break;
      case Event::Kind::changed: on_change_(event.name); break;
    }
  }
}

void Mailbox::close() {
  closed_ = true;
  const std::lock_guard lock(mutex_);
  loop_ = nullptr;
  waiting_.clear();
}

}  // namespace holdfast::memory
