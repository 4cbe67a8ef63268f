#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "conformance/answers.hpp"
#include "conformance/fixture.hpp"
#include "holdfast/holdfast.hpp"
#include "support/eventually.hpp"

/// Every asynchronous function there is, in two tables.
namespace holdfast::conformance {

using namespace std::chrono_literals;

using Codes = Answers<bool>;
using Keeper = std::shared_ptr<void>;

/// An asynchronous call, which needs an object of its client; what it makes lives as long as the returned Keeper.
using Begin = Keeper (*)(Client& client, Codes& codes, std::stop_token stop);

/// Makes a callback that remembers how a call ended, and gives back what it brought.
template <class... Results>
AsyncCallback<Results...> told_to(Codes& codes) {
  return [&codes](std::error_code code, Results...) { codes.add({code, true}); };
}

/// A call that waits while somebody else does something.
struct Waiting {
  const char* name;
  Begin begin;
  Keeper (*block)(Client& other);  ///< makes it wait, for as long as the Keeper exists, or until
  void (*unblock)(Client& other);  ///< this
  /// How it ends if its object is gone when it could be done.
  std::error_code when_abandoned = {};
  bool Capabilities::* needs = nullptr;  ///< of the store
};

template <class T>
Keeper kept(T value) {
  return std::make_shared<T>(std::move(value));
}

inline void nothing_more(Client&) {}

inline const std::vector<Waiting> waiting_forms = {
    {"Mutex::async_acquire",
     [](Client& client, Codes& codes, std::stop_token stop) -> Keeper {
       auto mutex = std::make_shared<Mutex>(client, "thing");
       mutex->async_acquire(told_to<Hold>(codes), std::move(stop));
       return mutex;
     },
     [](Client& other) { return kept(Mutex(other, "thing").acquire()); }, nothing_more},
    {"Mutex::async_try_acquire_for",
     [](Client& client, Codes& codes, std::stop_token stop) -> Keeper {
       auto mutex = std::make_shared<Mutex>(client, "thing");
       mutex->async_try_acquire_for(1h, told_to<Hold>(codes), std::move(stop));
       return mutex;
     },
     [](Client& other) { return kept(Mutex(other, "thing").acquire()); }, nothing_more},
    {"SharedMutex::async_acquire",
     [](Client& client, Codes& codes, std::stop_token stop) -> Keeper {
       auto mutex = std::make_shared<SharedMutex>(client, "thing");
       mutex->async_acquire(told_to<Hold>(codes), std::move(stop));
       return mutex;
     },
     [](Client& other) { return kept(SharedMutex(other, "thing").acquire_shared()); },
     nothing_more,
     {},
     &Capabilities::shared},
    {"SharedMutex::async_acquire_shared",
     [](Client& client, Codes& codes, std::stop_token stop) -> Keeper {
       auto mutex = std::make_shared<SharedMutex>(client, "thing");
       mutex->async_acquire_shared(told_to<Hold>(codes), std::move(stop));
       return mutex;
     },
     [](Client& other) { return kept(SharedMutex(other, "thing").acquire()); },
     nothing_more,
     {},
     &Capabilities::shared},
    {"Semaphore::async_acquire",
     [](Client& client, Codes& codes, std::stop_token stop) -> Keeper {
       auto semaphore = std::make_shared<Semaphore>(client, "thing", 2);
       semaphore->async_acquire(1, told_to<Hold>(codes), std::move(stop));
       return semaphore;
     },
     [](Client& other) { return kept(Semaphore(other, "thing", 2).acquire(2)); },
     nothing_more,
     {},
     &Capabilities::permits},
    {"MultiLock::async_acquire",
     [](Client& client, Codes& codes, std::stop_token stop) -> Keeper {
       auto lock = std::make_shared<MultiLock>(client, std::vector<LockName>{"first", "thing", "zero"});
       lock->async_acquire(told_to<MultiHold>(codes), std::move(stop));
       return lock;
     },
     [](Client& other) { return kept(Mutex(other, "thing").acquire()); }, nothing_more},
    {"Election::async_campaign",
     [](Client& client, Codes& codes, std::stop_token stop) -> Keeper {
       auto election = std::make_shared<Election>(client, "thing");
       election->async_campaign("me", told_to<Token>(codes), std::move(stop));
       return election;
     },
     [](Client& other) -> Keeper {
       auto election = std::make_shared<Election>(other, "thing");
       election->campaign("other");
       return election;
     },
     nothing_more, Errc::cancelled},
    {"Register::async_wait_for_change",
     [](Client& client, Codes& codes, std::stop_token stop) -> Keeper {
       auto mine = std::make_shared<Register>(client, "thing");
       mine->async_wait_for_change(0, told_to<Versioned>(codes), std::move(stop));
       return mine;
     },
     [](Client&) { return Keeper(); }, [](Client& other) { Register(other, "thing").set("changed"); }},
    {"Once::async_begin",
     [](Client& client, Codes& codes, std::stop_token stop) -> Keeper {
       auto once = std::make_shared<Once>(client, "thing", 10min);
       once->async_begin(told_to<std::optional<Run>>(codes), std::move(stop));
       return once;
     },
     [](Client& other) { return kept(Mutex(other, "thing").acquire()); }, nothing_more},
    {"Latch::async_wait",
     [](Client& client, Codes& codes, std::stop_token stop) -> Keeper {
       auto latch = std::make_shared<Latch>(client, "thing", 1);
       latch->async_wait(told_to<>(codes), std::move(stop));
       return latch;
     },
     [](Client&) { return Keeper(); }, [](Client& other) { Latch(other, "thing", 1).count_down(); }},
    {"Barrier::async_arrive_and_wait",
     [](Client& client, Codes& codes, std::stop_token stop) -> Keeper {
       auto barrier = std::make_shared<Barrier>(client, "thing", 2);
       barrier->async_arrive_and_wait(told_to<std::uint64_t>(codes), std::move(stop));
       return barrier;
     },
     [](Client&) { return Keeper(); },
     [](Client& other) { Barrier(other, "thing", 2).arrive_and_wait(); },
     {},
     &Capabilities::permits},
};

/// A call that the store answers at once, and one like it that is refused.
struct Immediate {
  const char* name;
  Begin begin;
  Begin refused = nullptr;
  Errc refusal = Errc::invalid_argument;
  bool Capabilities::* needs = nullptr;  ///< of the store
};

inline const std::vector<Immediate> immediate_forms = {
    {"Register::async_get",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto mine = std::make_shared<Register>(client, "thing");
       mine->async_get(told_to<Versioned>(codes));
       return mine;
     }},
    {"StoreClock::async_now",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto clock = std::make_shared<StoreClock>(client);
       clock->async_now(told_to<std::optional<StoreTime>>(codes));
       return clock;
     }},
    {"Register::async_set",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto mine = std::make_shared<Register>(client, "thing");
       mine->async_set("17", told_to<std::uint64_t>(codes));
       return mine;
     },
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto mine = std::make_shared<Register>(client, "thing");
       mine->async_set(std::string(client.traits().max_value_bytes + 1, 'x'), told_to<std::uint64_t>(codes));
       return mine;
     }},
    {"Register::async_compare_and_set",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto mine = std::make_shared<Register>(client, "thing");
       mine->async_compare_and_set(0, "17", told_to<Written>(codes));
       return mine;
     },
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto mine = std::make_shared<Register>(client, "thing");
       mine->async_compare_and_set(0, std::string(client.traits().max_value_bytes + 1, 'x'), told_to<Written>(codes));
       return mine;
     }},
    {"Register::async_add",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto mine = std::make_shared<Register>(client, "number");
       mine->async_add(1, told_to<std::int64_t>(codes));
       return mine;
     },
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto mine = std::make_shared<Register>(client, "no number");
       mine->set("seven");
       mine->async_add(1, told_to<std::int64_t>(codes));
       return mine;
     }},
    {"Election::async_leader",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto election = std::make_shared<Election>(client, "thing");
       election->async_leader(told_to<std::optional<Leader>>(codes));
       return election;
     }},
    {"Latch::async_wait",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto latch = std::make_shared<Latch>(client, "open", 1);
       if (latch->missing() > 0) latch->count_down();
       latch->async_wait(told_to<>(codes));
       return latch;
     },
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       if (Latch(client, "of two", 2).missing() == 2) Latch(client, "of two", 2).count_down();
       auto latch = std::make_shared<Latch>(client, "of two", 3);
       latch->async_wait(told_to<>(codes));
       return latch;
     }},
    {"Barrier::async_arrive_and_wait",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto barrier = std::make_shared<Barrier>(client, "alone", 1);
       barrier->async_arrive_and_wait(told_to<std::uint64_t>(codes));
       return barrier;
     },
     nullptr, Errc::invalid_argument, &Capabilities::permits},
    {"Election::async_campaign",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto election = std::make_shared<Election>(client, "free");
       election->async_campaign("me", told_to<Token>(codes));
       return election;
     },
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto election = std::make_shared<Election>(client, "too large");
       election->async_campaign(std::string(client.traits().max_value_bytes + 1, 'x'), told_to<Token>(codes));
       return election;
     }},
    {"Election::async_proclaim",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto election = std::make_shared<Election>(client, "led");
       election->campaign("one");
       election->async_proclaim("two", told_to<>(codes));
       return election;
     },
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto election = std::make_shared<Election>(client, "led");
       election->campaign("one");
       client.evict("led", LockKind::election);
       if (!test::eventually([&] { return !election->leads(); })) return nullptr;
       election->async_proclaim("two", told_to<>(codes));
       return election;
     },
     Errc::lost},
    {"Election::async_resign",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto election = std::make_shared<Election>(client, "led");
       election->async_resign(told_to<Released>(codes));
       return election;
     }},
    {"Latch::async_count_down",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto latch = std::make_shared<Latch>(client, "of many", 1000);
       latch->async_count_down(2, told_to<std::uint32_t>(codes));
       return latch;
     },
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto latch = std::make_shared<Latch>(client, "of few", 3);
       latch->async_count_down(4, told_to<std::uint32_t>(codes));
       return latch;
     }},
    {"Run::async_succeed",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto run = std::make_shared<std::optional<Run>>();
       while (!run->has_value()) *run = Once(client, "quick", 1ms).begin();
       (*run)->async_succeed(3, told_to<>(codes));
       return run;
     }},
    {"Hold::async_extend",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto hold = std::make_shared<Hold>(Mutex(client, "held").acquire());
       hold->async_extend(1s, told_to<>(codes));
       return hold;
     },
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto hold = std::make_shared<Hold>(Mutex(client, "released").acquire());
       hold->release();
       hold->async_extend(1s, told_to<>(codes));
       return hold;
     },
     Errc::not_held},
    {"Hold::async_release",
     [](Client& client, Codes& codes, std::stop_token) -> Keeper {
       auto hold = std::make_shared<Hold>(Mutex(client, "given back").acquire());
       hold->async_release(told_to<Released>(codes));
       return hold;
     }},
};

/// Those of them that a store can do.
template <class Form>
std::vector<Form> possible(const std::vector<Form>& forms, const Capabilities& can) {
  std::vector<Form> found;
  for (const Form& form : forms) {
    if (form.needs == nullptr || can.*form.needs) found.push_back(form);
  }
  return found;
}

}  // namespace holdfast::conformance
