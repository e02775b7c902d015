// C ABI of a verilated model. Follows the generated files in one translation unit; the class Vmodel and
// the functions copy_in, copy_out and set_clock are generated before this.
//
// No C++ exception leaves a function of the ABI, and nothing ends the process.

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#ifdef HARTRACE_WAVES
#include "verilated_fst_c.h"
#endif

#define EXPORT extern "C" __attribute__((visibility("default")))

// Wide ports are 32-bit words there and 64-bit words here.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "little-endian machines only");

namespace {

// Thrown where the runtime must not go on, for it would never end: logic that does not settle.
struct Fatal {};

enum Status : uint32_t { kOk = 0, kFailed = 1, kFinished = 2, kDead = 4 };

// More of what the model prints is counted, not kept.
constexpr size_t kMaxPrinted = 1 << 20;
constexpr size_t kMaxLine = 1 << 12;
// Time between two rising edges.
constexpr uint64_t kPeriod = 10;
// Whether nobody sees the falling edge of the clock: neither the design nor a file of waves.
#ifdef HARTRACE_WAVES
constexpr bool kFallsUnseen = false;
#else
constexpr bool kFallsUnseen = kRisingOnly;
#endif

struct Instance {
  VerilatedContext context;
  Vmodel* top = nullptr;
  // One word more than needed: an array without elements is not C++.
  uint64_t in[kInWords + 1] = {};
  uint64_t applied[kInWords + 1] = {};
  bool settled = false;
  uint64_t out[kOutWords + 1] = {};
  uint64_t now = 0;
  uint32_t status = kOk;
  bool evaluating = false;
  std::string printed;
  std::string line;
  std::string taken;
  std::string failure;
  uint64_t dropped = 0;
#ifdef HARTRACE_WAVES
  VerilatedFstC* waves = nullptr;
#endif

  void eval(uint64_t offset) {
    context.time(now + offset);
    evaluating = true;
    top->eval();
    evaluating = false;
  }
  // With the clock low, so that latches in gated clocks follow before the edge.
  void settle() {
    if (settled && !memcmp(in, applied, sizeof in)) return;
    memcpy(applied, in, sizeof in);
    copy_in(*top, in);
    eval(1);
    settled = true;
  }
  void edges() {
    dump(1);
    set_clock(*top, 1);
    eval(kPeriod / 2);
    dump(kPeriod / 2);
    set_clock(*top, 0);
    if (kFallsUnseen) {
      // Nothing happens at this edge: it is evaluated with the next inputs.
      settled = false;
    } else {
      eval(kPeriod);
      dump(kPeriod);
    }
    now += kPeriod;
  }
  void dump(uint64_t offset) {
#ifdef HARTRACE_WAVES
    if (waves) waves->dump(now + offset);
#else
    (void)offset;
#endif
  }
};

thread_local Instance* current = nullptr;

void fail(const char* file, int line, const char* why) {
  if (!current || (current->status & kFailed)) return;
  current->status |= kFailed;
  current->failure = why;
  if (file && *file) current->failure += std::string{"\n"} + file + ":" + std::to_string(line);
}

// Runs `body` with the instance as the one that prints and fails. Whatever is thrown makes it unusable.
template <typename Body>
uint32_t guarded(Instance* instance, Body body) {
  if (instance->status & kDead) return instance->status;
  current = instance;
  Verilated::threadContextp(&instance->context);
  try {
    body();
  } catch (const Fatal&) {
    instance->status |= kDead;
  } catch (const std::exception& e) {
    fail(nullptr, 0, e.what());
    instance->status |= kDead;
  } catch (...) {
    fail(nullptr, 0, "unknown C++ exception");
    instance->status |= kDead;
  }
  current = nullptr;
  return instance->status;
}

}  // namespace

extern "C" int hartrace_print(const char* format, ...) {
  char text[kMaxLine];
  va_list args;
  va_start(args, format);
  const int wanted = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (!current || wanted <= 0) return wanted;
  const size_t size = std::min(static_cast<size_t>(wanted), sizeof text - 1);
  const size_t room = kMaxPrinted - std::min(kMaxPrinted, current->printed.size());
  current->printed.append(text, std::min(size, room));
  current->dropped += static_cast<size_t>(wanted) - std::min(size, room);
  // The line that is being written, for the message of an assertion that fails.
  for (size_t i = 0; i < size; ++i) {
    if (!current->line.empty() && current->line.back() == '\n') current->line.clear();
    if (current->line.size() < kMaxLine) current->line.push_back(text[i]);
  }
  return wanted;
}

// Instead of fopen, also in the runtime. A model must not leave files in whatever folder a program happens
// to run in: $fopen for writing gives 0, as where a folder is write-protected. Waves are not its doing.
extern "C" FILE* __real_fopen(const char* path, const char* mode);
extern "C" FILE* __wrap_fopen(const char* path, const char* mode) {
  if (current && current->evaluating && *mode != 'r') return nullptr;
  return __real_fopen(path, mode);
}

// A failed assertion, $error, $fatal or $stop. The first three print their message before.
void vl_stop(const char* file, int line, const char*) {
  const bool told = current && current->line.find("%Error") != std::string::npos;
  fail(file, line, told ? current->line.c_str() : "$stop");
  if (current) current->line.clear();
}

void vl_fatal(const char* file, int line, const char*, const char* why) {
  fail(file, line, why);
  throw Fatal{};
}

void vl_finish(const char*, int, const char*) {
  if (current) current->status |= kFinished;
}

struct hartrace_buffers {
  uint64_t* in;
  size_t in_words;
  uint64_t* out;
  size_t out_words;
};

EXPORT void hartrace_free(Instance* instance) {
  guarded(instance, [&] {
    instance->top->final();
#ifdef HARTRACE_WAVES
    if (instance->waves) {
      // The last inputs and what they lead to, which no clock edge followed.
      instance->dump(1);
      instance->waves->close();
    }
#endif
  });
#ifdef HARTRACE_WAVES
  delete instance->waves;
#endif
  Verilated::threadContextp(&instance->context);
  delete instance->top;
  delete instance;
}

EXPORT Instance* hartrace_new(uint32_t seed, hartrace_buffers* buffers) {
  // The seed and the generator's state are not the context's own: one at a time.
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock{mutex};
  Instance* instance = nullptr;
  try {
    instance = new Instance;
  } catch (...) {
    return nullptr;
  }
  guarded(instance, [&] {
    instance->context.randReset(2);
    // Zero would be a seed from the clock.
    instance->context.randSeed(static_cast<int>((seed << 1 | 1) & 0x7fffffff));
#ifdef HARTRACE_WAVES
    instance->context.traceEverOn(true);
#endif
    instance->top = new Vmodel{&instance->context, "TOP"};
  });
  if (!instance->top) {
    delete instance;
    return nullptr;
  }
  *buffers = {instance->in, kInWords, instance->out, kOutWords};
  return instance;
}

// Inputs are applied, outputs follow.
EXPORT uint32_t hartrace_settle(Instance* instance) {
  return guarded(instance, [&] {
    instance->settle();
    copy_out(*instance->top, instance->out);
    if (!kClocked) {
      instance->dump(1);
      instance->now += kPeriod;
    }
  });
}

// Both edges of the clock, with the inputs as they are; outputs follow.
EXPORT uint32_t hartrace_clock(Instance* instance) {
  return guarded(instance, [&] {
    instance->settle();
    instance->edges();
    copy_out(*instance->top, instance->out);
  });
}

// As hartrace_clock, but the outputs are those before the edges.
EXPORT uint32_t hartrace_step(Instance* instance) {
  return guarded(instance, [&] {
    instance->settle();
    copy_out(*instance->top, instance->out);
    instance->edges();
  });
}

// Starts a file of waves; false if the model was built without.
EXPORT bool hartrace_waves(Instance* instance, const char* path) {
#ifdef HARTRACE_WAVES
  guarded(instance, [&] {
    if (instance->waves) {
      instance->waves->close();
      delete instance->waves;
      instance->waves = nullptr;
    }
    auto* waves = new VerilatedFstC;
    instance->waves = waves;
    instance->top->trace(waves, 99);
    waves->open(path);
  });
  return true;
#else
  (void)instance;
  (void)path;
  return false;
#endif
}

// The first failure since the last call. Valid until the next call of anything.
EXPORT const char* hartrace_failure(Instance* instance) {
  instance->status &= ~static_cast<uint32_t>(kFailed);
  return instance->failure.c_str();
}

// What was printed since the last call. Valid until the next call of anything.
EXPORT const char* hartrace_printed(Instance* instance) {
  instance->taken.swap(instance->printed);
  instance->printed.clear();
  if (instance->dropped) {
    instance->taken += "\n[" + std::to_string(instance->dropped) + " more characters]\n";
  }
  instance->dropped = 0;
  return instance->taken.c_str();
}
