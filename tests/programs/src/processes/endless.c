/*
 * Jumps to itself when it has printed: the program, or with an argument only one of its threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *spin(void *unused)
{
    (void)unused;
    for (;;)
        ;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    (void)arguments;
    if (count > 1) {
        pthread_create(&thread, NULL, spin, NULL);
        usleep(100000);
        puts("done");
        return 0;
    }
    puts("started");
    fflush(stdout);
    for (;;)
        ;
}
