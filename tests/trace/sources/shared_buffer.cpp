#include <atomic>
#include <thread>

struct Buffer {
  std::atomic<int> references{2};
  int used = 0;
};

static void release(Buffer* buffer) {
  if (--buffer->references == 0) delete buffer;
}

static void reader(Buffer* buffer) {
  release(buffer);
  buffer->used++;
}

int main() {
  auto* buffer = new Buffer;
  std::thread other(reader, buffer);
  release(buffer);
  other.join();
}
