/* A thread reads what another one writes, which waits in turn until its pipe has room. */

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 3000 };

static int ends[2];

static void *writer(void *unused)
{
    char line[64] = "a line of 64 bytes";
    /* The reader waits first. */
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    for (int i = 0; i < LINES; i++)
        if (write(ends[1], line, sizeof line) != sizeof line)
            return "a short write";
    close(ends[1]);
    return unused;
}

int main(void)
{
    pthread_t thread;
    char some[1000];
    void *failed;
    long total = 0, count;
    if (pipe(ends) != 0 || pthread_create(&thread, NULL, writer, NULL) != 0)
        return 1;
    while ((count = read(ends[0], some, sizeof some)) > 0)
        total += count;
    pthread_join(thread, &failed);
    printf("%ld bytes\n", total);
    return failed != NULL || total != LINES * 64;
}
