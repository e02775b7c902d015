// Memory and strings: copying, searching, hashing, numbers to text and back.

#include "rt.h"

enum { TEXT = 4000 };

static char text[TEXT + 1], copy[TEXT + 64];

static FUNCTION size_t length(const char *s)
{
    const char *end = s;
    while (*end)
        end++;
    return end - s;
}

static FUNCTION int compare(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

// The first place of needle in s, or NULL; letter by letter.
static FUNCTION const char *find(const char *s, const char *needle)
{
    for (; *s; s++) {
        const char *p = s, *q = needle;
        while (*q && *p == *q)
            p++, q++;
        if (!*q)
            return s;
    }
    return NULL;
}

// The same, but looks at the last letter first and skips as far as that allows.
static FUNCTION const char *find_skipping(const char *s, size_t n, const char *needle)
{
    uint8_t skip[256];
    size_t m = length(needle);
    memset(skip, (int)m, sizeof skip);
    for (size_t i = 0; i + 1 < m; i++)
        skip[(uint8_t)needle[i]] = (uint8_t)(m - 1 - i);
    for (size_t at = 0; at + m <= n; at += skip[(uint8_t)s[at + m - 1]])
        if (memcmp(s + at, needle, m) == 0)
            return s + at;
    return NULL;
}

static FUNCTION uint32_t fnv(const char *s, size_t n)
{
    uint32_t hash = 2166136261u;
    while (n--)
        hash = (hash ^ (uint8_t)*s++) * 16777619u;
    return hash;
}

static FUNCTION char *format(char *to, uint32_t value, unsigned base)
{
    char digits[32];
    int n = 0;
    do
        digits[n++] = "0123456789abcdef"[value % base];
    while (value /= base);
    while (n)
        *to++ = digits[--n];
    *to = 0;
    return to;
}

static FUNCTION uint32_t parse(const char *s, unsigned base)
{
    uint32_t value = 0;
    for (; *s; s++)
        value = value * base + (*s <= '9' ? *s - '0' : *s - 'a' + 10);
    return value;
}

// Words of one to eight letters from a small alphabet, so that parts occur again.
static FUNCTION void write_text(void)
{
    uint32_t state = 7;
    size_t i = 0;
    while (i < TEXT) {
        for (unsigned n = 1 + random32(&state) % 8; n && i < TEXT; n--)
            text[i++] = "etaoinsh"[random32(&state) % 8];
        if (i < TEXT)
            text[i++] = ' ';
    }
    text[TEXT] = 0;
}

// Copies between all alignments, and over itself in both directions.
static FUNCTION uint32_t copies(void)
{
    uint32_t sum = 0;
    for (size_t from = 0; from < 8; from++) {
        for (size_t to = 0; to < 8; to++) {
            memset(copy, '-', 128);
            memcpy(copy + to, text + from, 100);
            sum = mix(sum, fnv(copy, 128));
        }
        memmove(copy + 8, copy + from, 90);
        sum = mix(sum, fnv(copy, 128));
    }
    return sum;
}

// Looks for parts of the text and for parts that are not there.
static FUNCTION uint32_t searches(void)
{
    uint32_t state = 3, sum = 0;
    char needle[12];
    for (int i = 0; i < 30; i++) {
        size_t n = 3 + random32(&state) % 6;
        memcpy(needle, text + random32(&state) % (TEXT - 12), n);
        needle[n] = 0;
        if (i % 5 == 0)
            needle[n - 1] = '?';
        const char *at = find(text, needle);
        if (at != find_skipping(text, TEXT, needle))
            return 0;
        sum = mix(sum, at ? (uint32_t)(at - text) : 0xffff);
    }
    return sum;
}

// Numbers as text and back.
static FUNCTION uint32_t numbers(void)
{
    static const unsigned bases[] = {2, 8, 10, 16};
    uint32_t state = 11, sum = 0;
    char line[40], again[40];
    for (int i = 0; i < 200; i++) {
        uint32_t value = random32(&state) >> i % 32;
        unsigned base = bases[i % COUNT(bases)];
        char *end = format(line, value, base);
        if (length(line) != (size_t)(end - line) || parse(line, base) != value)
            return 0;
        format(again, value + 1, base);
        sum = mix(sum, fnv(line, end - line) + (compare(line, again) < 0));
    }
    return sum;
}

int strings(void)
{
    write_text();
    if (length(text) != TEXT || fnv(text, TEXT) != 0xe8cd1a6f)
        return 1;
    if (copies() != 0xd18002b4)
        return 2;
    if (searches() != 0xbbda603b)
        return 3;
    if (numbers() != 0xfde9e6e7)
        return 4;
    return 0;
}
