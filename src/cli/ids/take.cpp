#include "cli/ids/take.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "cli/exit_code.hpp"
#include "cli/secrets.hpp"
#include "cli/text/output.hpp"
#include "holdfast/ids/auto_increment.hpp"
#include "holdfast/ids/date_counter.hpp"
#include "holdfast/ids/segment.hpp"
#include "holdfast/ids/snowflake.hpp"
#include "holdfast/ids/stepped.hpp"
#include "holdfast/ids/uuid4.hpp"
#include "holdfast/ids/uuid7.hpp"

namespace holdfast::cli {
namespace {

constexpr std::uint64_t chunk = 4096;

/// A process of its own would begin at 1 again each time.
void refuse_memory(const Store& store) {
  if (!store.url.starts_with("memory:")) return;
  throw Error(Errc::bad_url,
              "ids from a memory: store would be repeated by the next call, because it exists in this process only; "
              "choose another store");
}

/// The store of one generator, which outlives it.
struct OpenStore {
  explicit OpenStore(const StoreFlags& flags) : client(open(choose_store(flags))) {}

  static Client open(const Store& store) {
    refuse_memory(store);
    if (is_terminal(Stream::error)) tell_if_default(store);
    return open_client(store, {.label = "id"});
  }

  Client client;
};

/// UUIDs of a generator.
template <class Generator>
class UuidSource final : public IdSource {
 public:
  std::uint64_t take(std::uint64_t most, std::vector<std::string>& texts) override {
    const std::size_t count = std::min(most, chunk);
    generator_.fill(std::span(ids_).first(count));
    for (std::size_t each = 0; each < count; ++each) texts.push_back(to_string(ids_.at(each)));
    return count;
  }

 private:
  Generator generator_;
  std::array<ids::Uuid, chunk> ids_ = {};
};

/// Numbers of a generator, in ranges of at most `largest`.
template <class Generator>
class NumberSource final : public IdSource {
 public:
  NumberSource(std::unique_ptr<OpenStore> store, std::unique_ptr<Generator> generator, ids::TextForm form,
               std::uint64_t largest)
      : store_(std::move(store)), generator_(std::move(generator)), form_(form), largest_(largest) {}

  std::uint64_t take(std::uint64_t most, std::vector<std::string>& texts) override {
    using Count = std::conditional_t<std::is_same_v<Generator, ids::Snowflake>, std::uint32_t, std::size_t>;
    const ids::IdRange range = generator_->reserve(static_cast<Count>(std::min(most, largest_)));
    for (const std::uint64_t id : range) texts.push_back(ids::to_text(id, form_));
    return range.size();
  }

 private:
  std::unique_ptr<OpenStore> store_;
  std::unique_ptr<Generator> generator_;
  ids::TextForm form_;
  std::uint64_t largest_;
};

class DateSource final : public IdSource {
 public:
  explicit DateSource(const IdRequest& request)
      : store_(request.store),
        dates_(store_.client, request.name, {.prefix = request.prefix, .digits = request.digits}) {}

  std::uint64_t take(std::uint64_t most, std::vector<std::string>& texts) override {
    constexpr std::uint64_t a_tenth_of_the_smallest_day = 1'000;
    auto some = dates_.reserve(std::min(most, a_tenth_of_the_smallest_day));
    std::ranges::move(some, std::back_inserter(texts));
    return some.size();
  }

 private:
  OpenStore store_;
  ids::DateCounter dates_;
};

class SteppedSource final : public IdSource {
 public:
  explicit SteppedSource(const IdRequest& request) : form_(request.form) {
    if (request.stores.empty()) throw UsageError("stepped needs its stores: --stores 'URL URL URL'");
    for (const std::string& url : request.stores) {
      stores_.push_back(
          std::make_unique<OpenStore>(StoreFlags{.url = url, .password_file = request.store.password_file}));
    }
    ids::SteppedStores clients;
    for (const auto& store : stores_) clients.emplace_back(store->client);
    if (request.set_up) ids::Stepped::set_up(clients, request.name);
    stepped_.emplace(clients, request.name);
  }

  std::uint64_t take(std::uint64_t most, std::vector<std::string>& texts) override {
    const ids::IdRange range = stepped_->reserve(std::min(most, chunk));
    for (const std::uint64_t id : range) texts.push_back(ids::to_text(id, form_));
    return range.size();
  }

 private:
  std::deque<std::unique_ptr<OpenStore>> stores_;
  std::optional<ids::Stepped> stepped_;
  ids::TextForm form_;
};

template <class Generator, class... Options>
std::unique_ptr<IdSource> number_source(const IdRequest& request, std::uint64_t largest, const Options&... options) {
  auto store = std::make_unique<OpenStore>(request.store);
  auto generator = std::make_unique<Generator>(store->client, request.name, options...);
  return std::make_unique<NumberSource<Generator>>(std::move(store), std::move(generator), request.form, largest);
}

}  // namespace

bool needs_store(std::string_view kind) { return kind != "uuid4" && kind != "uuid7"; }

std::unique_ptr<IdSource> open_source(const IdRequest& request) {
  constexpr std::uint64_t any_number = 1'000'000'000;
  if (request.kind == "uuid4") return std::make_unique<UuidSource<ids::Uuid4>>();
  if (request.kind == "uuid7") return std::make_unique<UuidSource<ids::Uuid7>>();
  if (request.kind == "date") return std::make_unique<DateSource>(request);
  if (request.kind == "stepped") return std::make_unique<SteppedSource>(request);
  // What is left of a segment when the tool ends is lost, so it takes no more than it prints.
  if (request.kind == "auto" || request.kind == "segment") {
    return number_source<ids::AutoIncrement>(request, any_number);
  }
  const ids::SnowflakeOptions options = {.layout = request.layout};
  return number_source<ids::Snowflake>(request, request.layout.sequences(), options);
}

}  // namespace holdfast::cli
