#pragma once

#include <string>
#include <string_view>

#include "base/instant.hpp"

namespace holdfast::redis {

/// The channels on which the clients of a store tell each other what has changed. It knows neither what they are called
/// nor what the messages mean.
///
/// A message is lost where nobody listens at that moment. So whoever listens looks for itself whenever it hears
/// listening(): after that no message is missed, until the next interruption.
class Channels {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    /// From now on all messages of the channel are heard. There may have been some before. Called once after
    /// subscribe() and again after each interruption, never inside a call.
    virtual void listening(const std::string& channel) = 0;
    virtual void heard(const std::string& channel, std::string_view message) = 0;
  };

  virtual ~Channels() = default;

  /// Again for the same channel: the new listener replaces the old one. REQUIRES: the listener outlives the
  /// subscription or this object.
  virtual void subscribe(const std::string& channel, Listener& listener) = 0;
  virtual void unsubscribe(const std::string& channel) = 0;
  /// Since when every message of the channel is heard. Instant::max(): not now.
  virtual base::Instant listening_since(const std::string& channel) const = 0;
};

}  // namespace holdfast::redis
