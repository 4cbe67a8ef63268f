#include "holdfast/error.hpp"

namespace holdfast {
namespace {

const char* text_of(Errc code) {
  switch (code) {
    case Errc::busy: return "the lock is held by somebody else";
    case Errc::timed_out: return "the lock could not be acquired in time";
    case Errc::cancelled: return "the call was cancelled";
    case Errc::lost: return "the lock was lost";
    case Errc::not_held: return "the lock is not held";
    case Errc::in_doubt: return "the store did not answer, so the outcome is unknown";
    case Errc::unreachable: return "the store cannot be reached";
    case Errc::access_denied: return "the store refused access";
    case Errc::exhausted: return "out of memory, disk, descriptors, connections or worker numbers";
    case Errc::closed: return "the client is closed";
    case Errc::forked: return "the client belongs to the parent process";
    case Errc::invalid_argument: return "invalid argument";
    case Errc::bad_url: return "bad store URL";
    case Errc::unsupported: return "not supported by this store";
    case Errc::too_deep: return "locked too many times";
    case Errc::store_failed: return "the store reported an error";
    case Errc::end_of_life: return "the format of the ids has no number left";
    case Errc::wrong_clock: return "the clock of this host is wrong";
  }
  return "unknown error";
}

const char* text_of(Condition condition) {
  switch (condition) {
    case Condition::retry: return "try again later";
    case Condition::lost: return "stop working on what the lock protects";
    case Condition::in_doubt: return "find out before acting, because it may have happened";
    case Condition::fix_configuration: return "change the configuration";
    case Condition::fix_call: return "change the program";
  }
  return "unknown condition";
}

/// What to do about each error. Complete: a code without a line here does not compile (-Wswitch).
Condition condition_of(Errc code) {
  switch (code) {
    case Errc::busy:
    case Errc::timed_out:
    case Errc::cancelled:
    case Errc::unreachable:
    case Errc::exhausted: return Condition::retry;
    case Errc::lost: return Condition::lost;
    case Errc::in_doubt: return Condition::in_doubt;
    case Errc::access_denied:
    case Errc::bad_url:
    case Errc::store_failed:
    case Errc::wrong_clock:
    case Errc::end_of_life:  // another layout, or another name: what is used up never comes back
    case Errc::unsupported: return Condition::fix_configuration;
    case Errc::not_held:
    case Errc::closed:
    case Errc::forked:
    case Errc::invalid_argument:
    case Errc::too_deep: return Condition::fix_call;
  }
  return Condition::fix_call;
}

class ErrorCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "holdfast"; }
  std::string message(int code) const override { return text_of(static_cast<Errc>(code)); }
  std::error_condition default_error_condition(int code) const noexcept override {
    return condition_of(static_cast<Errc>(code));
  }
};

class ConditionCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "holdfast-condition"; }
  std::string message(int condition) const override { return text_of(static_cast<Condition>(condition)); }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const ErrorCategory category;
  return category;
}

const std::error_category& condition_category() noexcept {
  static const ConditionCategory category;
  return category;
}

Error::Error(Errc code, const std::string& what_happened)
    : std::system_error(code), what_happened_(what_happened.empty() ? text_of(code) : what_happened) {}

}  // namespace holdfast
