#include <optional>
#include <string>

#include "backends/etcd/record.hpp"
#include "backends/redis/layouts/claim_record.hpp"
#include "backends/sqlite/message.hpp"
#include "backends/zookeeper/record.hpp"
#include "core/operations/fields.hpp"
#include "fuzz/targets.hpp"
#include "holdfast/status.hpp"
#include "spi/part_name.hpp"

// Records may have been written by other programs, other versions or an attacker. Whatever is understood is written
// again and must then mean the same.

namespace holdfast::fuzz {

void core_record(std::string_view input) {
  const auto fields = core::from_record(input);
  if (!fields) return;
  require(core::from_record(core::to_record(*fields)) == fields, "fields survive");
  for (const std::string& field : *fields) {
    if (const auto number = core::to_number<std::int64_t>(field)) {
      require(core::to_number<std::int64_t>(std::to_string(*number)) == number, "a number survives");
    }
    core::to_number<std::uint32_t>(field);
  }
}

void mailbox_message(std::string_view input) {
  const auto message = sqlite::Message::decode(input);
  if (!message) return;
  require(message->name.size() <= spi::PartName::max_bytes, "a name is not longer than names are");
  require(base::Duration(message->lease) >= base::Duration::zero(), "a lease can be counted in nanoseconds");
  const auto again = sqlite::Message::decode(message->encoded());
  require(again && again->kind == message->kind && again->name == message->name && again->id == message->id &&
              again->number == message->number && again->lease == message->lease,
          "a message survives");
}

void etcd_record(std::string_view input) {
  const etcd::Record record = etcd::Record::parse(input);
  const std::string text = record.text();
  require(etcd::Record::parse(text).text() == text, "a record survives");
}

void redis_record(std::string_view input) {
  if (const auto shown = redis::ShownClaim::from(input)) {
    require(shown->description.size() <= input.size(), "the description is a part of the record");
    ClaimStatus status;
    redis::RecordTail::describe(shown->description, status);
  }
  ClaimStatus status;
  redis::RecordTail::describe(input, status);
  require(status.client.id.size() <= input.size(), "a text is a part of the record");
  if (input.size() >= 16) {
    const spi::ClaimId id = redis::id_from(input.substr(0, 16));
    require(std::string_view(redis::IdBytes(id)) == input.substr(0, 16), "an id survives");
  }
}

void zookeeper_record(std::string_view input) {
  const zookeeper::Record record = zookeeper::Record::from(input);
  const std::string text = record.text();
  require(zookeeper::Record::is_ours(text), "ours");
  require(zookeeper::Record::from(text).text() == text, "a record survives");
}

}  // namespace holdfast::fuzz
