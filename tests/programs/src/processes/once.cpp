// Whatever this program does is seen outside, so that nobody can execute it twice unnoticed: it copies standard input to
// standard output and adds a line to a file. A library that it opens in the end has code that was not there before.

#include <cstdio>
#include <dlfcn.h>
#include <iostream>
#include <string>

int main()
{
    std::string line;
    while (std::getline(std::cin, line))
        std::cout << line << std::endl;
    std::FILE *log = std::fopen("log", "a");
    if (log == nullptr || std::fputs("once\n", log) < 0 || std::fclose(log) != 0)
        return 1;
    void *library = dlopen("libgomp.so.1", RTLD_NOW);
    auto time = library ? reinterpret_cast<double (*)()>(dlsym(library, "omp_get_wtime")) : nullptr;
    return time != nullptr && time() >= 0 ? 0 : 2;
}
