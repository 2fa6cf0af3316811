/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guesses, from the sizes of calls, with which layer of a network the calls of
 * a step begin.
 */
#ifndef APS_STEPS_LAYER_ORDER_H
#define APS_STEPS_LAYER_ORDER_H

#include <stddef.h>

enum aps_layer_order {
    APS_LAYER_ORDER_UNKNOWN,
    APS_LAYER_ORDER_FORWARD, /* the first */
    APS_LAYER_ORDER_BACKWARD /* the last */
};

/*
 * Guesses from two properties of networks. A bias belongs to weights, which
 * have more elements, and follows them, so that calls that begin with a bias
 * and end with weights come in reverse. And weights have as many columns as the
 * previous layer has outputs, and so biases. `counts` are the elements of the
 * calls of a step.
 */
enum aps_layer_order aps_layer_order_of(const size_t *counts, long calls);

#endif
