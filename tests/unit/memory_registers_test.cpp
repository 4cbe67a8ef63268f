#include <gtest/gtest.h>

#include "unit/memory_store_world.hpp"

namespace holdfast::memory {
namespace {

TEST(MemoryRegisters, WriteOnlyWhatWasReadLast) {
  StoreModel store;
  RegisterTable& registers = store.registers();
  EXPECT_EQ(registers.read("r").version, 0U);
  const auto first = registers.write_if("r", 0, "one").value();
  EXPECT_TRUE(first.written);
  EXPECT_EQ(first.now.version, 1U);
  const auto second = registers.write_if("r", 0, "two").value();
  EXPECT_FALSE(second.written);
  EXPECT_EQ(second.now.value, "one");
  EXPECT_FALSE(registers.write_if("never", 3, "x").value().written);
  EXPECT_EQ(registers.write_if("r", 1, std::string(RegisterTable::max_value_bytes + 1, 'x')).failure().code,
            Errc::invalid_argument);
  EXPECT_TRUE(registers.write_if("r", 1, std::string(RegisterTable::max_value_bytes, 'x')).ok());
}

TEST(MemoryRegisters, AddToNumbersOnly) {
  StoreModel store;
  RegisterTable& registers = store.registers();
  EXPECT_EQ(registers.add("n", 5).value(), 5);
  EXPECT_EQ(registers.add("n", -7).value(), -2);
  EXPECT_EQ(registers.read("n").value, "-2");
  EXPECT_EQ(registers.read("n").version, 2U);
  EXPECT_EQ(registers.add("max", INT64_MAX).value(), INT64_MAX);
  EXPECT_EQ(registers.add("max", 1).failure().code, Errc::invalid_argument);
  for (const char* text : {"", "x", "1x", " 1", "9223372036854775808"}) {
    const LockName name = LockName("text " + std::string(text));
    EXPECT_TRUE(registers.write_if(name, 0, text).value().written);
    EXPECT_EQ(registers.add(name, 1).failure().code, Errc::invalid_argument) << text;
  }
}

TEST(MemoryRegisters, TellWatchersOnce) {
  StoreModel store;
  RegisterTable& registers = store.registers();
  EXPECT_FALSE(registers.watch(1, "r", 0));
  EXPECT_FALSE(registers.watch(1, "r", 0));
  EXPECT_FALSE(registers.watch(2, "r", 0));
  EXPECT_FALSE(registers.watch(3, "r", 0));
  registers.unwatch(2, "r");
  registers.forget(3);
  EXPECT_TRUE(registers.write_if("r", 0, "x").ok());
  const std::vector<Event> events = store.take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, Event::Kind::changed);
  EXPECT_EQ(events[0].client, 1U);
  EXPECT_TRUE(registers.watch(1, "r", 0));
  EXPECT_TRUE(registers.add("other", 1).ok());
  EXPECT_TRUE(store.take_events().empty());
}

}  // namespace
}  // namespace holdfast::memory
