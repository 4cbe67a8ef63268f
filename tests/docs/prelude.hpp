#pragma once

#include <chrono>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>

using namespace std::chrono_literals;

// What the examples in the documentation take for granted: things that an earlier paragraph or the reader's own
// program provides. The less, the better.

void try_again_later();
bool work_left();
void do_some_work(holdfast::Token token);
void write_report(holdfast::Token token);
void schedule(holdfast::Token term);
void send_sms(holdfast::Token token);
void map();
void reduce();
void compare(std::chrono::system_clock::time_point theirs, std::chrono::system_clock::time_point mine);
void show_on_screen(const std::string& name, std::size_t waiters);

/// Every example is a member function of a class derived from this.
struct Scene {
  holdfast::Client& client;
  holdfast::Mutex& mutex;
  const holdfast::Error& error;
  holdfast::Token token;
  holdfast::Token& largest_seen;
};
