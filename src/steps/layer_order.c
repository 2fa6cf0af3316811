/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "steps/layer_order.h"

/* Weights, and the biases (or scales and biases of a normalisation) after
 * them. */
struct group {
    size_t weights;
    size_t outputs; /* elements of each bias; 0: there is none */
};

/* True if the weights can have that bias: it has one element for each output. */
static int order_is_bias(size_t bias, size_t weights)
{
    return bias > 0 && bias < weights && weights % bias == 0;
}

/* Reads the group that begins with call i; returns the start of the next
 * one. */
static long order_group(const size_t *counts, long calls, long i,
                        struct group *group)
{
    const size_t bias = i + 1 < calls ? counts[i + 1] : 0;

    *group = (struct group){.weights = counts[i]};
    i++;
    if (!order_is_bias(bias, group->weights))
        return i;
    group->outputs = bias;
    while (i < calls && counts[i] == bias)
        i++;
    return i;
}

/* True if weights of a layer with these outputs can follow a layer with
 * those. */
static int order_fits(const struct group *group, const struct group *previous)
{
    return group->outputs > 0 && previous->outputs > 0 &&
           group->weights % group->outputs == 0 &&
           group->weights / group->outputs % previous->outputs == 0;
}

/* Returns a vote: below 0 for calls that end with weights and begin with a
 * bias, above 0 for calls that begin with weights and end with a bias. */
static int order_of_ends(const size_t *counts, long calls)
{
    const size_t *last = &counts[calls - 1];

    return order_is_bias(counts[1], counts[0]) -
           order_is_bias(counts[0], counts[1]) +
           order_is_bias(last[0], last[-1]) - order_is_bias(last[-1], last[0]);
}

enum aps_layer_order aps_layer_order_of(const size_t *counts, long calls)
{
    struct group group, previous = {0};
    long forward = 0;

    if (calls < 2)
        return APS_LAYER_ORDER_UNKNOWN;
    if (order_of_ends(counts, calls) < 0)
        return APS_LAYER_ORDER_BACKWARD;
    for (long i = 0; i < calls; previous = group) {
        i = order_group(counts, calls, i, &group);
        forward += order_fits(&group, &previous);
        forward -= order_fits(&previous, &group);
    }
    return forward > 0   ? APS_LAYER_ORDER_FORWARD
           : forward < 0 ? APS_LAYER_ORDER_BACKWARD
                         : APS_LAYER_ORDER_UNKNOWN;
}
