// SHA-256 (FIPS 180-4) and ChaCha20 (RFC 8439), checked against published answers and on 4 KB.

#include "rt.h"

enum { BYTES = 4096 };

static uint8_t data[BYTES];

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t right(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t left(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

// One block of 64 bytes.
static FUNCTION void compress(uint32_t h[8], const uint8_t *block)
{
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++, block += 4)
        w[i] = (uint32_t)block[0] << 24 | block[1] << 16 | block[2] << 8 | block[3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (right(a, 7) ^ right(a, 18) ^ a >> 3) +
               (right(b, 17) ^ right(b, 19) ^ b >> 10);
    }
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t a = v[0], e = v[4];
        uint32_t one = v[7] + (right(e, 6) ^ right(e, 11) ^ right(e, 25)) +
                       ((e & v[5]) ^ (~e & v[6])) + rounds[i] + w[i];
        uint32_t two = (right(a, 2) ^ right(a, 13) ^ right(a, 22)) +
                       ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        for (int j = 7; j > 0; j--)
            v[j] = v[j - 1];
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

static FUNCTION void sha256(uint32_t h[8], const void *message, size_t n)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint8_t *at = message;
    uint8_t last[128] = {0};
    size_t rest = n % 64, blocks = rest < 56 ? 64 : 128;
    memcpy(h, start, sizeof start);
    for (size_t i = 0; i < n / 64; i++, at += 64)
        compress(h, at);
    // The last block or two: what is left, one bit, zeros, and the length in bits.
    memcpy(last, at, rest);
    last[rest] = 0x80;
    for (int i = 0; i < 4; i++)
        last[blocks - 1 - i] = (uint8_t)((uint32_t)n * 8 >> 8 * i);
    for (size_t i = 0; i < blocks; i += 64)
        compress(h, last + i);
}

static void quarter(uint32_t *x, int a, int b, int c, int d)
{
    x[a] += x[b], x[d] = left(x[d] ^ x[a], 16);
    x[c] += x[d], x[b] = left(x[b] ^ x[c], 12);
    x[a] += x[b], x[d] = left(x[d] ^ x[a], 8);
    x[c] += x[d], x[b] = left(x[b] ^ x[c], 7);
}

// Encrypts or decrypts in place. The key is the bytes 0 to 31.
static FUNCTION void chacha20(uint8_t *bytes, size_t n, uint32_t counter, const uint32_t nonce[3])
{
    uint32_t input[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    for (int i = 0; i < 8; i++)
        input[4 + i] = 0x03020100 + 0x04040404 * i;
    memcpy(input + 13, nonce, 12);
    for (size_t at = 0; at < n; at += 64, counter++) {
        uint32_t x[16];
        input[12] = counter;
        memcpy(x, input, sizeof x);
        for (int i = 0; i < 10; i++) {
            for (int j = 0; j < 4; j++)
                quarter(x, j, 4 + j, 8 + j, 12 + j);
            for (int j = 0; j < 4; j++)
                quarter(x, j, 4 + (j + 1) % 4, 8 + (j + 2) % 4, 12 + (j + 3) % 4);
        }
        for (size_t i = 0; i < 64 && at + i < n; i++)
            bytes[at + i] ^= (uint8_t)(x[i / 4] + input[i / 4] >> 8 * (i % 4));
    }
}

int crypto(void)
{
    // FIPS 180-4, examples: "abc", and 56 letters, which take two blocks.
    static const uint32_t abc[8] = {0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                    0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
    static const uint32_t two[8] = {0x248d6a61, 0xd20638b8, 0xe5c02693, 0x0c3e6039,
                                    0xa33ce459, 0x64ff2167, 0xf6ecedd4, 0x19db06c1};
    // RFC 8439, 2.3.2: the first bytes of block 1.
    static const uint32_t nonce[3] = {0x09000000, 0x4a000000, 0};
    static const uint8_t stream[16] = {0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15,
                                       0x50, 0x0f, 0xdd, 0x1f, 0xa3, 0x20, 0x71, 0xc4};
    // The bytes 0 to 255, sixteen times; the same after ChaCha20 from block 0.
    static const uint32_t plain[8] = {0xc8f5d034, 0x1d54d951, 0xa71b136e, 0x6e2afcb1,
                                      0x4d11ed84, 0x89a7ae12, 0x6a8fee0d, 0xf6ecf193};
    static const uint32_t cipher[8] = {0x6c140a56, 0x1bc12055, 0x5871c894, 0xfaf9a374,
                                      0x9b43aed4, 0x43835418, 0xae25d5e6, 0x7edff606};
    uint32_t h[8];
    uint8_t block[64] = {0};

    sha256(h, "abc", 3);
    if (memcmp(h, abc, sizeof h))
        return 1;
    sha256(h, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
    if (memcmp(h, two, sizeof h))
        return 2;
    chacha20(block, sizeof block, 1, nonce);
    if (memcmp(block, stream, sizeof stream))
        return 3;

    for (int i = 0; i < BYTES; i++)
        data[i] = (uint8_t)i;
    sha256(h, data, BYTES);
    if (memcmp(h, plain, sizeof h))
        return 4;
    chacha20(data, BYTES, 0, nonce);
    sha256(h, data, BYTES);
    if (memcmp(h, cipher, sizeof h))
        return 5;
    chacha20(data, BYTES, 0, nonce);
    for (int i = 0; i < BYTES; i++)
        if (data[i] != (uint8_t)i)
            return 6;
    return 0;
}
