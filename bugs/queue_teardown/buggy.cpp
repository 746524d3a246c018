// SPDX-License-Identifier: Apache-2.0
//
// Queue teardown. Main feeds blocks to a consumer through a queue, waits until every block is
// reported done, and frees the queue. But "all blocks done" is not "the consumer is done": it
// comes back to the queue once more to learn that it is closed, and may find it freed.
// Origin: shape of pbzip2's queue teardown, where main destroyed the queue with its mutex while
// consumer threads could still lock it.
// Usage: buggy [number of blocks, default 2]

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

struct Queue {
  std::mutex mutex;
  std::condition_variable changed;
  int blocks = 0;  // waiting in the queue
  bool closed = false;
};

struct Progress {
  std::mutex mutex;
  std::condition_variable changed;
  int done = 0;
};

Progress progress;

void push(Queue* queue) {
  std::lock_guard<std::mutex> lock(queue->mutex);
  ++queue->blocks;
  queue->changed.notify_one();
}

void close(Queue* queue) {
  std::lock_guard<std::mutex> lock(queue->mutex);
  queue->closed = true;
  queue->changed.notify_one();
}

// Takes a block; false when the queue is closed and empty.
bool pop(Queue* queue) {
  std::unique_lock<std::mutex> lock(queue->mutex);                         // heddle: culprit use
  while (queue->blocks == 0 && !queue->closed) queue->changed.wait(lock);  // heddle: culprit use
  if (queue->blocks == 0) return false;                                    // heddle: culprit use
  --queue->blocks;
  return true;
}  // heddle: culprit use

void consume(Queue* queue) {
  while (pop(queue)) {
    // Here the block would be compressed.
    std::lock_guard<std::mutex> lock(progress.mutex);
    ++progress.done;
    progress.changed.notify_one();
  }
}

int main(int argc, char** argv) {
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 2;

  Queue* queue = new Queue;
  std::thread consumer(consume, queue);
  for (int i = 0; i < blocks; ++i) push(queue);
  close(queue);
  {
    std::unique_lock<std::mutex> lock(progress.mutex);
    progress.changed.wait(lock, [blocks] { return progress.done == blocks; });
  }
  delete queue;  // heddle: culprit free
  consumer.join();
  return 0;
}
