/* Two threads that each wait for a mutex of the other. */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void *other(void *nothing)
{
    pthread_mutex_lock(&second);
    usleep(1000);
    pthread_mutex_lock(&first);
    return nothing;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    pthread_mutex_lock(&first);
    usleep(1000);
    pthread_mutex_lock(&second);
    return 0;
}
