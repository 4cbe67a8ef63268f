// Two hosts, one hourly message: both timers fire, one process sends, the other finds that it was done. Here the hosts
// are two processes, and the store is a file; with hosts in earnest it is a URL that both of them reach.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <string>

namespace {

/// What a host does when its timer fires. True if it was the one that sent.
bool timer_fires(const std::string& url, const std::string& outbox) {
  holdfast::Client client(url);
  holdfast::Once hourly(client, "hourly-sms", std::chrono::hours(1));
  return hourly.run([&](const holdfast::Hold& hold) {
    std::ofstream(outbox, std::ios::app) << "message, token " << hold.token() << "\n";
  });
}

int lines_in(const std::string& file) {
  std::ifstream in(file);
  int lines = 0;
  for (std::string line; std::getline(in, line);) ++lines;
  return lines;
}

}  // namespace

int main() {
  std::string folder = (std::filesystem::temp_directory_path() / "holdfast-sms-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return 1;
  const std::string url = "sqlite:" + folder + "/locks.db";
  const std::string outbox = folder + "/outbox";

  int senders = 0;
  pid_t hosts[2];
  for (pid_t& host : hosts) {
    host = ::fork();
    if (host == 0) std::_Exit(timer_fires(url, outbox) ? 1 : 0);
  }
  for (const pid_t host : hosts) {
    int status = 0;
    if (::waitpid(host, &status, 0) != host || !WIFEXITED(status)) return 1;
    senders += WEXITSTATUS(status);
  }
  const int sent = lines_in(outbox);
  std::cout << "2 hosts, " << sent << " message sent by " << senders << " of them\n";

  holdfast::Client client(url);
  const auto last = holdfast::Once(client, "hourly-sms", std::chrono::hours(1)).last_run();
  if (!last) return 1;
  std::cout << "the store remembers: sent by " << last->host << ", token " << last->token << "\n";
  client.close();
  std::filesystem::remove_all(folder);
  return sent == 1 && senders == 1 ? 0 : 1;
}
