#include "backends/redis/connection/tls_setup.hpp"

#include <optional>
#include <utility>

namespace holdfast::redis {

using spi::Result;

TlsSetup::Preparation::Preparation(TlsSetup& setup, Done done) : setup_(setup), done_(std::move(done)) {
  setup_.waiting_.push_back(this);
  if (!setup_.reading_) {
    setup_.begin_reading();
  } else {
    setup_.loop_.run_blocking([] {}, [] {});  // there may have been no thread for the reading: ask for one again
  }
}

TlsSetup::Preparation::~Preparation() {
  std::erase(setup_.waiting_, this);
  std::erase(setup_.answering_, this);
}

TlsSetup::TlsSetup(spi::Loop& loop, const ServerAddress& address) : loop_(loop), address_(address) {}

void TlsSetup::begin_reading() {
  reading_ = true;
  auto context = std::make_shared<std::optional<Result<TlsContext::Pointer>>>();
  loop_.run_blocking([context, address = address_, known = known_] { *context = TlsContext::read(address, known); },
                     [this, context, here = lifetime_.watch()] {
                       if (here.lasts()) has_read(**context);
                     });
}

void TlsSetup::has_read(const Result<TlsContext::Pointer>& context) {
  reading_ = false;
  known_ = context.ok() ? context.value() : nullptr;
  answering_ = std::exchange(waiting_, {});
  while (!answering_.empty()) {
    Preparation* const next = answering_.front();
    answering_.erase(answering_.begin());
    Done done = std::move(next->done_);  // it may destroy the preparation
    done(context);
  }
}

}  // namespace holdfast::redis
