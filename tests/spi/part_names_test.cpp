// The names of parts (spi/part_name.hpp): longer than a user's name, and with a NUL in them.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spi/part_name.hpp"
#include "spi/stores.hpp"

namespace holdfast::spi_suite {
namespace {

using spi::PartName;

const LockName whole = "foo";
const LockName part = PartName::of(whole, "election");
const LockName other_part = PartName::of(whole, "gate");
const LockName longest =
    PartName::of(std::string(LockName::max_bytes, 'x'), std::string(PartName::max_part_bytes, 'p'));

TEST_P(PartNames, AreApartFromTheNamesTheyBelongTo) {
  BackendUnderTest client(url());
  int claim = 0;
  for (const LockName& name : {whole, part, other_part, longest}) {
    EXPECT_EQ(client.acquire(++claim, {.name = name}).standing, granted);
    EXPECT_EQ(client.acquire(claim + 10, {.name = name}).place, 1U);
    EXPECT_EQ(client.acquire(claim + 20, {.name = name, .mode = permits(2, 2)}).standing, granted);
    EXPECT_EQ(client.acquire(claim + 30, {.name = name, .mode = permits(1, 2)}).place, 1U);
  }
  EXPECT_FALSE(client.release(2, whole));
  EXPECT_TRUE(client.release(2, part));
  EXPECT_EQ(client.look(12, part).standing, granted);
  EXPECT_EQ(client.look(11, whole).standing, waiting);
  EXPECT_EQ(client.look(13, other_part).standing, waiting);
  EXPECT_TRUE(client.resize(3, part));
  EXPECT_EQ(client.look(32, part).standing, granted);
  EXPECT_EQ(client.look(31, whole).standing, waiting);
  EXPECT_EQ(client.ask_to_release(part, {.reason = "why not"}), 1U);
  EXPECT_FALSE(client.look(1, whole).asked_to_release);
  EXPECT_EQ(client.evict(longest), 1U);
  EXPECT_EQ(client.look(14, longest).standing, granted);
  EXPECT_EQ(client.look(13, other_part).standing, waiting);
}

TEST_P(PartNames, AreListedWithTheNamesTheyBelongTo) {
  BackendUnderTest client(url());
  const LockName longer = "foo!";  // whatever follows, a NUL comes before it
  const LockName shorter = "fo";
  int claim = 0;
  for (const LockName& name : {longer, other_part, whole, shorter, part}) client.acquire(++claim, {.name = name});
  const auto names = [&](const std::string& prefix) {
    std::vector<LockName> found;
    for (const LockStatus& lock : client.list(prefix)) found.push_back(PartName::stored(lock.name));
    return found;
  };
  using Names = std::vector<LockName>;
  EXPECT_EQ(names("foo"), Names({whole, part, other_part, longer}));
  EXPECT_EQ(names(""), Names({shorter, whole, part, other_part, longer}));
  EXPECT_EQ(names(std::string("foo\0", 4)), Names({part, other_part}));
  EXPECT_EQ(names(part.text()), Names({part}));
  EXPECT_EQ(PartName::split(client.list(part.text()).at(0).name).part, "election");
}

TEST_P(PartNames, AreToldWhatHappens) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  int claim = 0;
  for (const LockName& name : {part, longest}) {
    const int held = ++claim;
    const int next = ++claim;
    first.acquire(held, {.name = name});
    second.acquire(next, {.name = name});
    first.release(held, name);
    const auto told = second.told_of(Told::Of::a_grant, next);
    ASSERT_TRUE(told);
    EXPECT_EQ(told->name, name.text());
    EXPECT_EQ(first.evict(name), 1U);
    const auto hint = second.told_of(Told::Of::a_hint, next);
    ASSERT_TRUE(hint);
    EXPECT_EQ(hint->name, name.text());
  }
}

TEST_P(PartNames, AreNamesOfRegisters) {
  BackendUnderTest writer(url());
  BackendUnderTest watcher(url());
  for (const LockName& name : {part, longest}) {
    const auto written = writer.write_if(name, 0, "value");
    EXPECT_TRUE(written.written);
    EXPECT_EQ(writer.read(whole).version, 0U);
    EXPECT_EQ(watcher.read(name).value, "value");
    const auto watch = watcher.start_watch(name, written.now.version);
    EXPECT_EQ(watcher.read(name).version, written.now.version);  // the watch has been placed by now
    EXPECT_TRUE(writer.write_if(name, written.now.version, "7").written);
    EXPECT_TRUE(watch->result().ok());
    EXPECT_EQ(writer.add(name, 5), 12);
    EXPECT_EQ(watcher.read(name).value, "12");
  }
}

}  // namespace
}  // namespace holdfast::spi_suite
