/* SPDX-License-Identifier: BSD-3-Clause */
/* Spare arrays: which one a call is lent, and what an exchange leaves. */
#include "config.h"

#include "comm/spares.h"

#include <stdlib.h>

#include "tests/tap/tap.h"

static void test_turns(void)
{
    struct aps_spare *spares = NULL, *first, *second, *third, *fourth;

    first = aps_spares_lend(&spares, 100);
    ok(first && first->count == 100 && first->lent,
       "the first call makes an array");
    second = aps_spares_lend(&spares, 100);
    ok(second && second != first && second->floats != first->floats,
       "what is lent is not lent again");
    first->lent = second->lent = false;
    third = aps_spares_lend(&spares, 100);
    fourth = aps_spares_lend(&spares, 100);
    ok((third == first && fourth == second) ||
           (third == second && fourth == first),
       "what came back is lent again, as often");
    third = aps_spares_lend(&spares, 99);
    ok(third && third != first && third != second,
       "another length has an array of its own");
    aps_spares_clear(&spares);
    ok(!spares, "and all go");
    aps_spares_clear(&spares);
    ok(!spares, "... once");
}

static void test_exchange(void)
{
    struct aps_spare *spares = NULL, *spare;
    float *kept = calloc(8, sizeof *kept), *old = kept;

    spare = aps_spares_lend(&spares, 8);
    kept = spare->floats;
    spare->floats = old;
    spare->lent = false;
    ok(aps_spares_lend(&spares, 8) == spare && spare->floats == old,
       "what was left in exchange is lent next");
    aps_spares_clear(&spares);
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
