/* SPDX-License-Identifier: BSD-3-Clause */
/* Pool of float arrays: arrays that a call uses, and the effect of an exchange. */
#include "config.h"

#include "layer/scratch_pool.h"

#include <stdlib.h>

#include "tests/tap/tap.h"

static void test_turns(void)
{
    struct aps_scratch_array *spares = NULL, *first, *second, *third, *fourth;

    first = aps_scratch_pool_take(&spares, 100);
    ok(first && first->count == 100 && first->in_use,
       "the first call makes an array");
    second = aps_scratch_pool_take(&spares, 100);
    ok(second && second != first && second->floats != first->floats,
       "what is in_use is not in_use again");
    first->in_use = second->in_use = false;
    third = aps_scratch_pool_take(&spares, 100);
    fourth = aps_scratch_pool_take(&spares, 100);
    ok((third == first && fourth == second) ||
           (third == second && fourth == first),
       "what came back is in_use again, as often");
    third = aps_scratch_pool_take(&spares, 99);
    ok(third && third != first && third != second,
       "another length has an array of its own");
    aps_scratch_pool_clear(&spares);
    ok(!spares, "and all go");
    aps_scratch_pool_clear(&spares);
    ok(!spares, "... once");
}

static void test_exchange(void)
{
    struct aps_scratch_array *spares = NULL, *spare;
    float *kept = calloc(8, sizeof *kept), *old = kept;

    spare = aps_scratch_pool_take(&spares, 8);
    kept = spare->floats;
    spare->floats = old;
    spare->in_use = false;
    ok(aps_scratch_pool_take(&spares, 8) == spare && spare->floats == old,
       "what was left in exchange is in_use next");
    aps_scratch_pool_clear(&spares);
    kept[7] = 1; /* it is not freed */
    ok(kept[7] == 1, "what was taken stays");
    free(kept);
}

int main(void)
{
    test_turns();
    test_exchange();
    done_testing();
}
