// Verilator 5.006 only, included before the model. Its functions VL_CONSTHI_W_1X to _8X, which fill a wide
// value from bit `lsb` up, clear what is left above it from the wrong place on: past the end of the value.
// Macros of the same names take their place.
#pragma once
#include "verilated.h"

template <int N>
inline WDataOutP hartrace_consthi(int bits, int lsb, WDataOutP out, const EData (&words)[N]) {
  const int first = VL_WORDS_I(lsb);
  for (int i = 0; i < N; ++i) out[first + i] = words[N - 1 - i];
  for (int i = first + N; i < VL_WORDS_I(bits); ++i) out[i] = 0;
  return out;
}

#define VL_CONSTHI_W_1X(bits, lsb, out, ...) hartrace_consthi<1>(bits, lsb, out, {__VA_ARGS__})
#define VL_CONSTHI_W_2X(bits, lsb, out, ...) hartrace_consthi<2>(bits, lsb, out, {__VA_ARGS__})
#define VL_CONSTHI_W_3X(bits, lsb, out, ...) hartrace_consthi<3>(bits, lsb, out, {__VA_ARGS__})
#define VL_CONSTHI_W_4X(bits, lsb, out, ...) hartrace_consthi<4>(bits, lsb, out, {__VA_ARGS__})
#define VL_CONSTHI_W_5X(bits, lsb, out, ...) hartrace_consthi<5>(bits, lsb, out, {__VA_ARGS__})
#define VL_CONSTHI_W_6X(bits, lsb, out, ...) hartrace_consthi<6>(bits, lsb, out, {__VA_ARGS__})
#define VL_CONSTHI_W_7X(bits, lsb, out, ...) hartrace_consthi<7>(bits, lsb, out, {__VA_ARGS__})
#define VL_CONSTHI_W_8X(bits, lsb, out, ...) hartrace_consthi<8>(bits, lsb, out, {__VA_ARGS__})
