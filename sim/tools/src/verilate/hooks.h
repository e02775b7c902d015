// Included before everything else, in the runtime and in the model: what the runtime prints goes to
// the instance that is being evaluated (see shim.cpp), not to the terminal.
#ifdef __cplusplus
extern "C"
#endif
int hartrace_print(const char* format, ...) __attribute__((format(printf, 1, 2)));
#define VL_PRINTF hartrace_print
