// Threads of C++ that throw through several functions, with all libraries dynamically linked, and one that is opened
// while the program runs. Exit code 0 if all is right.
#include <dlfcn.h>

#include <iostream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex lock;
static std::map<int, std::string> results;

__attribute__((noinline)) int descend(int depth)
{
    if (depth == 0)
        throw std::runtime_error("deep");
    return descend(depth - 1) + 1;
}

__attribute__((noinline)) int after()
{
    volatile int sum = 0;
    for (int i = 0; i < 10; i++)
        sum = sum + i;
    return sum;
}

static void work(int number)
{
    std::string text;
    for (int i = 0; i < 5; i++) {
        try {
            descend(i + number);
        } catch (const std::runtime_error &error) {
            text += error.what();
        }
        after();
    }
    std::lock_guard<std::mutex> guard(lock);
    results[number] = text;
}

int main()
{
    // Before there are threads, whose memory is elsewhere in every run of QEMU.
    void *library = dlopen("libgomp.so.1", RTLD_NOW);
    auto time = library == nullptr ? nullptr : dlsym(library, "omp_get_wtime");
    if (time == nullptr)
        return 2;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(work, i);
    for (auto &thread : threads)
        thread.join();
    for (auto &[number, text] : results)
        std::cout << number << ": " << text << "\n";
    auto seconds = reinterpret_cast<double (*)()>(time)();
    return results.size() == 4 && seconds >= 0 ? 0 : 1;
}
