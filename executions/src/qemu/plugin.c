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
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
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
extern const void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
extern void qemu_plugin_register_vcpu_syscall_cb(uint64_t id,
                                                 void (*call)(uint64_t, unsigned, int64_t, uint64_t,
                                                              uint64_t, uint64_t, uint64_t,
                                                              uint64_t, uint64_t, uint64_t,
                                                              uint64_t));

#define PUBLIC __attribute__((visibility("default")))
PUBLIC int qemu_plugin_version = 1;

/* Words that are not the number of an executed block. */
enum {
    BLOCK = -1,   /* address low, high, instructions, their words, their counters as bits */
    LOG = -2,     /* length in bytes, text */
    LEFT = -3,    /* the last block was left early: how many of its counters were passed */
    THREAD = -4,  /* the thread with this number continues */
    YIELD = -5,   /* the thread continues with this block, after others */
    MAPPED = -6,  /* address, size and offset in a file, each low and high; length of its path, 0 without, path */
};

#define WORDS 16384 /* a power of two */
#define LOG_SPACE (64ull << 30)
#define LOG_RELEASE (1ull << 20)
#define LOG_LONGEST (64ull << 20)

/* Why this process ended itself. */
enum {
    ANOTHER = 1, /* a second hart, or a second thread on Arm */
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

/* The instruction set of the program. */
static enum { RISCV, AARCH64, AARCH32 } core = RISCV;

/* Whether this is a RISC-V program for Linux, which may have threads and libraries. */
static bool is_process;

static volatile bool sending; /* hartrace may take its time */

static void flush(void)
{
    const char *from = (const char *)shared->words;
    size_t rest = sizeof shared->words;
    sending = true;
    while (channel >= 0 && rest > 0) {
        ssize_t sent = send(channel, from, rest, MSG_NOSIGNAL);
        /* Nobody listens any more, and nobody would end this process. */
        if (sent <= 0)
            _exit(1);
        from += sent;
        rest -= (size_t)sent;
    }
    sending = false;
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

/* Its length, and the text in whole words. */
static void put_text(const char *text, size_t length)
{
    put((uint32_t)length);
    for (size_t at = 0; at < length; at += 4) {
        uint32_t word = 0;
        memcpy(&word, text + at, length - at < 4 ? length - at : 4);
        put(word);
    }
}

/* The log says which traps were taken, at which privilege blocks were translated, and in A32 or T32. */
static void __attribute__((noinline)) take_log(void)
{
    size_t length = strlen(log_text);
    put((uint32_t)LOG);
    put_text(log_text, length);
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

/*
 * Threads take turns: only the one that has the turn executes. It gives it up at a system call, and after
 * some blocks if others wait. So blocks are reported in the order in which they are executed, and counters
 * are those of one thread at a time.
 */
#define TURN 4096
#define NOBODY (-1)
#define PATIENCE_NS 100000000 /* after so long, a thread that waits looks whether the other one is stopped */

static bool several;               /* there are, or were, several threads */
static bool ending;                /* the process ends; what others still do does not count */
static pthread_mutex_t stream = PTHREAD_MUTEX_INITIALIZER; /* of what is sent */
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed_on = PTHREAD_COND_INITIALIZER;
static int owner = NOBODY;         /* whose turn it is */
static unsigned left_of_turn;
static uint64_t next_ticket, serving; /* those who wait come in order */
static uint32_t numbers[1 << 16];  /* of threads, by the number of QEMU, which is used again */
static uint32_t thread_count, last_thread;
static uint64_t activity;
static int owner_task;             /* what Linux calls the thread whose turn it is */

/*
 * Whether QEMU has stopped the thread whose turn it is, and waits until the others stop too: for a fork, for
 * instance. A thread that only waits for a processor is not asleep.
 */
static bool owner_is_stopped(void)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", owner_task);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return true; /* it has ended */
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    const char *state = strrchr(text, ')');
    return !sending && state != NULL && strncmp(state, ") S", 3) == 0;
}

/* Reports how the last block of the thread ended, which gives up its turn. */
static void settle(void)
{
    if (shared->passed != shared->wanted)
        left_early();
    shared->wanted = shared->passed;
}

static void pass_on(void)
{
    owner = NOBODY;
    pthread_cond_broadcast(&passed_on);
}

/* Waits until it is this thread's turn; `block` is what it executes next. */
static void __attribute__((noinline)) wait_for_turn(int hart, uint32_t block)
{
    pthread_mutex_lock(&turns);
    if (owner == hart) {
        pthread_mutex_lock(&stream);
        settle();
        put((uint32_t)YIELD);
        put(block);
        pthread_mutex_unlock(&stream);
        pass_on();
    }
    uint64_t ticket = next_ticket++, before = activity;
    while (!ending && (owner != NOBODY || serving != ticket)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PATIENCE_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        int late = pthread_cond_timedwait(&passed_on, &turns, &until);
        if (late != 0 && serving == ticket && before == activity && owner_is_stopped())
            break;
        before = activity;
    }
    serving++;
    owner = hart;
    owner_task = (int)syscall(SYS_gettid);
    __atomic_store_n(&left_of_turn, TURN, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&passed_on);
    shared->wanted = shared->passed;
    uint32_t number = numbers[(unsigned)hart % (1 << 16)];
    if (number != last_thread && !ending) {
        last_thread = number;
        pthread_mutex_lock(&stream);
        put((uint32_t)THREAD);
        put(number);
        pthread_mutex_unlock(&stream);
    }
    pthread_mutex_unlock(&turns);
}

static inline bool has_turn(int hart)
{
    if (__atomic_load_n(&owner, __ATOMIC_RELAXED) != hart)
        return false;
    if (left_of_turn > 0) {
        left_of_turn--;
        return true;
    }
    return next_ticket == serving;
}

#define EXIT_GROUP 94
#define MUNMAP 215
#define MMAP 222
static unsigned mapping_count;

static void called(uint64_t id, unsigned hart, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3,
                   uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
    (void)id, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    if (number == MUNMAP || number == MMAP)
        __atomic_store_n(&mapping_count, 0, __ATOMIC_RELAXED);
    if (!several)
        return;
    pthread_mutex_lock(&turns);
    if (number == EXIT_GROUP)
        ending = true;
    if (owner == (int)hart) {
        pthread_mutex_lock(&stream);
        settle();
        pthread_mutex_unlock(&stream);
        pass_on();
    }
    pthread_mutex_unlock(&turns);
}

static void executed_in_turn(unsigned hart, void *data)
{
    if (!has_turn((int)hart))
        wait_for_turn((int)hart, (uint32_t)(uintptr_t)data);
    if (ending)
        return;
    activity++;
    uintptr_t block = (uintptr_t)data;
    uint64_t passed = shared->passed;
    pthread_mutex_lock(&stream);
    if (passed != shared->wanted)
        left_early();
    shared->started = passed;
    shared->wanted = passed + (block >> 32);
    put((uint32_t)block);
    pthread_mutex_unlock(&stream);
}

static void executed(unsigned hart, void *data)
{
    uintptr_t block = (uintptr_t)data;
    uint64_t passed = shared->passed;
    if (__builtin_expect(several, 0)) {
        executed_in_turn(hart, data);
        return;
    }
    if (__builtin_expect(passed != shared->wanted, 0))
        left_early();
    if (__builtin_expect(*log_text != 0, 0))
        take_log();
    shared->started = passed;
    shared->wanted = passed + (block >> 32);
    put((uint32_t)block);
}

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

/* Mappings whose files are known already, by address of the program. */
#define MAPPINGS 256
static struct mapping {
    uint64_t start, end;
} mappings[MAPPINGS];

/* Reports the file that a block is mapped from. */
static void tell_mapping(uint64_t address, uint64_t host)
{
    unsigned count = __atomic_load_n(&mapping_count, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < count; i++)
        if (mappings[i].start <= address && address < mappings[i].end)
            return;
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096 + 128], path[4096];
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long start, end, offset;
        path[0] = 0;
        if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095[^\n]", &start, &end, &offset, path) < 3 ||
            host < start || host >= end)
            continue;
        uint64_t at = address - (host - start);
        if (count < MAPPINGS) {
            mappings[count] = (struct mapping){at, at + (end - start)};
            __atomic_store_n(&mapping_count, count + 1, __ATOMIC_RELAXED);
        }
        /* Without a path, hartrace has only the code itself: what QEMU puts there for a kernel. */
        if (path[0] != '/')
            path[0] = 0;
        uint64_t numbers[] = {at, end - start, offset};
        put((uint32_t)MAPPED);
        for (unsigned i = 0; i < 3; i++) {
            put((uint32_t)numbers[i]);
            put((uint32_t)(numbers[i] >> 32));
        }
        put_text(path, strlen(path));
        break;
    }
    if (maps != NULL)
        fclose(maps);
}

static void describe(struct qemu_plugin_tb *tb);

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    pthread_mutex_lock(&stream);
    describe(tb);
    pthread_mutex_unlock(&stream);
}

static void describe(struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);
    uint64_t address = qemu_plugin_tb_vaddr(tb);
    if (is_process)
        tell_mapping(address, (uint64_t)qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0)));
    uint64_t counters = 0;
    uint32_t bits = 0;
    size_t behind = 0; /* the instruction behind the last one that may trap */
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
    if (has_hart && !is_process) {
        /* Its blocks, and its counts, would be mixed with those of the first. */
        give_up(ANOTHER);
    }
    /* A thread starts in a system call of another one. */
    numbers[hart % (1 << 16)] = thread_count++;
    several = has_hart;
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
    several = false;
    pthread_mutex_init(&stream, NULL);
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
        is_process |= strcmp(arguments[i], "process=on") == 0;
    }
    core = strcmp(name, "aarch64") == 0 ? AARCH64 : strcmp(name, "aarch32") == 0 ? AARCH32 : RISCV;
    int file = open(tail, O_RDWR | O_CLOEXEC);
    if (file < 0 || ftruncate(file, sizeof *shared) != 0)
        return 1;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    channel = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* The program gets the descriptors that it would get without us. */
    int high = fcntl(channel, F_DUPFD_CLOEXEC, 1000);
    if (high >= 0) {
        close(channel);
        channel = high;
    }
    if (shared == MAP_FAILED || channel < 0 ||
        connect(channel, (struct sockaddr *)&to, sizeof to) != 0)
        return 1;
    /* Also if hartrace is killed while QEMU does not come to send anything. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_atfork(NULL, NULL, forked);
    qemu_plugin_register_vcpu_init_cb(id, started);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    if (is_process)
        qemu_plugin_register_vcpu_syscall_cb(id, called);
    return 0;
}
