#include "holdfast/ids/worker_pool.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "ids/pool_registers.hpp"
#include "ids/worker_record.hpp"

namespace holdfast::ids {
namespace {

using std::chrono::system_clock;
using State = WorkerStatus::State;

constexpr std::uint32_t batch = 64;

void check(Errc code, const std::string& detail, const LockName& pool) {
  if (code == Errc{}) return;
  throw Error(code, "looking at the worker numbers of '" + pool.text() +
                        "': " + (detail.empty() ? make_error_code(code).message() : detail));
}

WorkerLease::Looked look(PoolRegisters& registers, const WorkerLease::Look& what, const LockName& pool) {
  std::promise<WorkerLease::Looked> promise;
  registers.look(what, [&promise](WorkerLease::Looked looked) { promise.set_value(std::move(looked)); });
  WorkerLease::Looked looked = promise.get_future().get();
  check(looked.pool.code, looked.pool.detail, pool);
  check(looked.clock.code, looked.clock.detail, pool);
  for (const auto& number : looked.numbers) check(number.code, number.detail, pool);
  return looked;
}

WorkerStatus status_of(std::uint32_t number, const Versioned& stored, const WorkerPoolStatus& pool,
                       system_clock::time_point now) {
  constexpr auto most_ahead = std::chrono::hours(1);  // and then a clock is wrong
  const std::optional<WorkerRecord> record = parse_worker_record(stored.value);
  if (!record || record->layout != pool.layout) return {.number = number, .state = State::poisoned};
  WorkerStatus status = {.number = number,
                         .holder = record->holder,
                         .since = pool.layout.time_of(record->since),
                         .reserved_until = pool.layout.time_of(record->hwm)};
  if (status.reserved_until > now + pool.window + most_ahead) {
    status.state = State::poisoned;
  } else if (record->holder.empty()) {
    status.state = State::given_back;
  } else if (status.reserved_until <= now) {
    status.state = State::lapsed;
  }
  return status;
}

}  // namespace

std::optional<WorkerPoolStatus> look_at_workers(Client& client, const LockName& pool) {
  PoolRegisters registers(client, pool);
  const WorkerLease::Looked first = look(registers, {.pool = true, .clock = client.traits().has_clock}, pool);
  if (first.pool.value.version == 0) return std::nullopt;
  const std::optional<PoolRecord> record = parse_pool_record(first.pool.value.value);
  if (!record) {
    throw Error(Errc::store_failed, "the register 'id/" + pool.text() + "' does not describe a pool of worker numbers");
  }
  WorkerPoolStatus status = {
      .layout = record->layout, .workers = record->workers, .window = record->window, .guard = record->guard};
  const system_clock::time_point now = first.clock.value ? first.clock.value->time : system_clock::now();
  for (std::uint32_t begin = 0; begin < status.workers; begin += batch) {
    WorkerLease::Look numbers;
    for (std::uint32_t number = begin; number < std::min(status.workers, begin + batch); ++number) {
      numbers.numbers.push_back(number);
    }
    const WorkerLease::Looked looked = look(registers, numbers, pool);
    for (std::size_t i = 0; i < numbers.numbers.size(); ++i) {
      const Versioned& stored = looked.numbers[i].value;
      if (stored.version != 0) status.used.push_back(status_of(numbers.numbers[i], stored, status, now));
    }
  }
  return status;
}

}  // namespace holdfast::ids
