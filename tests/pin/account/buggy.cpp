// SPDX-License-Identifier: Apache-2.0
//
// Two payments into one account; the lock is there but nobody takes it.
#include <cassert>
#include <mutex>
#include <thread>

class Account {
 public:
  [[gnu::noinline]] void pay(int amount) {
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
