/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each target of this folder has the entry of libFuzzer, which takes any
 * bytes, and ends the process if something is wrong.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns 0, or -1 if nothing can be tried with these bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process with a message unless the condition is true. */
#define fuzz_require(condition, ...)                                           \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, __VA_ARGS__);                                      \
            fputc('\n', stderr);                                               \
            abort();                                                           \
        }                                                                      \
    } while (0)

#endif
