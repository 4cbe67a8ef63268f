#pragma once

#include "backends/zookeeper/call.hpp"
#include "backends/zookeeper/flow.hpp"
#include "backends/zookeeper/sessions.hpp"

namespace holdfast::zookeeper {

/// Waits until the session can be used. False: the call is over, answered with the reason if that was the session.
template <class T>
Flow<bool> is_ready(SessionPtr session, CallPtr<T> call) {
  while (!session->is_up() && !session->has_ended() && !call->over()) co_await session->change();
  if (!session->is_up()) call->answer(session->hindrance());
  co_return !call->over();
}

}  // namespace holdfast::zookeeper
