#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/redis/topology/topology.hpp"
#include "spi/result.hpp"

namespace holdfast::redis {

/// A question about many names, split into one request for each part of the topology (on a single server there is one),
/// and answered as one: in the order of the names, when all requests have been answered; or with a failure if one of
/// them failed.
template <class Answer>
class Batch {
 public:
  using Done = spi::Done<std::vector<Answer>>;
  /// Places among the names.
  using Places = std::vector<std::size_t>;

  /// `key_of(place)` is a key of that name. `send(places, done)` sends one request about these, whose answers are in
  /// the order of the places. REQUIRES: there are any.
  template <class KeyOf, class Send>
  static void send(const Topology& topology, std::size_t count, KeyOf key_of, Send send, Done done) {
    std::map<Topology::Part, Places> parts;
    for (std::size_t place = 0; place < count; ++place) parts[topology.part_of(key_of(place))].push_back(place);
    if (parts.size() == 1) return send(parts.begin()->second, std::move(done));
    const auto batch = std::make_shared<Batch>(count, parts.size(), std::move(done));
    for (const auto& [part, places] : parts) {
      send(places, [batch, its_places = places](spi::Result<std::vector<Answer>> answers) {
        batch->answered(its_places, std::move(answers));
      });
    }
  }

  Batch(std::size_t count, std::size_t parts, Done done)
      : answers_(count), unanswered_(parts), done_(std::move(done)) {}

 private:
  void answered(const Places& places, spi::Result<std::vector<Answer>> answers) {
    if (!answers.ok()) {
      failure_ = std::move(answers.failure());
    } else {
      for (std::size_t i = 0; i < places.size(); ++i) answers_[places[i]] = std::move(answers.value()[i]);
    }
    if (--unanswered_ > 0) return;
    if (failure_) return done_(*std::move(failure_));
    done_(std::move(answers_));
  }

  std::vector<Answer> answers_;
  std::size_t unanswered_;  ///< requests
  std::optional<spi::Failure> failure_;
  Done done_;
};

}  // namespace holdfast::redis
