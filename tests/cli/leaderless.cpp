// A program whose first thread ends at once, while another goes on working. /proc/PID/stat then shows a zombie.

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const std::string file = argv[1];
  std::thread([file] {
    std::ofstream work(file + ".work", std::ios::app);
    const std::string temporary = file + ".new";
    std::ofstream(temporary) << ::getpid() << "\n";
    ::rename(temporary.c_str(), file.c_str());
    for (;;) {
      work << "." << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }).detach();
  pthread_exit(nullptr);
}
