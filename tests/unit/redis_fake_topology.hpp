#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/redis/topology/topology.hpp"

namespace holdfast::test {

/// Channels on which the test speaks.
class FakeChannels final : public redis::Channels {
 public:
  void subscribe(const std::string& channel, Listener& listener) override { listeners_[channel] = {&listener}; }
  void unsubscribe(const std::string& channel) override { listeners_.erase(channel); }
  base::Instant listening_since(const std::string& channel) const override {
    const auto found = listeners_.find(channel);
    return found == listeners_.end() ? base::Instant::max() : found->second.since;
  }

  bool has(const std::string& channel) const { return listeners_.contains(channel); }
  void confirm(const std::string& channel, base::Instant now) {
    listeners_.at(channel).since = now;
    listeners_.at(channel).listener->listening(channel);
  }
  void say(const std::string& channel, std::string_view message) {
    listeners_.at(channel).listener->heard(channel, message);
  }

 private:
  struct Entry {
    Listener* listener = nullptr;
    base::Instant since = base::Instant::max();
  };
  std::map<std::string, Entry> listeners_;
};

/// Servers that keep each bucket apart, as a cluster may, and answer what the test says.
class FakeTopology final : public redis::Topology {
 public:
  struct Sent {
    std::string key;
    std::string command;
    redis::Request::OnReply on_reply;
  };

  void send(redis::Request request) override {
    Sent sent = {.key = std::string(request.key), .command = {}, .on_reply = std::move(request.on_reply)};
    request.command.write_to(sent.command);
    requests.push_back(std::move(sent));
  }
  Part part_of(std::string_view key) const override {
    const std::size_t tag = key.find('{');
    return tag == std::string_view::npos
               ? 0
               : static_cast<Part>(std::stoul(std::string(key.substr(tag + 1, 2)), nullptr, 16));
  }
  std::vector<std::string> key_of_each_server() const override { return {"{00}", "{80}"}; }
  redis::Channels& channels() override { return channels_; }
  void when_server_changed(base::Callback<void()>) override {}
  spi::Failure not_understood() override { return {Errc::store_failed, "nonsense"}; }
  std::string shown() const override { return "a fake"; }
  void close() override {}

  /// Takes out the oldest request.
  Sent next() {
    Sent sent = std::move(requests.front());
    requests.pop_front();
    return sent;
  }

  std::deque<Sent> requests;

 private:
  FakeChannels channels_;
};

}  // namespace holdfast::test
