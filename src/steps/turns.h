/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the steps of a program that trains several networks alternately, for example
 * 20 steps of one and then 20 of another.
 */
#ifndef APS_STEPS_TURNS_H
#define APS_STEPS_TURNS_H

#include <stddef.h>

#define APS_TURNS_NETWORKS 4 /* most networks that are told apart */

/*
 * Finds the networks of `calls` calls of counts[i] elements, in order. A network's
 * step repeats three times at least in each of its turns, and all calls must belong
 * to such turns, four of them at least; steps of less than `least` elements, as of
 * an evaluation, are left out. Writes the calls of the networks' steps, one after
 * another, to layers[most], and the end of each to `ends`. Returns the number of
 * networks, or 0 if there are not several.
 */
int aps_turns_find(const size_t *counts, long calls, size_t least,
                   size_t *layers, long most, long ends[APS_TURNS_NETWORKS]);

#endif
