/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "native/element.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bucket.h"
#include "native/abi.h"

/* Names of predefined datatypes, in MPICH, Intel MPI and Open MPI. */
static const struct {
    const char *name;
    enum aps_element element;
} names[] = {
    {"MPI_FLOAT", APS_ELEMENT_FLOAT},
    {"MPI_REAL4", APS_ELEMENT_FLOAT},
    {"MPIX_BFLOAT16", APS_ELEMENT_BF16},
    {"MPIX_C_BF16", APS_ELEMENT_BF16},
    {"MPIX_C_FLOAT16", APS_ELEMENT_FP16},
    {"MPIX_SHORT_FLOAT", APS_ELEMENT_FP16},
    {"MPI_REAL2", APS_ELEMENT_FP16},
    {"MPI_DOUBLE", APS_ELEMENT_DOUBLE},
    {"MPI_DOUBLE_PRECISION", APS_ELEMENT_DOUBLE},
    {"MPI_REAL8", APS_ELEMENT_DOUBLE},
};

/* Returns the type of that name and size. */
static enum aps_element element_named(const char *name, int bytes)
{
    /* Compilers choose the size of MPI_REAL. */
    if (strcmp(name, "MPI_REAL") == 0)
        return bytes == (int)sizeof(float)    ? APS_ELEMENT_FLOAT
               : bytes == (int)sizeof(double) ? APS_ELEMENT_DOUBLE
                                              : APS_ELEMENT_NONE;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i].name) == 0 &&
            (size_t)bytes == aps_element_types[names[i].element].bytes)
            return names[i].element;
    }
    return APS_ELEMENT_NONE;
}

/* True if MPI has defined the type. A program may give its own types any name, also
 * those above. */
static bool element_is_predefined(MPI_Datatype type)
{
    int integers, addresses, types, combiner;

    return PMPI_Type_get_envelope(type, &integers, &addresses, &types,
                                  &combiner) == MPI_SUCCESS &&
           combiner == MPI_COMBINER_NAMED;
}

static enum aps_element element_asked(MPI_Datatype type)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length, bytes;

    if (PMPI_Type_size(type, &bytes) != MPI_SUCCESS ||
        PMPI_Type_get_name(type, name, &length) != MPI_SUCCESS)
        return APS_ELEMENT_NONE;
#ifdef MPIX_C_FLOAT16
    /* MPICH 4.0 has no name for it. */
    if (type == MPIX_C_FLOAT16 && name[0] == '\0')
        return APS_ELEMENT_FP16;
#endif
    return element_named(name, bytes);
}

#define KNOWN_BITS 4

enum aps_element aps_element_of(MPI_Datatype type)
{
    /* datatypes that were asked for; predefined ones are never freed */
    static _Thread_local struct {
        MPI_Datatype type;
        enum aps_element element;
        bool filled;
    } known[1 << KNOWN_BITS];
    const uint64_t place = aps_bucket((uint64_t)(uintptr_t)type, KNOWN_BITS);

    if (type == MPI_FLOAT)
        return APS_ELEMENT_FLOAT;
    if (known[place].filled && type == known[place].type)
        return known[place].element;
    if (!aps_abi_may_be_predefined(type) || !element_is_predefined(type))
        return APS_ELEMENT_NONE;
    known[place].type = type;
    known[place].element = element_asked(type);
    known[place].filled = true;
    return known[place].element;
}
