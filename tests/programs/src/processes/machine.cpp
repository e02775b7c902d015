/*
 * System calls that C libraries and run times make: what they ask of the machine, and memory that moves. Prints the number
 * of the first check that fails, if one does, and whether there is a list of libraries.
 */
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <thread>
#include <time.h>
#include <unistd.h>

static int failed, number;

static void check(bool right)
{
    number++;
    if (!right && failed == 0)
        failed = number;
}

int main()
{
    struct sysinfo info;
    check(sysinfo(&info) == 0 && info.totalram > 0 && info.mem_unit > 0 && info.procs > 0);
    check(sysconf(_SC_PHYS_PAGES) > 1000);
    struct rlimit limit;
    check(getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= 1 << 20);
    check(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= 16);
    check(setrlimit(RLIMIT_CORE, &limit) == 0);
    struct rusage usage;
    check(getrusage(RUSAGE_SELF, &usage) == 0);
    struct tms ticks;
    check(times(&ticks) != (clock_t)-1);
    struct timespec time;
    check(clock_getres(CLOCK_MONOTONIC, &time) == 0 && time.tv_nsec > 0);
    check(clock_gettime(CLOCK_REALTIME, &time) == 0);
    cpu_set_t set;
    check(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0);
    check(sched_setaffinity(0, sizeof set, &set) == 0);
    check(sched_getcpu() >= 0 && std::thread::hardware_concurrency() > 0);
    check(sched_yield() == 0);
    errno = 0;
    check(getpriority(PRIO_PROCESS, 0) == 0 && errno == 0);
    check(prctl(PR_SET_NAME, "name") == 0);
    check(getpgid(0) > 0 && getpid() > 0);
    struct utsname name;
    check(uname(&name) == 0);
    unsigned char random[64] = {0};
    check(getrandom(random, sizeof random, 0) == sizeof random);
    char *memory = (char *)mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(memory != MAP_FAILED);
    memset(memory, 7, 1 << 16);
    check(madvise(memory, 4096, MADV_DONTNEED) == 0 && memory[100] == 0 && memory[4096] == 7);
    char *moved = (char *)mremap(memory, 1 << 16, 1 << 20, MREMAP_MAYMOVE);
    check(moved != MAP_FAILED && moved[4096] == 7 && moved[1 << 16] == 0);
    check(mremap(moved, 1 << 20, 4096, 0) == moved && moved[0] == 0);
    check(mlock(moved, 4096) == 0 && munlock(moved, 4096) == 0);
    /* Blocks of this size are mapped, and move when they grow. */
    char *block = (char *)malloc(1 << 20);
    memset(block, 3, 1 << 20);
    block = (char *)realloc(block, 1 << 22);
    check(block != NULL && std::count(block, block + (1 << 20), 3) == 1 << 20);
    free(block);
    long queried = syscall(283, 0, 0, 0);
    check(queried > 0);
    check(usleep(10) == 0);
    printf("%d, %d\n", failed, open("/etc/ld.so.cache", O_RDONLY) >= 0);
    return failed;
}
