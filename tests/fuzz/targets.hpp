#pragma once

#include <array>
#include <string_view>

namespace holdfast::fuzz {

/// Tries one input. Returns when it was handled, whatever it was; a crash, a sanitizer's report, a hang or require()
/// says that it was not.
using Target = void (*)(std::string_view input);

void core_record(std::string_view input);       ///< what elections and the like keep in registers
void etcd_record(std::string_view input);       ///< the value of a claim's key
void guardian_order(std::string_view input);    ///< what the tool tells the process that guards its command
void lock_name(std::string_view input);         ///< what a user calls a lock
void mailbox_message(std::string_view input);   ///< what clients of a sqlite: store tell each other
void redis_record(std::string_view input);      ///< a claim as the scripts show it
void redis_reply(std::string_view input);       ///< what a Redis server sends
void sqlite_file(std::string_view input);       ///< damages to the files of a store that is in use: sqlite_damage.hpp
void store_url(std::string_view input);         ///< of every store
void zookeeper_record(std::string_view input);  ///< the data of a claim's node

struct NamedTarget {
  const char* name;  ///< also of its folder in corpus/
  Target run;
};
inline constexpr std::array<NamedTarget, 10> targets = {{{"core_record", core_record},
                                                         {"etcd_record", etcd_record},
                                                         {"guardian_order", guardian_order},
                                                         {"lock_name", lock_name},
                                                         {"mailbox_message", mailbox_message},
                                                         {"redis_record", redis_record},
                                                         {"redis_reply", redis_reply},
                                                         {"sqlite_file", sqlite_file},
                                                         {"store_url", store_url},
                                                         {"zookeeper_record", zookeeper_record}}};

/// Ends the program, so that libFuzzer keeps the input, unless `is_true`.
void require(bool is_true, std::string_view what);

}  // namespace holdfast::fuzz
