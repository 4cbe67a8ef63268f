// Coroutines that share a lock on one thread: whoever waits lets the others go on, and may change its mind.
// With standalone Asio; for Boost's, define HOLDFAST_USE_BOOST_ASIO and write boost::asio.

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <chrono>
#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <string>

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

std::string story;

void tell(const std::string& line) {
  std::cout << line << "\n";
  story += line + ";";
}

asio::awaitable<void> pause(std::chrono::milliseconds time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> alice(holdfast::Mutex& mutex) {
  const holdfast::Hold hold = co_await mutex.async_acquire(asio::use_awaitable);
  tell("Alice begins");
  co_await pause(200ms);
  tell("Alice ends");
}  // given back

asio::awaitable<void> bob(holdfast::Mutex& mutex) {
  // Both are begun; the one that ends first has the other cancelled.
  const auto first = co_await (mutex.async_acquire(asio::use_awaitable) || pause(20ms));
  if (first.index() == 1) tell("Bob has waited for long enough");

  // The same without a timer, which says by an exception that the time was over.
  try {
    const holdfast::Hold hold = co_await mutex.async_try_acquire_for(20ms, asio::use_awaitable);
  } catch (const std::system_error& error) {
    if (error.code() == holdfast::Errc::timed_out) tell("Bob has waited again");
  }

  const holdfast::Hold hold = co_await mutex.async_acquire(asio::use_awaitable);
  tell("Bob has it");
}

int main() {
  holdfast::Client client("memory:");
  holdfast::Mutex mutex(client, "kitchen");

  asio::io_context context;
  asio::co_spawn(context, alice(mutex), asio::detached);
  asio::co_spawn(context, bob(mutex), asio::detached);
  context.run();  // returns when nobody waits any more

  return story == "Alice begins;Bob has waited for long enough;Bob has waited again;Alice ends;Bob has it;" ? 0 : 1;
}
