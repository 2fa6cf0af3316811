/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "offline/layer_compressor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fpenv.h"
#include "block/plan_wire.h"
#include "compress/magnitudes.h"
#include "layer/layer_key.h"

const float *aps_layer_compressor_add(struct aps_layer_compressor *compressor,
                                      const float *x)
{
    (void)aps_magnitudes_add(x, compressor->memory, compressor->matrix.count,
                             compressor->delta);
    return compressor->delta;
}

uint64_t
aps_layer_compressor_number(const struct aps_layer_compressor *compressor)
{
    const struct aps_layer_key key = {
        .layer = compressor->key.layer,
        .count = compressor->key.count,
        .epoch = compressor->key.epoch,
        .number = compressor->key.step + (long)compressor->calls,
    };

    return aps_layer_key_number(&key);
}

/* Returns the rounds of a plan's compressor, or NULL. */
static const struct aps_compressor_rounds *
rounds_of(const struct aps_plan *plan)
{
    static const struct aps_compressor_rounds
        *const rows[APS_COMPRESSOR_KINDS] = {
            [APS_COMPRESSOR_NONE] = &aps_rounds_rounded,
            [APS_COMPRESSOR_POWERSGD] = &aps_rounds_powersgd,
            [APS_COMPRESSOR_MSTOPK] = &aps_rounds_selected,
            [APS_COMPRESSOR_TOPK] = &aps_rounds_selected,
            [APS_COMPRESSOR_THRESHOLD] = &aps_rounds_selected,
            [APS_COMPRESSOR_TERNARY] = &aps_rounds_ternary,
            [APS_COMPRESSOR_VOTE] = &aps_rounds_vote,
        };

    return rows[plan->compressor.kind];
}

/* Checks that the plan compresses its layer, in a way that has rounds. */
static int check_plan(const char *who, const struct aps_layer_plan *plan,
                      struct aps_error *error)
{
    if (aps_layer_plan_check(who, plan, error) < 0)
        return -1;
    if (!aps_plan_compresses(&plan->plan))
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: the plan does not compress a layer of %zu "
                             "elements; set compress or feedback, or a layer "
                             "that its compressor takes",
                             who, plan->key.count);
    if (!rounds_of(&plan->plan))
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: compressor %s has no rounds here; use "
                             "powersgd, mstopk, topk, threshold, ternary or "
                             "vote",
                             who, aps_compressor_name(&plan->plan.compressor));
    if (plan->plan.compressor.kind == APS_COMPRESSOR_NONE &&
        !plan->plan.format.self_scaled)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: feedback of format %s needs exponents on "
                             "which ranks agree; use a format in blocks, such "
                             "as sign/64",
                             who, plan->plan.format.name);
    if (aps_scale_state_bytes(&plan->plan.scale) > 0)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: scale %s keeps a state; use aps-tight, fixed "
                             "or none",
                             who, aps_scale_name(&plan->plan.scale));
    return 0;
}

int aps_layer_compressor_create(const struct aps_layer_plan *plan, int rank,
                                int ranks, struct aps_layer_compressor **made,
                                struct aps_error *error)
{
    static const char who[] = "aps_layer_compressor_create";
    struct aps_layer_compressor *new;
    size_t count;

    if (check_plan(who, plan, error) < 0)
        return -1;
    if (ranks < 1 || ranks > APS_TERNARY_RANKS || rank < 0 || rank >= ranks)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: rank %d of %d does not exist; ranks are 0 to "
                             "ranks - 1, of at most %d",
                             who, rank, ranks, APS_TERNARY_RANKS);
    new = calloc(1, sizeof *new);
    if (!new)
        return aps_error_set(error, ENOMEM, NULL, 0, 0, "out of memory");
    new->plan = plan->plan;
    new->key = plan->key;
    new->matrix = plan->plan.matrix;
    new->ops = rounds_of(&new->plan);
    new->rank = rank;
    new->ranks = ranks;
    aps_wire_of_plan(&new->plan, 0, &new->wire);
    new->wire.accumulate = APS_ACCUMULATE_FP32;
    count = new->matrix.count;
    if (new->plan.feedback)
        new->memory = calloc(count, sizeof *new->memory);
    new->delta = malloc(count * sizeof *new->delta);
    new->scratch = calloc(1, new->ops->scratch(new) + 1);
    if ((new->plan.feedback && !new->memory) || !new->delta || !new->scratch) {
        aps_layer_compressor_destroy(new);
        return aps_error_set(error, ENOMEM, NULL, 0, 0, "out of memory");
    }
    *made = new;
    return 0;
}

void aps_layer_compressor_destroy(struct aps_layer_compressor *compressor)
{
    if (!compressor)
        return;
    free(compressor->memory);
    free(compressor->delta);
    free(compressor->scratch);
    free(compressor);
}

int aps_layer_compressor_rounds(const struct aps_layer_compressor *compressor)
{
    return compressor->ops->rounds;
}

enum aps_message_kind
aps_layer_compressor_kind(const struct aps_layer_compressor *compressor,
                          int round)
{
    return compressor->ops->kinds[round < compressor->ops->rounds ? round : 0];
}

size_t aps_layer_compressor_bytes(const struct aps_layer_compressor *compressor)
{
    return compressor->ops->bytes(compressor);
}

float *aps_layer_compressor_memory(struct aps_layer_compressor *compressor)
{
    return compressor->memory;
}

int aps_layer_compressor_encode(struct aps_layer_compressor *compressor,
                                const float *x, void *message, size_t *bytes,
                                struct aps_error *error)
{
    static const char who[] = "aps_layer_compressor_encode";
    size_t written;
    fenv_t saved;

    if (!compressor || !message || !bytes || (!x && compressor->round == 0))
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: %s is NULL", who,
                             !compressor ? "compressor"
                             : !message  ? "message"
                             : !bytes    ? "bytes"
                                         : "x");
    if (compressor->encoded)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: round %d is encoded; decode its messages "
                             "first",
                             who, compressor->round);
    aps_fpenv_enter(&saved);
    written = compressor->ops->encode(compressor, x, message);
    aps_fpenv_leave(&saved);
    if (written == 0)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: the layer, or its error memory, has a value "
                             "that is not finite; reduce it in FP32",
                             who);
    compressor->encoded = true;
    *bytes = written;
    return 0;
}

void aps_layer_compressor_restart(struct aps_layer_compressor *compressor)
{
    compressor->encoded = false;
    compressor->round = 0;
    compressor->warm = false; /* ranks that have begun hold another Q */
}

/* Ends the call: its residuals become the error memory. */
static void end_call(struct aps_layer_compressor *compressor)
{
    if (compressor->memory) {
        float *memory = compressor->memory;

        memcpy(memory, compressor->delta,
               compressor->matrix.count * sizeof *memory);
    }
    compressor->calls++;
}

int aps_layer_compressor_decode(struct aps_layer_compressor *compressor,
                                int count, const void *const messages[],
                                const size_t bytes[], float *y,
                                struct aps_error *error)
{
    static const char who[] = "aps_layer_compressor_decode";
    const struct aps_round round = {count, messages, bytes};
    bool last, together;
    int result;
    fenv_t saved;

    if (!compressor || !messages || !bytes)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: %s is NULL", who,
                             !compressor ? "compressor"
                             : !messages ? "messages"
                                         : "bytes");
    last = compressor->round == compressor->ops->rounds - 1;
    together = count == 1 &&
               compressor->ops->kinds[compressor->round] != APS_MESSAGE_BYTES;
    if (!compressor->encoded || (last && !y))
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: %s", who,
                             compressor->encoded
                                 ? "y is NULL in the last round"
                                 : "no message of this round is encoded yet");
    if (count != compressor->ranks && !together)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: there are %d messages, and %d ranks", who,
                             count, compressor->ranks);
    aps_fpenv_enter(&saved);
    result = compressor->ops->decode(compressor, &round, y);
    aps_fpenv_leave(&saved);
    if (result == 0 && last)
        end_call(compressor);
    compressor->encoded = false;
    compressor->round = last || result < 0 ? 0 : compressor->round + 1;
    if (result < 0)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: a message is damaged, or its values are not "
                             "finite",
                             who);
    return 0;
}
