#include "crash/power_loss.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace holdfast::crash {
namespace {

using Kind = DiskEvent::Kind;

constexpr std::size_t sector = 512;

void overwrite(std::string& contents, std::size_t offset, std::string_view bytes) {
  if (contents.size() < offset + bytes.size()) contents.resize(offset + bytes.size(), '\0');
  contents.replace(offset, bytes.size(), bytes);
}

void change(std::string& contents, const DiskEvent& event) {
  const auto offset = static_cast<std::size_t>(event.offset);
  if (event.kind == Kind::truncated) {
    contents.resize(offset, '\0');
  } else {
    overwrite(contents, offset, event.bytes);
  }
}

/// Calls `keep()` for each sector that the change touches, and makes what it says.
template <class Keep>
void change_sectors(std::string& contents, const DiskEvent& event, Keep keep) {
  if (event.kind == Kind::truncated) {
    if (keep()) change(contents, event);
    return;
  }
  const std::string_view bytes = event.bytes;
  const auto offset = static_cast<std::size_t>(event.offset);
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.size(), ((offset + begin) / sector + 1) * sector - offset);
    if (keep()) overwrite(contents, offset + begin, bytes.substr(begin, end - begin));
    begin = end;
  }
}

bool is_wal(const DiskEvent& event) { return event.file.ends_with("-wal"); }

}  // namespace

void PowerLoss::advance_to(std::size_t position) {
  if (position < position_) throw std::logic_error("time runs forward");
  for (; position_ < position; ++position_) apply(events_[position_]);
}

void PowerLoss::apply(const DiskEvent& event) {
  switch (event.kind) {
    case Kind::created:
      names_[event.file] = files_.size();
      files_.emplace_back();
      break;
    case Kind::opened: handles_[event.handle] = {.file = names_.at(event.file)}; break;
    case Kind::written:
    case Kind::truncated: {
      Handle& handle = handle_of(event);
      handle.committed = event.kind == Kind::written && event.offset > 0;
      files_[handle.file].changes.push_back(&event);
      break;
    }
    case Kind::sync_begins: {
      Handle& handle = handle_of(event);
      handle.sync_covers = files_[handle.file].changes.size();
      break;
    }
    case Kind::synced: finish_sync(event); break;
    case Kind::removed: names_.erase(event.file); break;
    case Kind::directory_synced:
      if (disk_ != Disk::forgets_names && disk_ != Disk::forgets_everything) durable_names_ = names_;
      break;
  }
}

PowerLoss::Handle& PowerLoss::handle_of(const DiskEvent& event) {
  if (event.handle != 0) return handles_.at(event.handle);
  const std::size_t file = names_.at(event.file);
  return handles_.try_emplace(-1 - static_cast<int>(file), Handle{.file = file}).first->second;
}

void PowerLoss::finish_sync(const DiskEvent& event) {
  Handle& handle = handle_of(event);
  const bool commit = is_wal(event) && std::exchange(handle.committed, false);
  if (disk_ == Disk::forgets_everything || (disk_ == Disk::forgets_the_wal && is_wal(event)) ||
      (disk_ == Disk::forgets_commits && commit)) {
    return;
  }
  File& file = files_[handle.file];
  for (; file.durable_changes < handle.sync_covers; ++file.durable_changes) {
    change(file.durable, *file.changes[file.durable_changes]);
  }
}

PowerLoss::Names PowerLoss::names_after(Loss loss, std::mt19937& random) const {
  if (loss == Loss::everything) return durable_names_;
  if (loss == Loss::nothing) return names_;
  Names names = durable_names_;
  names.insert(names_.begin(), names_.end());  // keeps the durable meaning of a name that has two
  for (auto& [name, file] : names) {
    const auto now = names_.find(name);
    if (now != names_.end() && random() % 2 == 0) file = now->second;
  }
  std::erase_if(names, [&](const auto& entry) {
    return names_.contains(entry.first) != durable_names_.contains(entry.first) && random() % 2 == 0;
  });
  return names;
}

std::string PowerLoss::contents_after(const File& file, Loss loss, std::mt19937& random) {
  std::string contents = file.durable;
  const auto coin = [&random] { return random() % 2 == 0; };
  const auto first = file.changes.begin() + static_cast<std::ptrdiff_t>(file.durable_changes);
  const auto lost = static_cast<std::size_t>(file.changes.end() - first);
  const std::size_t under_way = loss == Loss::late && lost > 0 ? random() % lost : lost;
  for (std::size_t i = 0; i < lost; ++i) {
    const DiskEvent& event = *first[static_cast<std::ptrdiff_t>(i)];
    if (loss == Loss::torn || (loss == Loss::late && i == under_way)) {
      change_sectors(contents, event, coin);
    } else if (loss == Loss::nothing || (loss == Loss::late && i < under_way) || (loss == Loss::some && coin())) {
      change(contents, event);
    }
  }
  return contents;
}

void PowerLoss::write_image(const std::filesystem::path& directory, Loss loss, std::uint32_t seed) const {
  std::mt19937 random(seed);
  std::filesystem::remove_all(directory);
  std::filesystem::create_directories(directory);
  std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
  for (const auto& [name, file] : names_after(loss, random)) {
    const std::filesystem::path path = directory / name;
    std::ofstream(path, std::ios::binary) << contents_after(files_[file], loss, random);
    std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
}

}  // namespace holdfast::crash
