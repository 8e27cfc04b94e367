// Maximum and minimum in place, by many threads at once.

#pragma once

#include "bounds.cuh"

#define ALL_LANES 0xffffffffu

// A number's bits grow with it as a signed integer where it is not
// negative, and fall with it as an unsigned integer where it is; adding zero makes -0 a 0.
__device__ __forceinline__ void raise_to(double* at, double value) {
    value += 0.0;
    if (value >= 0.0) atomicMax((long long*)at, __double_as_longlong(value));
    else atomicMin((unsigned long long*)at, (unsigned long long)__double_as_longlong(value));
}
__device__ __forceinline__ void lower_to(double* at, double value) {
    value += 0.0;
    if (value >= 0.0) atomicMin((long long*)at, __double_as_longlong(value));
    else atomicMax((unsigned long long*)at, (unsigned long long)__double_as_longlong(value));
}
__device__ __forceinline__ void raise_to(float* at, float value) {
    value += 0.0f;
    if (value >= 0.0f) atomicMax((int*)at, __float_as_int(value));
    else atomicMin((unsigned*)at, (unsigned)__float_as_int(value));
}
__device__ __forceinline__ void lower_to(float* at, float value) {
    value += 0.0f;
    if (value >= 0.0f) atomicMin((int*)at, __float_as_int(value));
    else atomicMax((unsigned*)at, (unsigned)__float_as_int(value));
}
