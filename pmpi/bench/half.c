/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "bench/half.h"

#include "native/element.h"

#define TILE 1024 /* values that the sum converts at a time */

void aps_half_encode(const struct aps_format *format, const float *x, size_t n,
                     uint16_t *codes)
{
    (void)aps_encode_array(format, x, n, NULL, codes, NULL);
}

void aps_half_decode(const struct aps_format *format, const uint16_t *codes,
                     size_t n, float *x)
{
    (void)aps_decode_array(format, codes, n, NULL, x, NULL);
}

/* --- an operation of the program ------------------------------------------ */

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const struct aps_format *fp16 = aps_format_get("fp16", NULL);
    const uint16_t *a = in;
    uint16_t *b = inout;
    float x[TILE], y[TILE];

    (void)type;
    for (size_t n, left = (size_t)*count; left > 0; left -= n) {
        n = left < TILE ? left : TILE;
        aps_half_decode(fp16, a, n, x);
        aps_half_decode(fp16, b, n, y);
        for (size_t i = 0; i < n; i++)
            y[i] += x[i];
        aps_half_encode(fp16, y, n, b);
        a += n;
        b += n;
    }
}

void aps_half_create(MPI_Datatype *type, MPI_Op *sum)
{
    PMPI_Type_contiguous(sizeof(uint16_t), MPI_BYTE, type);
    PMPI_Type_commit(type);
    PMPI_Op_create(add, 1, sum);
}

void aps_half_destroy(MPI_Datatype *type, MPI_Op *sum)
{
    PMPI_Op_free(sum);
    PMPI_Type_free(type);
}

/* --- types of MPI --------------------------------------------------------- */

/* COLLECTIVE. True if MPI sums values of the type. */
static bool can_sum(MPI_Datatype type)
{
    uint16_t x = 0;
    MPI_Comm comm;
    int rc;

    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    rc = PMPI_Allreduce(MPI_IN_PLACE, &x, 1, type, MPI_SUM, comm);
    PMPI_Comm_free(&comm);
    return rc == MPI_SUCCESS;
}

MPI_Datatype aps_half_native(const char *name)
{
    const MPI_Datatype types[] = {
        MPI_DATATYPE_NULL,
#ifdef MPIX_BFLOAT16
        MPIX_BFLOAT16,
#endif
#ifdef MPIX_C_BF16
        MPIX_C_BF16,
#endif
/* A sum of this type ends MPICH 4.0 with an assertion. */
#if defined MPIX_C_FLOAT16 &&                                                  \
    (!defined MPICH_NUMVERSION || MPICH_NUMVERSION >= 40300000)
        MPIX_C_FLOAT16,
#endif
    };
    const enum aps_element element = aps_element_find(name);

    for (size_t i = 1; i < sizeof types / sizeof *types; i++)
        if (aps_element_of(types[i]) == element && can_sum(types[i]))
            return types[i];
    return MPI_DATATYPE_NULL;
}
