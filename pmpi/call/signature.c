/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/signature.h"

#include <stdbool.h>
#include <stdlib.h>

#include "native/abi.h"
#include "call/call.h"

/* Since MPI 4 types may have large counts, which only these two functions
 * report. */
#ifdef HAVE_PMPI_TYPE_GET_CONTENTS_C

static int signature_get_envelope(MPI_Datatype type, MPI_Count count[4],
                                  int *combiner)
{
    return PMPI_Type_get_envelope_c(type, &count[0], &count[1], &count[2],
                                    &count[3], combiner);
}

static int signature_get_contents(MPI_Datatype type, const MPI_Count count[4],
                                  int integers[], MPI_Aint addresses[],
                                  MPI_Count large[], MPI_Datatype types[])
{
    return PMPI_Type_get_contents_c(type, count[0], count[1], count[2],
                                    count[3], integers, addresses, large,
                                    types);
}
#else
static int signature_get_envelope(MPI_Datatype type, MPI_Count count[4],
                                  int *combiner)
{
    int integers, addresses, types;
    int rc =
        PMPI_Type_get_envelope(type, &integers, &addresses, &types, combiner);

    if (rc != MPI_SUCCESS)
        return rc;
    count[0] = integers;
    count[1] = addresses;
    count[2] = 0;
    count[3] = types;
    return MPI_SUCCESS;
}

static int signature_get_contents(MPI_Datatype type, const MPI_Count count[4],
                                  int integers[], MPI_Aint addresses[],
                                  MPI_Count large[], MPI_Datatype types[])
{
    (void)large;
    return PMPI_Type_get_contents(type, (int)count[0], (int)count[1],
                                  (int)count[3], integers, addresses, types);
}
#endif

/* True if types of this kind, returned as the contents of another type, must be
 * freed. */
static bool signature_is_new_handle(int combiner)
{
    return combiner != MPI_COMBINER_NAMED &&
           combiner != MPI_COMBINER_F90_REAL &&
           combiner != MPI_COMBINER_F90_COMPLEX &&
           combiner != MPI_COMBINER_F90_INTEGER;
}

/* Returns the type of the values in a named type. By MPI's definition MPI_2REAL is
 * two MPI_REALs. */
static enum aps_element signature_named(MPI_Datatype type)
{
    return aps_element_of(
        type != MPI_DATATYPE_NULL && type == MPI_2REAL ? MPI_REAL : type);
}

static bool signature_is_uniform(MPI_Datatype type, enum aps_element *element);

/* True if part i of a type adds nothing to it: the part has no elements, or is
 * a member of a structure with count 0. */
static bool signature_adds_nothing(MPI_Datatype part, int combiner,
                                   const MPI_Count count[4],
                                   const int integers[],
                                   const MPI_Count large[], MPI_Count i)
{
    MPI_Count bytes;

    if (combiner == MPI_COMBINER_STRUCT &&
        (count[2] > 0 ? large[1 + i] : integers[1 + i]) == 0)
        return true;
    return PMPI_Type_size_x(part, &bytes) == MPI_SUCCESS && bytes == 0;
}

static void *signature_allocate(MPI_Count count, size_t size)
{
    return malloc((size_t)count * size + 1);
}

/* True if the types that `type` was made from hold values of one type alone, that of
 * *element; *element is APS_ELEMENT_NONE before the first of them. */
static bool signature_parts_are_uniform(MPI_Datatype type, int combiner,
                                        const MPI_Count count[4],
                                        enum aps_element *element)
{
    int *integers = signature_allocate(count[0], sizeof *integers);
    MPI_Aint *addresses = signature_allocate(count[1], sizeof *addresses);
    MPI_Count *large = signature_allocate(count[2], sizeof *large);
    MPI_Datatype *types = signature_allocate(count[3], sizeof *types);
    MPI_Datatype known = MPI_DATATYPE_NULL;
    bool good = false;

    if (!integers || !addresses || !large || !types ||
        signature_get_contents(type, count, integers, addresses, large,
                               types) != MPI_SUCCESS)
        goto free_contents;
    good = count[3] > 0;
    /* Equal types in a row are examined once; otherwise structures of
     * structures would take exponential time. */
    for (MPI_Count i = 0; i < count[3] && good; i++) {
        if (types[i] == known ||
            signature_adds_nothing(types[i], combiner, count, integers, large,
                                   i))
            continue;
        good = signature_is_uniform(types[i], element);
        known = types[i];
    }
    for (MPI_Count i = 0; i < count[3]; i++) {
        MPI_Count inner[4];
        int how = MPI_COMBINER_NAMED;

        if (signature_get_envelope(types[i], inner, &how) == MPI_SUCCESS &&
            signature_is_new_handle(how))
            PMPI_Type_free(&types[i]);
    }

free_contents:
    free(integers);
    free(addresses);
    free(large);
    free(types);
    return good;
}

static bool signature_is_uniform(MPI_Datatype type, enum aps_element *element)
{
    const enum aps_element named = signature_named(type);
    MPI_Count count[4];
    int combiner;

    if (named != APS_ELEMENT_NONE) {
        if (*element == APS_ELEMENT_NONE)
            *element = named;
        return *element == named;
    }
    return signature_get_envelope(type, count, &combiner) == MPI_SUCCESS &&
           combiner != MPI_COMBINER_NAMED &&
           signature_parts_are_uniform(type, combiner, count, element);
}

struct aps_signature aps_signature_of(const struct aps_job *job,
                                      MPI_Datatype type)
{
    static const struct aps_signature none = {APS_ELEMENT_NONE, 0};
    enum aps_element element = signature_named(type);
    MPI_Count bytes;

    if (element == APS_ELEMENT_NONE &&
        !(aps_abi_may_be_derived(type) && signature_is_uniform(type, &element)))
        return none;
    if (!aps_call_takes(job, element) ||
        PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes <= 0)
        return none;
    return (struct aps_signature){
        element, (size_t)bytes / aps_element_types[element].bytes};
}
