#pragma once

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
  void set(const std::string& path, const std::string& data);
  void remove(const std::string& path);

 private:
  struct Answer;
  template <class Request>
  Answer ask(Request request);

  _zhandle* handle_;
  const bool authenticated_;
};

}  // namespace holdfast::zookeeper_suite
