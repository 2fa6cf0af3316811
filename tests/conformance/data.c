/* SPDX-License-Identifier: BSD-3-Clause */
#include "data.h"

#include <math.h>
#include <string.h>

#include "draw.h"

#define CANARY 0x5a

size_t base_size(enum base base)
{
    static const size_t sizes[BASES] = {sizeof(float), sizeof(double),
                                        sizeof(int), sizeof(uint16_t),
                                        sizeof(uint16_t)};

    return sizes[base];
}

static MPI_Datatype made[BASES]; /* types of 16 bits; 0: not made yet */

MPI_Datatype base_type(enum base base)
{
    const MPI_Datatype types[BASES] = {MPI_FLOAT, MPI_DOUBLE, MPI_INT};

    if (!base_is_16(base))
        return types[base];
    if (!made[base]) {
        MPI_Type_contiguous(2, MPI_BYTE, &made[base]);
        MPI_Type_commit(&made[base]);
    }
    return made[base];
}

void base_types_free(void)
{
    for (int base = 0; base < BASES; base++)
        if (made[base])
            MPI_Type_free(&made[base]);
}

const char *base_name(enum base base)
{
    static const char *const names[BASES] = {"float", "double", "int", "bf16",
                                             "fp16"};

    return names[base];
}

const char *operation_name(enum operation operation)
{
    static const char *const names[OPERATIONS] = {"sum",  "max",     "min",
                                                  "prod", "own sum", "first"};

    return names[operation];
}

static float get_16(enum base base, const void *x, size_t i)
{
    const uint32_t bits = (uint32_t)((const uint16_t *)x)[i] << 16;
    float value;

    if (base == BASE_FP16)
        return (float)((const _Float16 *)x)[i];
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void set_16(enum base base, void *x, size_t i, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    bits = isnan(value) ? 0x7fc00000u : bits + 0x7fff + (bits >> 16 & 1);
    if (base == BASE_FP16)
        ((_Float16 *)x)[i] = (_Float16)value;
    else
        ((uint16_t *)x)[i] = (uint16_t)(bits >> 16);
}

static double value_of(const struct values *values, int rank, size_t i)
{
    const uint64_t word =
        mix(values->key + mix((uint64_t)i * 64 + (uint64_t)rank));
    const uint64_t shared = mix(values->key ^ (uint64_t)i);
    const int small = (int)(word % 17) - 8;

    switch (values->pattern) {
    case SCALED:
        return ldexp(small, values->exponent);
    case SPREAD:
        return ldexp(small, (int)(shared % 260) - 140);
    case SPARSE:
        if (word >> 60 != 0)
            return word >> 59 & 1 ? -0.0 : 0.0;
        return small;
    case FACTORS:
        return (word & 1 ? 1 : -1) * (word & 2 ? 1 : 2);
    case SPECIAL:
        if (shared % 13 != 0)
            return small;
        switch (word >> 32 & 7) {
        case 0:
            return INFINITY;
        case 1:
            return -INFINITY;
        case 2:
            return values->nan ? NAN : INFINITY;
        default:
            return small;
        }
    default:
        return small;
    }
}

void values_fill(const struct values *values, int rank, void *buffer,
                 size_t count)
{
    float *floats = buffer;
    double *doubles = buffer;
    int *ints = buffer;

    for (size_t i = 0; i < count; i++) {
        const double value = value_of(values, rank, i);

        if (values->base == BASE_FLOAT)
            floats[i] = (float)value;
        else if (values->base == BASE_DOUBLE)
            doubles[i] = value;
        else if (values->base == BASE_INT)
            ints[i] = (int)value;
        else
            set_16(values->base, buffer, i, (float)value);
    }
}

void canary_fill(void *buffer, size_t bytes)
{
    if (bytes > 0)
        memset(buffer, CANARY, bytes);
}

uint64_t hash_word(uint64_t hash, uint64_t word)
{
    return mix(hash ^ (word + (hash << 6) + (hash >> 2)));
}

static uint64_t double_bits(double value)
{
    uint64_t bits;

    if (isnan(value))
        return UINT64_C(0x7ff8000000000000);
    if (value == 0)
        return 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t hash_values(uint64_t hash, enum base base, const void *buffer,
                     size_t count)
{
    const float *floats = buffer;
    const double *doubles = buffer;
    const int *ints = buffer;

    for (size_t i = 0; i < count; i++) {
        if (base == BASE_FLOAT)
            hash = hash_word(hash, double_bits((double)floats[i]));
        else if (base == BASE_DOUBLE)
            hash = hash_word(hash, double_bits(doubles[i]));
        else if (base == BASE_INT)
            hash = hash_word(hash, (uint64_t)ints[i]);
        else
            hash =
                hash_word(hash, double_bits((double)get_16(base, buffer, i)));
    }
    return hash;
}

uint64_t hash_bytes(uint64_t hash, const void *buffer, size_t bytes)
{
    const unsigned char *byte = buffer;

    for (size_t i = 0; i < bytes; i++)
        hash = hash_word(hash, byte[i]);
    return hash;
}

/* Returns the base type of the arguments of the program's own operation. */
static enum base base_of(MPI_Datatype type, int count, size_t *elements)
{
    enum base base = BASE_FLOAT;
    int size;

    MPI_Type_size(type, &size);
    if (type == MPI_DOUBLE)
        base = BASE_DOUBLE;
    else if (type == MPI_INT)
        base = BASE_INT;
    else if (type == base_type(BASE_BF16))
        base = BASE_BF16;
    else if (type == base_type(BASE_FP16))
        base = BASE_FP16;
    *elements = (size_t)count * (size_t)size / base_size(base);
    return base;
}

void own_sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    size_t elements;
    const enum base base = base_of(*type, *count, &elements);

    for (size_t i = 0; i < elements; i++) {
        if (base == BASE_FLOAT)
            ((float *)inout)[i] = ((float *)in)[i] + ((float *)inout)[i];
        else if (base == BASE_DOUBLE)
            ((double *)inout)[i] = ((double *)in)[i] + ((double *)inout)[i];
        else if (base_is_16(base))
            set_16(base, inout, i,
                   get_16(base, in, i) + get_16(base, inout, i));
        else
            ((int *)inout)[i] = ((int *)in)[i] + ((int *)inout)[i];
    }
}

void own_first(void *in, void *inout, int *count, MPI_Datatype *type)
{
    size_t elements;
    const enum base base = base_of(*type, *count, &elements);

    /* `in` is the operand on the left. */
    for (size_t i = 0; i < elements; i++) {
        if (base == BASE_FLOAT && ((float *)in)[i] != 0)
            ((float *)inout)[i] = ((float *)in)[i];
        else if (base == BASE_DOUBLE && ((double *)in)[i] != 0)
            ((double *)inout)[i] = ((double *)in)[i];
        else if (base == BASE_INT && ((int *)in)[i] != 0)
            ((int *)inout)[i] = ((int *)in)[i];
        else if (base_is_16(base) && get_16(base, in, i) != 0)
            ((uint16_t *)inout)[i] = ((uint16_t *)in)[i];
    }
}
