#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "holdfast/async.hpp"
#include "support/recorder.hpp"

namespace holdfast::conformance {

/// What an asynchronous call called back with.
template <class T>
struct Answer {
  std::error_code code = {};
  T value = {};
  std::thread::id thread = std::this_thread::get_id();
};

template <class T>
using Answers = test::Recorder<Answer<T>>;

template <class T>
AsyncCallback<T> into(Answers<T>& answers) {
  return [&answers](std::error_code code, T value) { answers.add({code, std::move(value)}); };
}

inline AsyncCallback<> into(test::Recorder<std::error_code>& codes) {
  return [&codes](std::error_code code) { codes.add(code); };
}

/// The first answer; without one, an answer that no call gives.
template <class T>
Answer<T> first(Answers<T>& answers) {
  if (!answers.reaches(1)) return {std::make_error_code(std::errc::timed_out)};
  return std::move(answers.take().front());
}

}  // namespace holdfast::conformance
