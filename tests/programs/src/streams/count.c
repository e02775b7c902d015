// Counts lines, words and bytes, as wc does: of standard input, or of each file that an argument names. The exit status is
// the number of files that cannot be read.

#include "calls.h"

static int count(long from, const char *name)
{
    static char buffer[4096];
    long lines = 0, words = 0, bytes = 0, in_word = 0, got;
    while ((got = call(READ, from, (long)buffer, sizeof buffer, 0, 0)) > 0)
        for (long i = 0; i < got; i++) {
            char c = buffer[i];
            int is_space = c == ' ' || (c >= '\t' && c <= '\r');
            bytes++;
            lines += c == '\n';
            words += !is_space && !in_word;
            in_word = !is_space;
        }
    if (got < 0)
        return 1;
    long all[] = {lines, words, bytes};
    for (int i = 0; i < 3; i++) {
        say_number(1, all[i]);
        say(1, i < 2 ? " " : name ? " " : "\n");
    }
    if (name) {
        say(1, name);
        say(1, "\n");
    }
    return 0;
}

int run(long number, const char **arguments, const char **variables)
{
    int failed = 0;
    (void)variables;
    if (number < 2)
        failed = count(0, NULL);
    for (long i = 1; i < number; i++) {
        long file = call(OPENAT, HERE, (long)arguments[i], O_RDONLY, 0, 0);
        if (file >= 0 && count(file, arguments[i]) == 0) {
            call(CLOSE, file, 0, 0, 0, 0);
            continue;
        }
        failed++;
        say(2, arguments[i]);
        say(2, ": cannot be read, ");
        say_number(2, file);
        say(2, "\n");
    }
    return failed;
}
