/* SPDX-License-Identifier: BSD-3-Clause */
/* Spare arrays: which one a call is lent, and what an exchange leaves. */
#include "config.h"

#include "comm/spares.h"

#include <stdlib.h>

#include "tests/tap/tap.h"

static void test_turns(void)
{
    struct aps_spare *spares = NULL, *first, *second;
    bool made = false;

    first = aps_spares_lend(&spares, 100, &made);
    ok(first && made && first->count == 100 && first->lent,
       "the first call makes an array");
    second = aps_spares_lend(&spares, 100, &made);
    ok(second && second != first && second->floats != first->floats,
       "what is lent is not lent again");
    first->lent = second->lent = made = false;
    ok(aps_spares_lend(&spares, 100, &made) && !made,
       "what came back is lent again, and nothing is made");
    ok(aps_spares_lend(&spares, 100, &made) && !made, "... as often");
    ok(aps_spares_lend(&spares, 99, &made) && made,
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
    bool made = false;

    spare = aps_spares_lend(&spares, 8, &made);
    kept = spare->floats;
    spare->floats = old;
    spare->lent = made = false;
    ok(aps_spares_lend(&spares, 8, &made) == spare && spare->floats == old &&
           !made,
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
