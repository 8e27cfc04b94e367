// What the kernels of the tree need beside the words of blocks.h: maxima and minima of all blocks.
#pragma once

#include "blocks.h"

template <class T> inline T atomicMax(T *place, T value) {
    const T before = *place;
    if (value > before)
        *place = value;
    return before;
}

template <class T> inline T atomicMin(T *place, T value) {
    const T before = *place;
    if (value < before)
        *place = value;
    return before;
}
