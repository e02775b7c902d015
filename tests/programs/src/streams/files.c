// What a program does with files, folders and its environment: every result is printed, so that two kernels can be
// compared. The arguments are a folder to work in, which is empty, and names of environment variables.

#include "calls.h"

static char buffer[4096];

static long shown(const char *what, long result)
{
    say(1, what);
    say(1, " ");
    say_number(1, result);
    say(1, "\n");
    return result;
}

static void show(const char *what, long size)
{
    say(1, what);
    say(1, " <");
    call(WRITE, 1, (long)buffer, size > 0 ? size : 0, 0, 0);
    say(1, ">\n");
}

// The size and kind of a file, of struct stat and of struct statx.
static void stats(const char *name)
{
    static long stat[16], statx[32];
    shown("stat", call(FSTATAT, HERE, (long)name, (long)stat, 0, 0));
    shown("size", stat[6]);
    shown("mode", (uint32_t)stat[2]);
    shown("statx", call(STATX, HERE, (long)name, 0, 0x7ff, (long)statx));
    shown("size", statx[5]);
    shown("mode", (uint16_t)(statx[3] >> 32));
    shown("same inode", stat[1] == statx[4]);
}

// How many entries a folder has, apart from itself and its parent, and the sum of the lengths of their names.
static void list(const char *name)
{
    long folder = call(OPENAT, HERE, (long)name, O_RDONLY | O_DIRECTORY, 0, 0), got, entries = 0, letters = 0;
    while ((got = call(GETDENTS64, folder, (long)buffer, 128, 0, 0)) > 0)
        for (long at = 0; at < got; at += *(uint16_t *)(buffer + at + 16)) {
            const char *entry = buffer + at + 19;
            if (same(entry, ".") || same(entry, ".."))
                continue;
            entries++;
            letters += length_of(entry);
        }
    shown("list ends", got);
    shown("entries", entries);
    shown("letters", letters);
    shown("close", call(CLOSE, folder, 0, 0, 0, 0));
    shown("read a closed one", call(READ, folder, (long)buffer, 1, 0, 0));
}

static void environment(const char **variables, const char *name)
{
    long length = length_of(name);
    for (; *variables; variables++) {
        const char *at = *variables;
        long i = 0;
        while (i < length && at[i] == name[i])
            i++;
        if (i == length && at[i] == '=') {
            say(1, at);
            say(1, "\n");
            return;
        }
    }
    say(1, name);
    say(1, " is not there\n");
}

int run(long number, const char **arguments, const char **variables)
{
    static const char *const lines[] = {"first\n", "second\n"};
    long pipe = 0;
    if (number < 2)
        return 64;
    shown("chdir", call(CHDIR, (long)arguments[1], 0, 0, 0, 0));
    shown("chdir to nowhere", call(CHDIR, (long)"nowhere", 0, 0, 0, 0));
    shown("mkdir", call(MKDIRAT, HERE, (long)"sub", 0755, 0, 0));
    shown("mkdir again", call(MKDIRAT, HERE, (long)"sub", 0755, 0, 0));
    long file = shown("create", call(OPENAT, HERE, (long)"sub/new", O_RDWR | O_CREAT | O_EXCL, 0640, 0));
    shown("create again", call(OPENAT, HERE, (long)"sub/new", O_RDWR | O_CREAT | O_EXCL, 0640, 0));
    for (int i = 0; i < 2; i++)
        shown("write", call(WRITE, file, (long)lines[i], length_of(lines[i]), 0, 0));
    long vector[] = {(long)"a", 1, (long)"bc\n", 3};
    shown("writev", call(WRITEV, file, (long)vector, 2, 0, 0));
    shown("seek", call(LSEEK, file, -6, 1, 0, 0));
    show("read", call(READ, file, (long)buffer, 3, 0, 0));
    shown("seek before", call(LSEEK, file, -1, 0, 0, 0));
    shown("end", call(LSEEK, file, 0, 2, 0, 0));
    show("pread", call(PREAD64, file, (long)buffer, 100, 6, 0));
    shown("pwrite", call(PWRITE64, file, (long)"F", 1, 0, 0));
    shown("truncate", call(FTRUNCATE, file, 12, 0, 0, 0));
    shown("close", call(CLOSE, file, 0, 0, 0, 0));
    stats("sub/new");
    stats("sub");
    file = shown("append", call(OPENAT, HERE, (long)"sub/new", O_WRONLY | O_APPEND, 0, 0));
    shown("read what is only written", call(READ, file, (long)buffer, 1, 0, 0));
    shown("write", call(WRITE, file, (long)"!\n", 2, 0, 0));
    shown("write from nowhere", call(WRITE, file, 16, 2, 0, 0));
    shown("dup3", call(DUP3, file, 9, 0, 0, 0));
    shown("write", call(WRITE, 9, (long)"?\n", 2, 0, 0));
    shown("not a terminal", call(IOCTL, file, 0x5401, (long)buffer, 0, 0));
    file = shown("open", call(OPENAT, HERE, (long)"./sub/../sub/new", O_RDONLY, 0, 0));
    show("all", call(READ, file, (long)buffer, sizeof buffer, 0, 0));
    show("end", call(READ, file, (long)buffer, sizeof buffer, 0, 0));
    shown("write what is only read", call(WRITE, file, (long)"x", 1, 0, 0));
    shown("a file is no folder", call(GETDENTS64, file, (long)buffer, 128, 0, 0));
    shown("rename", call(RENAMEAT2, HERE, (long)"sub/new", HERE, (long)"a longer name", 0));
    list(".");
    list("sub");
    shown("there", call(FACCESSAT, HERE, (long)"a longer name", 0, 0, 0));
    shown("not there", call(FACCESSAT, HERE, (long)"sub/new", 0, 0, 0));
    shown("a name nowhere", call(FACCESSAT, HERE, 16, 0, 0, 0));
    shown("open a folder for writing", call(OPENAT, HERE, (long)"sub", O_WRONLY, 0, 0));
    shown("under a file", call(OPENAT, HERE, (long)"a longer name/x", O_RDONLY, 0, 0));
    shown("remove a folder as a file", call(UNLINKAT, HERE, (long)"sub", 0, 0, 0) < 0);
    shown("remove it", call(UNLINKAT, HERE, (long)"sub", 0x200, 0, 0));
    shown("remove the file", call(UNLINKAT, HERE, (long)"a longer name", 0, 0, 0));
    shown("no link", call(READLINKAT, HERE, (long)".", (long)buffer, 10, 0));
    shown("pipe", call(PIPE2, (long)&pipe, 0, 0, 0, 0));
    shown("write", call(WRITE, (uint64_t)pipe >> 32, (long)"through", 7, 0, 0));
    show("read", call(READ, (uint32_t)pipe, (long)buffer, 100, 0, 0));
    shown("seek in a pipe", call(LSEEK, (uint32_t)pipe, 0, 0, 0, 0));
    shown("the folder fits", call(GETCWD, (long)buffer, sizeof buffer, 0, 0, 0) > 1);
    shown("it does not", call(GETCWD, (long)buffer, 2, 0, 0, 0));
    long moment[] = {0, 1000};
    shown("sleep", call(NANOSLEEP, (long)moment, 0, 0, 0, 0));
    for (long i = 2; i < number; i++)
        environment(variables, arguments[i]);
    return 300; // of which a parent sees 44
}
