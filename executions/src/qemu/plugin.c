/*
 * Reports what QEMU executes to hartrace; see docs/design/qemu.md.
 *
 * The few functions of the plugin interface (version 1) that are used are declared here, since
 * Debian does not package the header.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
extern void qemu_plugin_register_vcpu_init_cb(uint64_t id, void (*call)(uint64_t, unsigned));
extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
                                                  void (*call)(uint64_t, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
                                                 void (*call)(unsigned, void *), int no_registers,
                                                 void *data);
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *insn, int add,
                                                       void *counter, uint64_t amount);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
                                                        size_t index);
extern const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

#define PUBLIC __attribute__((visibility("default")))
PUBLIC int qemu_plugin_version = 1;

/* Words that are not the number of an executed block. */
enum {
    BLOCK = -1,   /* address low, high, instructions, their words, their counters as bits */
    LOG = -2,     /* length in bytes, text */
    LEFT = -3,    /* the last block was left early: how many of its counters were passed */
};

#define WORDS 16384 /* a power of two */
#define LOG_SPACE (64ull << 30)
#define LOG_RELEASE (1ull << 20)
#define LOG_LONGEST (64ull << 20)

/* Why this process ended itself. */
enum {
    ANOTHER = 1, /* a second hart or thread */
    ENDLESS = 2, /* QEMU writes its log, but executes nothing */
};

/*
 * Lives in a file that hartrace can read, so that nothing is lost when this process is killed.
 * hartrace has received some of the words; the rest is still in the buffer.
 */
static struct shared {
    uint64_t total;   /* words written so far; the newest WORDS of them are in the buffer */
    uint64_t passed;  /* counters passed so far, in all blocks */
    uint64_t started; /* the same when the last block started */
    uint64_t wanted;  /* the same when it will be complete */
    uint64_t verdict; /* ANOTHER, ENDLESS or 0 */
    uint32_t words[WORDS];
} *shared;

static int channel = -1;
static uint32_t blocks;
static char log_path[4096];
static int log_file = -1;
static const char *log_text = ""; /* where QEMU's log continues: zero until it does */
static const char *log_start, *log_released;
static bool has_hart;

static void flush(void)
{
    const char *from = (const char *)shared->words;
    size_t rest = sizeof shared->words;
    while (channel >= 0 && rest > 0) {
        ssize_t sent = send(channel, from, rest, MSG_NOSIGNAL);
        /* Nobody listens any more, and nobody would end this process. */
        if (sent <= 0)
            _exit(1);
        from += sent;
        rest -= (size_t)sent;
    }
}

static inline void put(uint32_t word)
{
    uint64_t total = shared->total;
    shared->words[total % WORDS] = word;
    /* In this order: hartrace may have to read it without us. */
    __atomic_store_n(&shared->total, ++total, __ATOMIC_RELEASE);
    if (__builtin_expect(total % WORDS == 0, 0))
        flush();
}

/* The log says which traps were taken, at which privilege blocks were translated, and in A32 or T32. */
static void __attribute__((noinline)) take_log(void)
{
    size_t length = strlen(log_text);
    put((uint32_t)LOG);
    put((uint32_t)length);
    for (size_t at = 0; at < length; at += 4) {
        uint32_t word = 0;
        memcpy(&word, log_text + at, length - at < 4 ? length - at : 4);
        put(word);
    }
    log_text += length;
    size_t used = (size_t)(log_text - log_released);
    if (used >= 2 * LOG_RELEASE) {
        /* Whole pages only; what was read needs no space any more. */
        used -= used % LOG_RELEASE;
        fallocate(log_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(log_released - log_start), (off_t)used);
        log_released += used;
    }
}

static void __attribute__((noinline)) left_early(void)
{
    put((uint32_t)LEFT);
    put((uint32_t)(shared->passed - shared->started));
}

static void executed(unsigned hart, void *data)
{
    uintptr_t block = (uintptr_t)data;
    uint64_t passed = shared->passed;
    (void)hart;
    if (__builtin_expect(passed != shared->wanted, 0))
        left_early();
    if (__builtin_expect(*log_text != 0, 0))
        take_log();
    shared->started = passed;
    shared->wanted = passed + (block >> 32);
    put((uint32_t)block);
}

/* The instruction set of the program. */
static enum { RISCV, AARCH64, AARCH32 } core = RISCV;

/* Can this instruction be the last one executed, though it is not the last of its block? */
static bool may_trap(uint32_t word)
{
    if (core == AARCH64) /* all but arithmetic */
        return (word & 0x1c000000) != 0x10000000 && (word & 0x0e000000) != 0x0a000000;
    if (core == AARCH32)
        return true; /* A32 or T32: not told here */
    switch (word & 3) {
    case 0:
        return (word & 0xe000) != 0; /* all but c.addi4spn access memory */
    case 1:
        return false;
    case 2:
        /* c.slli, c.mv, c.add and jumps do not */
        return (word & 0xe000) != 0x0000 && (word & 0xe000) != 0x8000;
    }
    switch (word & 0x7f) {
    case 0x13: /* arithmetic */
    case 0x1b:
    case 0x33:
    case 0x3b:
    case 0x17: /* auipc, lui */
    case 0x37:
    case 0x63: /* branches and jumps */
    case 0x67:
    case 0x6f:
        return false;
    case 0x0f:
        return (word & 0x7000) != 0; /* all but fence */
    default:
        return true;
    }
}

static uint32_t word_of(const struct qemu_plugin_insn *insn)
{
    uint32_t word = 0;
    size_t size = qemu_plugin_insn_size(insn);
    memcpy(&word, qemu_plugin_insn_data(insn), size < 4 ? size : 4);
    return word;
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);
    uint64_t address = qemu_plugin_tb_vaddr(tb);
    uint64_t counters = 0;
    uint32_t bits = 0;
    size_t behind = 0; /* the instruction behind the last one that may trap */
    (void)id;
    put((uint32_t)BLOCK);
    put((uint32_t)address);
    put((uint32_t)(address >> 32));
    put((uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        uint32_t word = word_of(qemu_plugin_tb_get_insn(tb, i));
        put(word);
        if (may_trap(word))
            behind = i + 1;
    }
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        /* Counted before it runs; the one behind the last shows that the last did run. */
        if (may_trap(word_of(insn)) || (behind > 0 && i == behind)) {
            qemu_plugin_register_vcpu_insn_exec_inline(insn, 0, &shared->passed, 1);
            counters++;
            bits |= 1u << i % 32;
        }
        if (i % 32 == 31 || i + 1 == count) {
            put(bits);
            bits = 0;
        }
    }
    uintptr_t data = (uintptr_t)(counters << 32 | blocks);
    blocks++;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, 0, (void *)data);
}

static void give_up(uint64_t verdict)
{
    shared->verdict = verdict;
    _exit(1);
}

/*
 * Two things fill the log without end, and the disk with it: a trap handler that cannot be fetched,
 * and an encoding of more than 64 bits, which QEMU's disassembler finds to have no length at all.
 */
static void *watch_log(void *unused)
{
    uint64_t at;
    (void)unused;
    do {
        usleep(100000);
        at = (uint64_t)(__atomic_load_n(&log_text, __ATOMIC_RELAXED) - log_start) + LOG_LONGEST;
    } while (at < LOG_SPACE && log_start[at] == 0);
    give_up(ENDLESS);
    return NULL;
}

static void started(uint64_t id, unsigned hart)
{
    (void)id;
    (void)hart;
    if (has_hart) {
        /* Its blocks, and its counts, would be mixed with those of the first. */
        give_up(ANOTHER);
    }
    has_hart = true;
    if (log_path[0] == 0)
        return;
    /* By now QEMU has opened, and emptied, its log. It goes on writing at its own place. */
    log_file = open(log_path, O_RDWR | O_CLOEXEC);
    if (log_file < 0 || ftruncate(log_file, (off_t)LOG_SPACE) != 0)
        return;
    void *map = mmap(NULL, LOG_SPACE, PROT_READ, MAP_SHARED | MAP_NORESERVE, log_file, 0);
    if (map == MAP_FAILED)
        return;
    log_text = log_start = log_released = map;
    /* QEMU's signals are for QEMU's threads. */
    sigset_t all, before;
    pthread_t watcher;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_create(&watcher, NULL, watch_log, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A child made by fork is another program: it must not write into the trace of its parent. */
static void forked(void)
{
    close(channel);
    channel = -1;
    mmap(shared, sizeof *shared, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
         -1, 0);
}

static bool value_of(const char *argument, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);
    if (strncmp(argument, name, length) != 0 || strlen(argument + length) >= size)
        return false;
    strcpy(value, argument + length);
    return true;
}

PUBLIC int qemu_plugin_install(uint64_t id, const void *info, int count, char **arguments)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    char tail[4096] = "", name[16] = "";
    (void)info;
    for (int i = 0; i < count; i++) {
        value_of(arguments[i], "socket=", to.sun_path, sizeof to.sun_path);
        value_of(arguments[i], "tail=", tail, sizeof tail);
        value_of(arguments[i], "log=", log_path, sizeof log_path);
        value_of(arguments[i], "core=", name, sizeof name);
    }
    core = strcmp(name, "aarch64") == 0 ? AARCH64 : strcmp(name, "aarch32") == 0 ? AARCH32 : RISCV;
    int file = open(tail, O_RDWR | O_CLOEXEC);
    if (file < 0 || ftruncate(file, sizeof *shared) != 0)
        return 1;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    channel = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (shared == MAP_FAILED || channel < 0 ||
        connect(channel, (struct sockaddr *)&to, sizeof to) != 0)
        return 1;
    /* Also if hartrace is killed while QEMU does not come to send anything. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_atfork(NULL, NULL, forked);
    qemu_plugin_register_vcpu_init_cb(id, started);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
