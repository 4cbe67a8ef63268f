#include "cli/look/sampler.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <exception>
#include <stop_token>
#include <system_error>

#include "cli/pause.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

Sample look_at(Client& client, const std::string& prefix) {
  Sample sample;
  try {
    sample.locks = client.list(prefix);
    sample.marks = read_marks(client);
  } catch (const std::exception& error) {
    sample.failure = printable(error.what());
  }
  sample.taken = base::BootClock::now();
  sample.wall = std::chrono::system_clock::now();
  return sample;
}

}  // namespace

Sampler::Sampler(Client client, std::string prefix, std::chrono::milliseconds pause)
    : client_(std::move(client)),
      prefix_(std::move(prefix)),
      pause_(pause),
      news_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!news_) throw std::system_error(errno, std::generic_category(), "cannot watch the store");
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Sampler::~Sampler() {
  thread_.request_stop();
  client_.close();  // a look that is under way ends
}

std::optional<Sample> Sampler::take() {
  eventfd_t count = 0;
  ::eventfd_read(news_.get(), &count);
  const std::scoped_lock lock(mutex_);
  return std::exchange(newest_, std::nullopt);
}

void Sampler::run(const std::stop_token& stop) {
  while (pause_for(pause_, stop)) {
    Sample sample = look_at(client_, prefix_);
    const std::scoped_lock lock(mutex_);
    newest_ = std::move(sample);
    ::eventfd_write(news_.get(), 1);
  }
}

}  // namespace holdfast::cli
