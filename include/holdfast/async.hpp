#pragma once

#include <system_error>
#include <type_traits>
#include <utility>

#include "holdfast/move_only_function.hpp"

namespace holdfast {

class Hold;

/// Receives the outcome of an asynchronous call: either an error and an empty result, or no error and the result. It is
/// called exactly once, on one of the client's own threads. It may block and may call Holdfast, but must not throw.
template <class... Results>
using AsyncCallback = MoveOnlyFunction<void(std::error_code, Results...)>;

using AcquireCallback = AsyncCallback<Hold>;

namespace detail {

template <class Token>
concept HasAssociations = requires { typename Token::executor_type; } || requires { typename Token::allocator_type; } ||
                          requires { typename Token::cancellation_slot_type; };

/// One of Asio's completion tokens, such as `use_awaitable`, or a handler that is bound to an executor, as opposed to a
/// plain callback.
template <class Token, class... Results>
concept CompletionToken =
    !std::is_same_v<std::decay_t<Token>, AsyncCallback<Results...>> &&
    (!std::is_invocable_v<std::decay_t<Token>&, std::error_code, Results...> || HasAssociations<std::decay_t<Token>>);

/// Starts a call with such a token. <holdfast/asio.hpp> defines it.
template <class... Results>
struct Asio;

template <class T>
concept Defined = requires { sizeof(T); };

/// Looks Asio<> up only when a token is used, so that the other headers do not depend on Asio.
template <class Token, class... Results>
struct AsioFor {
  template <class Start>
  static auto initiate(Token&& token, Start&& start) {
    if constexpr (Defined<Asio<Results...>>) {
      return Asio<Results...>::initiate(std::forward<Token>(token), std::forward<Start>(start));
    } else {
      static_assert(Defined<Asio<Results...>>,
                    "the last argument is not a callback for this call: it cannot be called with a std::error_code and "
                    "the call's results. If it is one of Asio's completion tokens, include <holdfast/asio.hpp>");
    }
  }
};

}  // namespace detail
}  // namespace holdfast
