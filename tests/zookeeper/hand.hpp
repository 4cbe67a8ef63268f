#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct _zhandle;

namespace holdfast::zookeeper_suite {

/// An operator's hand in a server: looks at nodes and changes them, one request at a time. Throws if that fails.
class Hand {
 public:
  explicit Hand(const std::string& port, const std::string& credentials = {});
  ~Hand();
  Hand(const Hand&) = delete;
  Hand& operator=(const Hand&) = delete;

  /// In the order of their sequence numbers; empty if there is no such node.
  std::vector<std::string> children(const std::string& path);
  std::string data(const std::string& path);
  void create(const std::string& path);
  /// As a client of another library that wants the lock: makes the next node of the line, and says how it is called.
  std::string join(const std::string& line);
  void set(const std::string& path, const std::string& data);
  void remove(const std::string& path);
  /// The session that an ephemeral node belongs to; 0 if there is no such node.
  std::int64_t owner(const std::string& path);
  /// The number of the change that made a node; 0 if there is no such node.
  std::uint64_t created_in(const std::string& path);
  /// Ends another client's session: enters it, and closes it.
  static void end_session(const std::string& port, std::int64_t session);

 private:
  struct Answer;
  template <class Request>
  Answer ask(Request request);

  _zhandle* handle_;
  const bool authenticated_;
};

}  // namespace holdfast::zookeeper_suite
