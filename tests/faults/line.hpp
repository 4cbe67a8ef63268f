#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "holdfast/client.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/peer.hpp"

namespace holdfast::faults {

using namespace std::chrono_literals;

/// What a case adds to a promised time: the scheduler's share. Leases are chosen so that another one would show.
inline constexpr std::chrono::milliseconds slack = 2s;

/// Whether `count` clients come to stand in the line of `name`.
inline bool line_becomes(const Client& client, const LockName& name, std::size_t count) {
  return test::eventually([&] {
    const auto status = test::answered([&] { return client.show(name); });
    return (status ? status->waiters.size() : 0) == count;
  });
}

using Line = std::vector<std::unique_ptr<test::ProcessPeer>>;

/// Processes that wait for `a` in this order: `acquire` says with which lease, and for how long. Fewer, if one of them
/// does not come to stand in the line.
inline Line line_of(const std::string& url, const Client& client, std::size_t count, const std::string& acquire) {
  Line line;
  while (line.size() < count) {
    line.push_back(std::make_unique<test::ProcessPeer>(url));
    line.back()->send("acquire a " + acquire);
    if (!line_becomes(client, "a", line.size())) return {};
  }
  return line;
}

inline bool is_granted_within(test::ProcessPeer& peer, std::chrono::milliseconds bound) {
  return peer.receive(bound).value_or("no answer").starts_with("granted");
}

/// Whether `peer` still waits, a good while after it could have been served.
inline bool waits(test::ProcessPeer& peer) { return !peer.receive(500ms).has_value(); }

/// The token in the answer `granted TOKEN`; 0 if it is another one.
inline std::uint64_t token_in(const std::string& answer) {
  const std::string begin = "granted ";
  return answer.starts_with(begin) ? std::stoull(answer.substr(begin.size())) : 0;
}

/// How long `call` takes.
template <class Call>
std::chrono::milliseconds time_of(Call call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
}

}  // namespace holdfast::faults
