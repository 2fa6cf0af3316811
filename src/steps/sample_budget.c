/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "steps/sample_budget.h"

#include <limits.h>
#include <math.h>

#include "base/bucket.h"

/* Steps before the first sample, which measure the time of a step. */
#define STEPS_BEFORE 2

/* Time of a step that is too short for the clock, in seconds. */
#define STEP_MIN 1e-7

/* Steps from a sample that could not be taken to the next. */
#define PUT_OFF 100

/* Most steps between two samples. */
#define GAP_MAX 1e9

size_t aps_sample_budget_class(size_t count)
{
    return aps_bucket(count, APS_SAMPLE_BUDGET_CLASS_BITS);
}

bool aps_sample_budget_is_due(struct aps_sample_budget *budget, size_t class,
                              long number)
{
    struct aps_sample_budget_class *this = &budget->list[class];

    if (!this->seen) {
        *this = (struct aps_sample_budget_class){.seen = true,
                                                 .first = number,
                                                 .sampled = -1,
                                                 .next = number + STEPS_BEFORE};
        budget->classes++;
    }
    return number == this->sampled || number >= this->next;
}

static double budget_spent(const struct aps_sample_budget *budget)
{
    double spent = 0;

    for (size_t i = 0; i < APS_SAMPLE_BUDGET_CLASSES; i++)
        spent += budget->list[i].spent;
    return spent;
}

static long budget_later(long number, long steps)
{
    return number < LONG_MAX - steps ? number + steps : LONG_MAX;
}

void aps_sample_budget_end(struct aps_sample_budget *budget, size_t class,
                           long number, double cost, double elapsed)
{
    struct aps_sample_budget_class *this = &budget->list[class];
    const double share = budget->share / budget->classes;
    const double steps =
        number > this->first ? (double)(number - this->first) : 1;
    double step, own, gap, even;

    if (number != this->sampled) {
        this->cost = 0;
        this->samples++;
    }
    this->sampled = number;
    this->cost += cost;
    this->spent += cost;
    own = elapsed - budget_spent(budget);
    if (!(own > steps * STEP_MIN))
        own = steps * STEP_MIN;
    step = own / steps;
    /* Plans the next sample from the debt; savings stay. */
    gap = ceil((this->spent + this->cost - share * own) / (share * step));
    even = floor(this->spent / (double)this->samples / (share * step));
    if (gap < even)
        gap = even;
    if (gap < 1)
        gap = 1;
    if (!(gap < GAP_MAX))
        gap = GAP_MAX;
    this->next = budget_later(number, (long)gap);
}

void aps_sample_budget_postpone(struct aps_sample_budget *budget, size_t class,
                                long number)
{
    struct aps_sample_budget_class *this = &budget->list[class];
    const long later = budget_later(number, PUT_OFF);

    /* Other layers of the step may have been sampled, and owe more. */
    if (this->next < later)
        this->next = later;
}
