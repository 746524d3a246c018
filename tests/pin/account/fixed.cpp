// SPDX-License-Identifier: Apache-2.0
//
// Two payments into one account, one at a time.
#include <cassert>
#include <mutex>
#include <thread>

class Account {
 public:
  [[gnu::noinline]] void pay(int amount) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int seen = balance_;
    balance_ = seen + amount;
  }
  int balance() const { return balance_; }

 private:
  std::mutex mutex_;
  int balance_ = 0;
};

Account account;

int main() {
  std::thread payer([] { account.pay(20); });
  account.pay(30);
  payer.join();
  assert(account.balance() == 50);
  return 0;
}
