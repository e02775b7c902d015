/*
 * Four threads with a mutex, a condition variable, data of their own and sleep. Exit code 0 if all is right.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 40 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static __thread int own;
static int total, ready;

static __attribute__((noinline)) int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void *work(void *number)
{
    own = (int)(long)number;
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        char *memory = malloc(100 + i);
        sum += fibonacci(10);
        free(memory);
        pthread_mutex_lock(&lock);
        total += own;
        pthread_mutex_unlock(&lock);
    }
    usleep(1000);
    pthread_mutex_lock(&lock);
    ready++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return (void *)(long)(sum * own);
}

int main(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(i + 1)) != 0)
            return 2;
    pthread_mutex_lock(&lock);
    while (ready < THREADS)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    long sum = 0;
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum += (long)result;
    }
    printf("total %d, sum %ld, own %d\n", total, sum, own);
    return total == 10 * ROUNDS && sum == 10 * ROUNDS * 55 && own == 0 ? 0 : 1;
}
