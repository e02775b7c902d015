/* Starts another process, which our hart does not have. */
#include <unistd.h>

int main(void)
{
    fork();
    return 0;
}
