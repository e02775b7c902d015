// Branches that depend on data: a sieve, the Collatz sequence, binary search and a scan for runs.

#include "rt.h"

enum { SIEVE = 10000, STARTS = 1500, TABLE = 512, LOOKUPS = 2000, BITS = 8192 };

static uint8_t composite[SIEVE];
static uint32_t table[TABLE];

// Number of primes below SIEVE.
static FUNCTION int primes(void)
{
    int count = 0;
    memset(composite, 0, sizeof composite);
    for (int i = 2; i < SIEVE; i++) {
        if (composite[i])
            continue;
        count++;
        for (int j = 2 * i; j < SIEVE; j += i)
            composite[j] = 1;
    }
    return count;
}

// The start below STARTS that takes the most steps to reach 1.
static FUNCTION int collatz(int *longest)
{
    int best = 0;
    *longest = 0;
    for (int start = 1; start < STARTS; start++) {
        uint32_t n = start;
        int steps = 0;
        while (n != 1) {
            if (n % 2)
                n = 3 * n + 1;
            else
                n /= 2;
            steps++;
        }
        if (steps > *longest) {
            *longest = steps;
            best = start;
        }
    }
    return best;
}

// Place of value in the table, or -1.
static FUNCTION int find(uint32_t value)
{
    int low = 0, high = TABLE - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (table[middle] == value)
            return middle;
        if (table[middle] < value)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

// Looks up numbers of which about every fourth is there.
static FUNCTION uint32_t searches(void)
{
    uint32_t state = 1, value = 0, sum = 0;
    for (int i = 0; i < TABLE; i++)
        table[i] = value += 1 + random32(&state) % 7;
    for (int i = 0; i < LOOKUPS; i++)
        sum = mix(sum, find(random32(&state) % value));
    return sum;
}

// Counts runs of equal bits by their length.
static FUNCTION uint32_t runs(void)
{
    uint32_t state = 99, bits = 0, counts[5] = {0}, sum = 0;
    int length = 0, last = 0;
    for (int i = 0; i < BITS; i++) {
        if (i % 32 == 0)
            bits = random32(&state);
        int bit = bits & 1;
        bits >>= 1;
        if (bit == last) {
            length++;
            continue;
        }
        if (length == 1)
            counts[0]++;
        else if (length == 2)
            counts[1]++;
        else if (length < 5)
            counts[2]++;
        else if (length < 8)
            counts[3]++;
        else
            counts[4]++;
        length = 1;
        last = bit;
    }
    for (size_t i = 0; i < COUNT(counts); i++)
        sum = mix(sum, counts[i]);
    return sum;
}

int branchy(void)
{
    int steps;
    if (primes() != 1229)
        return 1;
    if (collatz(&steps) != 1161 || steps != 181)
        return 2;
    if (searches() != 0xc5f83aab)
        return 3;
    if (runs() != 0xe4d0da2e)
        return 4;
    return 0;
}
