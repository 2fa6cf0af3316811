/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of the elements that a program sums. Values of every type are converted to
 * FP32 where they are encoded, and summed in FP32; a rank adds those of double in FP64,
 * and rounds the sum to FP32. Results are rounded once to the program's type. Formats
 * wider than FP32 (number/format.h) keep doubles.
 */
#ifndef APS_BASE_ELEMENT_H
#define APS_BASE_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row for each type: the enum, its name, its bytes, and the format with the same
 * values (family_float.c), NULL for float and double. */
#define APS_ELEMENT_ROWS(ROW)                                                  \
    ROW(FLOAT, "float", 4, NULL)                                               \
    ROW(BF16, "bf16", 2, "bf16")                                               \
    ROW(FP16, "fp16", 2, "fp16")                                               \
    ROW(DOUBLE, "double", 8, NULL)

#define APS_ELEMENT_ENUM(ELEMENT, ...) APS_ELEMENT_##ELEMENT,
enum aps_element {
    APS_ELEMENT_ROWS(APS_ELEMENT_ENUM) APS_ELEMENTS,
    APS_ELEMENT_NONE = APS_ELEMENTS /* any other type */
};

struct aps_element_type {
    const char *name;   /* in policies, logs and messages */
    size_t bytes;       /* size of an element */
    const char *format; /* format with the same values, or NULL */
};

/* The last row is that of APS_ELEMENT_NONE, which has no bytes. */
extern const struct aps_element_type aps_element_types[APS_ELEMENTS + 1];

/* Returns the address of element i of an array. */
static inline void *aps_element_at(enum aps_element element, const void *x,
                                   size_t i)
{
    return (unsigned char *)(uintptr_t)x + i * aps_element_types[element].bytes;
}

/* True if elements of that many bytes are summed in FP64. */
static inline bool aps_element_is_wide(size_t bytes)
{
    return bytes > sizeof(float);
}

/* Returns the type of that name, or APS_ELEMENT_NONE. */
enum aps_element aps_element_find(const char *name);

/* Sets of types: 1 << enum aps_element for each. By default rules are for the types
 * of gradients; dot products of solvers are doubles. */
#define APS_ELEMENTS_DEFAULT                                                   \
    (1u << APS_ELEMENT_FLOAT | 1u << APS_ELEMENT_BF16 | 1u << APS_ELEMENT_FP16)

#endif
