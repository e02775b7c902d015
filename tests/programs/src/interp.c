// A bytecode interpreter, twice: with a switch, which becomes a jump table, and with a table of
// functions. Both run the same program.

#include "rt.h"

enum op { HALT, PUSH, LOAD, STORE, ADD, SUB, MUL, MOD, XOR, SHIFT, LESS, JUMP, ZERO, CALL, RETURN, OPS };

struct instruction {
    uint8_t op, arg;
};

struct machine {
    const struct instruction *next; // NULL once halted
    uint32_t *top; // the first free place of the stack
    const struct instruction **frame; // the first free return address
    uint32_t stack[16];
    uint32_t variables[8];
    const struct instruction *frames[4];
};

// Goes through all pairs (i, j) of numbers from 1 to 19 and mixes their greatest common divisors into
// a sum. An argument is a number, a variable or the place of an instruction.
enum { I, J, S, A, B, LIMIT = 20 };
static const struct instruction program[] = {
    [0] = {PUSH, 1}, {STORE, I}, {PUSH, 7}, {STORE, S},
    // while i < LIMIT
    [4] = {LOAD, I}, {PUSH, LIMIT}, {LESS, 0}, {ZERO, 30}, {PUSH, 1}, {STORE, J},
    // while j < LIMIT
    [10] = {LOAD, J}, {PUSH, LIMIT}, {LESS, 0}, {ZERO, 25},
    // s = (s * 33 ^ s >> 3) + gcd(i, j)
    [14] = {LOAD, S}, {PUSH, 33}, {MUL, 0}, {LOAD, S}, {SHIFT, 3}, {XOR, 0}, {CALL, 32}, {ADD, 0}, {STORE, S},
    // j = j + 1
    [23] = {CALL, 44}, {JUMP, 10},
    // i = i + 1
    [25] = {LOAD, I}, {PUSH, 1}, {ADD, 0}, {STORE, I}, {JUMP, 4},
    [30] = {LOAD, S}, {HALT, 0},
    // gcd: a = i, b = j; while b: a, b = b, a % b
    [32] = {LOAD, I}, {STORE, A}, {LOAD, J}, {STORE, B},
    [36] = {LOAD, B}, {ZERO, 49}, {LOAD, B}, {LOAD, A}, {LOAD, B}, {MOD, 0}, {STORE, B}, {JUMP, 51},
    // count: j = j - (0 - 1)
    [44] = {LOAD, J}, {PUSH, 0}, {PUSH, 1}, {SUB, 0}, {JUMP, 53},
    [49] = {LOAD, A}, {RETURN, 0},
    [51] = {STORE, A}, {JUMP, 36},
    [53] = {SUB, 0}, {STORE, J}, {RETURN, 0},
};

static void reset(struct machine *m)
{
    m->next = program;
    m->top = m->stack;
    m->frame = m->frames;
}

// The variant with a switch.
static FUNCTION uint32_t run_switch(struct machine *m)
{
    const struct instruction *next = m->next;
    uint32_t *top = m->top;
    for (;;) {
        uint8_t op = next->op, arg = next->arg;
        next++;
        switch (op) {
        case HALT:
            return *--top;
        case PUSH:
            *top++ = arg;
            break;
        case LOAD:
            *top++ = m->variables[arg];
            break;
        case STORE:
            m->variables[arg] = *--top;
            break;
        case ADD:
            top--, top[-1] += top[0];
            break;
        case SUB:
            top--, top[-1] -= top[0];
            break;
        case MUL:
            top--, top[-1] *= top[0];
            break;
        case MOD:
            top--, top[-1] %= top[0];
            break;
        case XOR:
            top--, top[-1] ^= top[0];
            break;
        case SHIFT:
            top[-1] >>= arg;
            break;
        case LESS:
            top--, top[-1] = top[-1] < top[0];
            break;
        case JUMP:
            next = program + arg;
            break;
        case ZERO:
            if (*--top == 0)
                next = program + arg;
            break;
        case CALL:
            *m->frame++ = next;
            next = program + arg;
            break;
        case RETURN:
            next = *--m->frame;
            break;
        }
    }
}

// The variant with functions.
typedef void handler(struct machine *m, uint8_t arg);

#define HANDLER(name, action)                              \
    static void name(struct machine *m, uint8_t arg)       \
    {                                                      \
        (void)arg;                                         \
        action;                                            \
    }
#define BINARY(name, expression)                           \
    HANDLER(name, uint32_t b = *--m->top; uint32_t a = m->top[-1]; m->top[-1] = (expression))

HANDLER(do_halt, m->next = NULL)
HANDLER(do_push, *m->top++ = arg)
HANDLER(do_load, *m->top++ = m->variables[arg])
HANDLER(do_store, m->variables[arg] = *--m->top)
BINARY(do_add, a + b)
BINARY(do_sub, a - b)
BINARY(do_mul, a * b)
BINARY(do_mod, a % b)
BINARY(do_xor, a ^ b)
HANDLER(do_shift, m->top[-1] >>= arg)
BINARY(do_less, a < b)
HANDLER(do_jump, m->next = program + arg)
HANDLER(do_zero, if (*--m->top == 0) m->next = program + arg)
HANDLER(do_call, *m->frame++ = m->next; m->next = program + arg)
HANDLER(do_return, m->next = *--m->frame)

static handler *const handlers[OPS] = {
    [HALT] = do_halt, [PUSH] = do_push, [LOAD] = do_load, [STORE] = do_store,   [ADD] = do_add,
    [SUB] = do_sub,   [MUL] = do_mul,   [MOD] = do_mod,   [XOR] = do_xor,       [SHIFT] = do_shift,
    [LESS] = do_less, [JUMP] = do_jump, [ZERO] = do_zero, [RETURN] = do_return, [CALL] = do_call,
};

static FUNCTION uint32_t run_table(struct machine *m)
{
    while (m->next) {
        struct instruction now = *m->next++;
        handlers[now.op](m, now.arg);
    }
    return m->top[-1];
}

int interp(void)
{
    static struct machine machine;
    reset(&machine);
    if (run_switch(&machine) != 0x152fe1bc)
        return 1;
    reset(&machine);
    if (run_table(&machine) != 0x152fe1bc)
        return 2;
    return 0;
}
