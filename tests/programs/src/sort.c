// Five ways to sort with comparisons through function pointers.

#include "rt.h"

enum { RECORDS = 300 };

struct record {
    uint32_t key;
    uint16_t group, place;
};

typedef int order(const struct record *a, const struct record *b);
typedef void sorter(struct record *r, int n, order *compare);

static struct record records[RECORDS], spare[RECORDS];

static int by_key(const struct record *a, const struct record *b)
{
    return a->key < b->key ? -1 : a->key > b->key;
}

static int by_key_down(const struct record *a, const struct record *b)
{
    return by_key(b, a);
}

static int by_group(const struct record *a, const struct record *b)
{
    return a->group != b->group ? a->group - b->group : a->place - b->place;
}

static void swap(struct record *a, struct record *b)
{
    struct record t = *a;
    *a = *b;
    *b = t;
}

static void insertion(struct record *r, int n, order *compare)
{
    for (int i = 1; i < n; i++) {
        struct record one = r[i];
        int j = i;
        for (; j > 0 && compare(&r[j - 1], &one) > 0; j--)
            r[j] = r[j - 1];
        r[j] = one;
    }
}

static void shell(struct record *r, int n, order *compare)
{
    static const int gaps[] = {121, 40, 13, 4, 1};
    for (size_t g = 0; g < COUNT(gaps); g++)
        for (int gap = gaps[g], i = gap; i < n; i++)
            for (int j = i; j >= gap && compare(&r[j - gap], &r[j]) > 0; j -= gap)
                swap(&r[j - gap], &r[j]);
}

static void quick(struct record *r, int n, order *compare)
{
    if (n < 8) {
        insertion(r, n, compare);
        return;
    }
    struct record pivot = r[n / 2];
    int i = 0, j = n - 1;
    while (i <= j) {
        while (compare(&r[i], &pivot) < 0)
            i++;
        while (compare(&r[j], &pivot) > 0)
            j--;
        if (i <= j)
            swap(&r[i++], &r[j--]);
    }
    quick(r, j + 1, compare);
    quick(r + i, n - i, compare);
}

static void merge(struct record *r, int n, order *compare)
{
    if (n < 2)
        return;
    int half = n / 2, i = 0, j = half;
    merge(r, half, compare);
    merge(r + half, n - half, compare);
    memcpy(spare, r, n * sizeof *r);
    for (int k = 0; k < n; k++)
        r[k] = j == n || (i < half && compare(&spare[i], &spare[j]) <= 0) ? spare[i++] : spare[j++];
}

static void sink(struct record *r, int i, int n, order *compare)
{
    for (int child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && compare(&r[child], &r[child + 1]) < 0)
            child++;
        if (compare(&r[i], &r[child]) >= 0)
            return;
        swap(&r[i], &r[child]);
    }
}

static void heap(struct record *r, int n, order *compare)
{
    for (int i = n / 2; i-- > 0;)
        sink(r, i, n, compare);
    while (--n > 0) {
        swap(&r[0], &r[n]);
        sink(r, 0, n, compare);
    }
}

// Other records each time, and their sum, which sorting must not change.
static FUNCTION uint32_t fill(uint32_t seed)
{
    uint32_t sum = 0;
    for (int i = 0; i < RECORDS; i++) {
        records[i] = (struct record){random32(&seed) % 1000, random32(&seed) % 10, i};
        sum += records[i].key * 31 + records[i].group * 7 + records[i].place;
    }
    return sum;
}

static FUNCTION int sorted(uint32_t sum, order *compare)
{
    for (int i = 0; i < RECORDS; i++) {
        if (i > 0 && compare(&records[i - 1], &records[i]) > 0)
            return 0;
        sum -= records[i].key * 31 + records[i].group * 7 + records[i].place;
    }
    return sum == 0;
}

int sort(void)
{
    static sorter *const sorters[] = {insertion, shell, quick, merge, heap};
    static order *const orders[] = {by_key, by_key_down, by_group};
    uint32_t groups = 0;
    for (size_t s = 0; s < COUNT(sorters); s++) {
        for (size_t o = 0; o < COUNT(orders); o++) {
            uint32_t sum = fill(1 + o);
            sorters[s](records, RECORDS, orders[o]);
            if (!sorted(sum, orders[o]))
                return 1 + s;
        }
        // No two records are equal in the last order, so all sorters must agree.
        uint32_t now = 0;
        for (int i = 0; i < RECORDS; i++)
            now = mix(now, records[i].place);
        if (s > 0 && now != groups)
            return 11 + s;
        groups = now;
    }
    return groups == 0x3d164818 ? 0 : 20;
}
