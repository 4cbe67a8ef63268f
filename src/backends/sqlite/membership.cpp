#include "backends/sqlite/membership.hpp"

#include <algorithm>
#include <utility>

#include "backends/sqlite/failures.hpp"
#include "spi/part_name.hpp"

namespace holdfast::sqlite {
namespace {

using spi::ClaimAnswer;

/// A number that is taken belongs to a client of an older database at the same path.
constexpr int attempts = 1000;

ClientNumber take_number(StoreLogic& store, Lifelines& lifelines) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const ClientNumber number = store.new_number();
    if (lifelines.take(number)) return number;
  }
  throw Refusal(Errc::exhausted, "the kernel has no file locks left for the clients of this sqlite: store");
}

}  // namespace

Membership::Membership(spi::Loop& loop, spi::ClaimEvents& events, kit::RegisterWatches& watches, Database& database)
    : loop_(loop),
      events_(events),
      watches_(watches),
      database_(database),
      neighbours_(loop, database.mailboxes(), database.lifelines(),
                  [this](const LockName& name, LockKind kind, spi::ClaimId id) { look(name, kind, id); }) {}

Membership::~Membership() {
  lifetime_.end();
  if (number_ == 0) return;
  const ForkGate::Use use;
  database_.lifelines().drop(number_);
}

ClientNumber Membership::enroll(StoreLogic& store, const ClientIdentity* identity) {
  if (number_ == 0) number_ = take_number(store, database_.lifelines());
  if (!mailbox_) {
    mailbox_.emplace(loop_, database_.mailboxes(), number_, [this](const Message& message) {
      // Later: what follows may end this object.
      loop_.defer([this, message, here = lifetime_.watch()] {
        if (here.lasts()) receive(message);
      });
    });
  }
  const Enrolled as = identity != nullptr ? Enrolled::named : Enrolled::nameless;
  if (as > std::max(enrolled_, enrolling_)) {
    if (enrolled_ == Enrolled::no) buried_ = store.bury_some();
    store.enroll(number_, identity != nullptr ? *identity : ClientIdentity{});
    enrolling_ = as;
  }
  return number_;
}

std::vector<int> Membership::lifeline() {
  if (number_ == 0 || !mailbox_) return {};
  if (!shared_lifeline_) {
    const ForkGate::Use use;
    shared_lifeline_ = database_.lifelines().share(number_);
  }
  // The lifeline first: those who see the mailbox close must find the client dead.
  return {*shared_lifeline_, mailbox_->descriptor()};
}

void Membership::resign(StoreLogic& store) const {
  if (number_ != 0) store.resign(number_);
}

void Membership::began() {
  enrolling_ = Enrolled::no;
  buried_.clear();
}

void Membership::committed() {
  enrolled_ = std::max(enrolled_, enrolling_);
  for (const ClientNumber dead : std::exchange(buried_, {})) database_.mailboxes().remove(dead);
}

void Membership::note(const LockName& name, LockKind kind, spi::ClaimId id, const ClaimState& state) {
  switch (state.answer.standing) {
    case ClaimAnswer::Standing::granted: return hold(id);
    case ClaimAnswer::Standing::waiting: let_go(id); return neighbours_.watch(name, kind, id, state.ahead);
    case ClaimAnswer::Standing::absent: return note_gone(id);
  }
}

void Membership::note_gone(spi::ClaimId id) {
  neighbours_.forget(id);
  let_go(id);
}

void Membership::receive(const Message& message) {
  const LockName name = spi::PartName::stored(message.name);
  switch (message.kind) {
    case Message::Kind::granted: {
      hold(message.id);
      ClaimAnswer answer;
      answer.standing = ClaimAnswer::Standing::granted;
      answer.number = static_cast<std::uint64_t>(message.number);
      answer.lease = message.lease;
      return events_.granted(name, message.line, message.id, answer);
    }
    case Message::Kind::check: return events_.check(name, message.line, message.id);
    case Message::Kind::changed: return watches_.changed(name);
  }
}

void Membership::look(const LockName& name, LockKind kind, spi::ClaimId id) {
  loop_.defer([this, name, kind, id, here = lifetime_.watch()] {
    if (here.lasts()) events_.check(name, kind, id);
  });
}

void Membership::hold(spi::ClaimId id) {
  neighbours_.forget(id);
  held_.insert(id);
  if (!upkeep_) upkeep_.emplace(loop_, spi::Expectation::Of::upkeep);
}

void Membership::let_go(spi::ClaimId id) {
  held_.erase(id);
  if (held_.empty()) upkeep_.reset();
}

void deliver(const Mailboxes& mailboxes, const std::vector<Notice>& notices) {
  if (notices.empty()) return;
  const ForkGate::Use use;
  std::vector<Message> messages;
  for (std::size_t i = 0; i < notices.size(); ++i) {
    messages.push_back(notices[i].message);
    if (i + 1 < notices.size() && notices[i + 1].to == notices[i].to) continue;
    mailboxes.tell(notices[i].to, messages);
    messages.clear();
  }
}

}  // namespace holdfast::sqlite
