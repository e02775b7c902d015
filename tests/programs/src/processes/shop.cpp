// Inlined templates, libraries and a thread, for views of a trace. Prints how often each function was entered.

#include <cstdio>
#include <thread>
#include <vector>

enum { PRICE, SUM, ADD, STIR, ALL };
static volatile unsigned long counts[ALL];

static inline void count(int which) { counts[which] = counts[which] + 1; }

namespace shop {
template <class T> static inline T price(T base) {
    count(PRICE);
    T total = 0;
    for (T i = 0; i < (base & 3); i++)
        total += base + i;
    return total * 2 + base;
}

struct Basket {
    std::vector<int> items;
    inline void add(int item) {
        count(ADD);
        items.push_back(item);
    }
};
} // namespace shop

static inline long sum(const std::vector<int> &items, size_t length) {
    count(SUM);
    long total = 0;
    for (size_t i = 0; i < length; i++)
        total += items[i] * items[i];
    return total;
}

__attribute__((noinline)) static long stir(long pot) {
    count(STIR);
    for (long i = 0; i < 9; i++)
        pot = pot * 31 + i;
    return pot;
}

int main(int argc, char **) {
    shop::Basket basket;
    for (int i = 0; i < 50; i++)
        basket.add(shop::price(i + argc));
    long total = 0, other = 0;
    for (size_t less = 0; less < 7; less++)
        total += sum(basket.items, basket.items.size() - less);
    std::thread thread([&] {
        for (int i = 0; i < 21; i++)
            other += stir(i);
    });
    thread.join();
    std::printf("price %lu\nsum %lu\nadd %lu\nstir %lu\n", counts[PRICE], counts[SUM], counts[ADD], counts[STIR]);
    return total + other == 0;
}
