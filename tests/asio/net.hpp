#pragma once

/// One name for the Asio that a test program is built with: standalone, or Boost's if HOLDFAST_USE_BOOST_ASIO is
/// defined.

#ifdef HOLDFAST_USE_BOOST_ASIO

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/system/system_error.hpp>

namespace holdfast::test {
namespace net = boost::asio;
using NetError = boost::system::error_code;
using NetException = boost::system::system_error;
}  // namespace holdfast::test

#else

#include <asio/awaitable.hpp>
#include <asio/bind_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/system_error.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>

namespace holdfast::test {
namespace net = asio;
using NetError = asio::error_code;
using NetException = asio::system_error;
}  // namespace holdfast::test

#endif
