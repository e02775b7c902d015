// Floating point: matrices, a Fourier transform, bodies that attract each other, conversions and
// rounding modes. Results must agree to the last bit.

#include "rt.h"

enum { N = 12, POINTS = 64, BODIES = 4, STEPS = 60 };

static uint64_t bits(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static uint32_t bits32(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static uint32_t mix_double(uint32_t sum, double value)
{
    return mix(mix(sum, (uint32_t)bits(value)), (uint32_t)(bits(value) >> 32));
}

// A number between -1 and 1.
static double number(uint32_t *state)
{
    return (double)(int32_t)random32(state) / 2147483648.0;
}

// Products of matrices: double with fused multiply and add, float without.
static FUNCTION uint32_t matrices(void)
{
    static double a[N][N], b[N][N];
    static float c[N][N], d[N][N];
    uint32_t state = 5, sum = 0;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            a[i][j] = number(&state);
            b[i][j] = number(&state);
            c[i][j] = (float)a[i][j];
            d[i][j] = (float)b[i][j];
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double wide = 0;
            float narrow = 0;
            for (int k = 0; k < N; k++) {
                wide = __builtin_fma(a[i][k], b[k][j], wide);
                narrow += c[i][k] * d[k][j];
            }
            sum = mix(mix_double(sum, wide), bits32(narrow));
        }
    }
    return sum;
}

static double re[POINTS], im[POINTS], cosine[POINTS / 2], sine[POINTS / 2];

// cos and sin of all angles that the transform needs, from halving a right angle again and again.
static FUNCTION void roots(void)
{
    double c = 0, s = 1; // a quarter of a turn
    cosine[0] = 1;
    sine[0] = 0;
    for (int step = POINTS / 4; step >= 1; step /= 2) {
        cosine[step] = c;
        sine[step] = s;
        // An odd multiple of the step is the even one below it and one step more.
        for (int i = 2 * step; i + step < POINTS / 2; i += 2 * step) {
            cosine[i + step] = cosine[i] * c - sine[i] * s;
            sine[i + step] = sine[i] * c + cosine[i] * s;
        }
        s = s / __builtin_sqrt(2 * (1 + c));
        c = __builtin_sqrt((1 + c) / 2);
    }
}

// Fourier transform in place; direction 1 or -1.
static FUNCTION void transform(double direction)
{
    for (int i = 0, j = 0; i < POINTS; i++) {
        if (i < j) {
            double t = re[i];
            re[i] = re[j], re[j] = t;
            t = im[i], im[i] = im[j], im[j] = t;
        }
        int bit = POINTS / 2;
        for (; j & bit; bit /= 2)
            j -= bit;
        j += bit;
    }
    for (int size = 2; size <= POINTS; size *= 2) {
        for (int start = 0; start < POINTS; start += size) {
            for (int k = 0; k < size / 2; k++) {
                double c = cosine[k * (POINTS / size)], s = direction * sine[k * (POINTS / size)];
                int p = start + k, q = p + size / 2;
                double x = re[q] * c - im[q] * s, y = re[q] * s + im[q] * c;
                re[q] = re[p] - x, im[q] = im[p] - y;
                re[p] += x, im[p] += y;
            }
        }
    }
}

// There and back again; 0 if that does not give what it started from.
static FUNCTION uint32_t fourier(void)
{
    uint32_t state = 9, again = 9, sum = 0;
    roots();
    for (int i = 0; i < POINTS; i++) {
        re[i] = number(&state);
        im[i] = 0;
    }
    transform(-1);
    for (int i = 0; i < POINTS; i++)
        sum = mix_double(mix_double(sum, re[i]), im[i]);
    transform(1);
    for (int i = 0; i < POINTS; i++) {
        double error = re[i] / POINTS - number(&again);
        if (error > 1e-14 || error < -1e-14)
            return 0;
    }
    return sum;
}

// Bodies that attract each other, in a plane.
static FUNCTION uint32_t bodies(void)
{
    double x[BODIES], y[BODIES], vx[BODIES] = {0}, vy[BODIES] = {0};
    uint32_t state = 21, sum = 0;
    for (int i = 0; i < BODIES; i++) {
        x[i] = 10 * number(&state);
        y[i] = 10 * number(&state);
    }
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < BODIES; i++) {
            for (int j = 0; j < BODIES; j++) {
                if (i == j)
                    continue;
                double dx = x[j] - x[i], dy = y[j] - y[i], square = dx * dx + dy * dy + 0.25;
                double pull = 0.05 * (j + 1) / (square * __builtin_sqrt(square));
                vx[i] += dx * pull;
                vy[i] += dy * pull;
            }
        }
        for (int i = 0; i < BODIES; i++) {
            x[i] += vx[i] / 8;
            y[i] += vy[i] / 8;
        }
    }
    for (int i = 0; i < BODIES; i++)
        sum = mix_double(mix_double(sum, x[i]), y[i]);
    return sum;
}

// Conversions with the rounding mode in the instruction: nearest even, towards zero, down, up,
// nearest away from zero.
#define ROUND(value, mode)                                                          \
    ({                                                                              \
        int32_t result_;                                                            \
        __asm__ volatile("fcvt.w.d %0, %1, " #mode : "=r"(result_) : "f"(value));   \
        result_;                                                                    \
    })

static FUNCTION int conversions(void)
{
    static const struct {
        double value;
        int32_t rne, rtz, rdn, rup, rmm;
    } cases[] = {
        {2.5, 2, 2, 2, 3, 3},
        {-2.5, -2, -2, -3, -2, -3},
        {3.5, 4, 3, 3, 4, 4},
        {0.49999999999999994, 0, 0, 0, 1, 0},
        {-0.75, -1, 0, -1, 0, -1},
        {1e300, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX},
        {-1e300, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN},
        {__builtin_nan(""), INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        double value = cases[i].value;
        if (ROUND(value, rne) != cases[i].rne || ROUND(value, rtz) != cases[i].rtz ||
            ROUND(value, rdn) != cases[i].rdn || ROUND(value, rup) != cases[i].rup ||
            ROUND(value, rmm) != cases[i].rmm)
            return 0;
    }
    return 1;
}

static FUNCTION double divide(double a, double b)
{
    return a / b;
}

static FUNCTION float narrow(double value)
{
    return (float)value;
}

// A third in all rounding modes of frm, as double and as float, and the flags that this sets.
static FUNCTION int modes(void)
{
    static const uint64_t thirds[5] = {0x3fd5555555555555, 0x3fd5555555555555, 0x3fd5555555555555,
                                       0x3fd5555555555556, 0x3fd5555555555555};
    static const uint32_t narrowed[5] = {0x3eaaaaab, 0x3eaaaaaa, 0x3eaaaaaa, 0x3eaaaaab, 0x3eaaaaab};
    enum { INEXACT = 1, OVERFLOW = 4, DIVISION = 8, INVALID = 16 };
    int good = 1;
    for (int mode = 0; mode < 5; mode++) {
        WRITE_CSR(fflags, 0);
        WRITE_CSR(frm, mode);
        double third = divide(1, 3);
        good &= bits(third) == thirds[mode] && bits32(narrow(third)) == narrowed[mode];
        good &= READ_CSR(fflags) == INEXACT;
    }
    WRITE_CSR(fcsr, 0);
    good &= bits(divide(1, 0)) == 0x7ff0000000000000 && READ_CSR(fflags) == DIVISION;
    WRITE_CSR(fflags, 0);
    good &= bits(divide(0, 0)) == 0x7ff8000000000000 && READ_CSR(fflags) == INVALID;
    WRITE_CSR(fflags, 0);
    good &= bits32(narrow(1e300)) == 0x7f800000 && READ_CSR(fflags) == (OVERFLOW | INEXACT);
    WRITE_CSR(fflags, 0);
    return good;
}

int floating(void)
{
    if (matrices() != 0xb772718c)
        return 1;
    if (fourier() != 0xbf2bc639)
        return 2;
    if (bodies() != 0x6fc05374)
        return 3;
    if (!conversions())
        return 4;
    if (!modes())
        return 5;
    return 0;
}
