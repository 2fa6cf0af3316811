/* SPDX-License-Identifier: BSD-3-Clause */
/* The scale of a plan as an object of aps_policy.h. */
#include "config.h"

#include "offline/layer_plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fpenv.h"
#include "block/plan_wire.h"
#include "layer/scale_states.h"
#include "number/check.h"
#include "number/struct_version.h"
#include "scale/exponent.h"

struct aps_scaler {
    struct aps_plan plan;
    struct aps_wire wire;
    int ranks;
    struct aps_scale_state *state; /* owned; its memory is empty if the scale
                                      keeps no state */
};

/* --- structs of programs --------------------------------------------------- */

static int facts_read(const char *who, const struct aps_scaler_facts *given,
                      struct aps_scaler_facts *facts, struct aps_error *error)
{
    static const struct aps_scaler_facts defaults = APS_SCALER_FACTS_INIT;
    static const struct aps_struct_version version = {
        .name = "aps_scaler_facts",
        .init = "APS_SCALER_FACTS_INIT",
        .first = sizeof defaults,
        .size = sizeof defaults,
        .defaults = &defaults,
    };

    if (!given)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: facts is NULL",
                             who);
    return aps_struct_version_read(who, &version, given, facts, error);
}

static struct aps_scale_moments
facts_moments(const struct aps_scaler_facts *facts)
{
    return (struct aps_scale_moments){
        .max = facts->max,
        .n = facts->n,
        .sum = facts->sum,
        .sum_squares = facts->sum_squares,
        .nonzero = facts->nonzero,
        .sum_log = facts->sum_log,
        .sum_log_squares = facts->sum_log_squares,
    };
}

/* Adds an exponent and moments to *facts. */
static void facts_add(struct aps_scaler_facts *facts, int32_t max_exponent,
                      const struct aps_scale_moments *term)
{
    struct aps_scale_moments moments = facts_moments(facts);

    aps_scale_moments_add(&moments, term);
    if (max_exponent > facts->max_exponent)
        facts->max_exponent = max_exponent;
    facts->max = moments.max;
    facts->n = moments.n;
    facts->sum = moments.sum;
    facts->sum_squares = moments.sum_squares;
    facts->nonzero = moments.nonzero;
    facts->sum_log = moments.sum_log;
    facts->sum_log_squares = moments.sum_log_squares;
}

int aps_scaler_merge(struct aps_scaler_facts *facts,
                     const struct aps_scaler_facts *term,
                     struct aps_error *error)
{
    struct aps_scaler_facts sum, read;
    struct aps_scale_moments moments;

    if (facts_read("aps_scaler_merge", facts, &sum, error) < 0 ||
        facts_read("aps_scaler_merge", term, &read, error) < 0)
        return -1;
    moments = facts_moments(&read);
    facts_add(&sum, read.max_exponent, &moments);
    *facts = sum;
    return 0;
}

/* --- scalers --------------------------------------------------------------- */

int aps_scaler_create(const struct aps_layer_plan *plan, int ranks,
                      struct aps_scaler **scaler, struct aps_error *error)
{
    struct aps_scaler *made;

    if (aps_layer_plan_check("aps_scaler_create", plan, error) < 0)
        return -1;
    if (ranks < 1)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "aps_scaler_create: ranks is %d and must be at "
                             "least 1",
                             ranks);
    made = calloc(1, sizeof *made);
    if (made)
        made->state = calloc(1, sizeof *made->state +
                                    aps_scale_state_bytes(&plan->plan.scale));
    if (!made || !made->state) {
        free(made);
        return aps_error_set(error, ENOMEM, NULL, 0, 0, "out of memory");
    }
    made->plan = plan->plan;
    made->ranks = ranks;
    aps_wire_of_plan(&made->plan, 0, &made->wire);
    *scaler = made;
    return 0;
}

void aps_scaler_destroy(struct aps_scaler *scaler)
{
    if (!scaler)
        return;
    free(scaler->state);
    free(scaler);
}

static enum aps_scale_question scaler_question(const struct aps_scaler *scaler)
{
    return aps_scale_question(&scaler->plan.scale, scaler->state->memory);
}

bool aps_scaler_asks(const struct aps_scaler *scaler)
{
    const struct aps_scale_ops *ops = aps_scale_ops_of(&scaler->plan.scale);

    return ops->agreed || ops->per_block ||
           scaler_question(scaler) != APS_QUESTION_NONE;
}

int aps_scaler_measure(const struct aps_scaler *scaler, const float *x,
                       size_t n, struct aps_scaler_facts *facts,
                       struct aps_error *error)
{
    static const char who[] = "aps_scaler_measure";
    struct aps_scaler_facts read;
    struct aps_scale_moments moments;
    float max;
    fenv_t saved;

    if (!scaler || (!x && n > 0))
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: %s is NULL", who,
                             scaler ? "x" : "scaler");
    if (aps_check_count(who, "n", n, error) < 0 ||
        facts_read(who, facts, &read, error) < 0)
        return -1;
    aps_fpenv_enter(&saved);
    max = aps_max_finite(x, n);
    moments = scaler_question(scaler) == APS_QUESTION_NONE
                  ? (struct aps_scale_moments){.max = (double)max}
                  : aps_scale_moments_of(x, n, scaler_question(scaler));
    facts_add(&read, aps_scale_max_exponent(max, scaler->ranks), &moments);
    aps_fpenv_leave(&saved);
    *facts = read;
    return 0;
}

/* Returns the exponent of a stage, or of a block, with these facts. */
static int scaler_agreed(const struct aps_scaler *scaler,
                         const struct aps_scaler_facts *facts)
{
    const struct aps_block block = {
        .exponent = aps_wire_stage_exponent(&scaler->wire, facts->max_exponent),
    };
    const struct aps_magnitude magnitude = {(float)facts->max, true};

    return aps_scale_ops_of(&scaler->plan.scale)->per_block
               ? aps_block_meta_of(&scaler->wire, &block, magnitude).exponent
               : block.exponent;
}

/* Gets the exponent of a scale without a state. */
static int scaler_stateless(const struct aps_scaler *scaler,
                            const struct aps_scaler_facts *facts, int *exponent,
                            struct aps_error *error)
{
    const struct aps_scaling scaling =
        aps_scale_scaling(&scaler->plan.scale, scaler_agreed(scaler, facts));

    if (scaling.factor != 1)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "aps_scaler_exponent: scale fixed %g is not a "
                             "power of two, and has no exponent; choose %g",
                             aps_scale_value(&scaler->plan.scale, 0),
                             ldexp(1, scaling.exponent));
    *exponent = scaling.exponent;
    return 0;
}

int aps_scaler_exponent(struct aps_scaler *scaler,
                        const struct aps_scaler_facts *given, int *exponent,
                        int *sum_exponent, struct aps_error *error)
{
    static const char who[] = "aps_scaler_exponent";
    struct aps_scaler_facts facts = APS_SCALER_FACTS_INIT;
    const struct aps_scale *scale;
    struct aps_scale_prediction prediction;

    if (!scaler || !exponent || !sum_exponent)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: %s is NULL", who,
                             !scaler     ? "scaler"
                             : !exponent ? "exponent"
                                         : "sum_exponent");
    if (!given && aps_scaler_asks(scaler))
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: scale %s needs facts of the values; call "
                             "aps_scaler_measure first",
                             who, aps_scale_name(&scaler->plan.scale));
    if (given && facts_read(who, given, &facts, error) < 0)
        return -1;
    scale = &scaler->plan.scale;
    if (aps_scale_state_bytes(scale) == 0) {
        if (scaler_stateless(scaler, &facts, exponent, error) < 0)
            return -1;
        *sum_exponent = *exponent;
        return 0;
    }
    if (scaler_question(scaler) != APS_QUESTION_NONE) {
        const struct aps_scale_moments moments = facts_moments(&facts);

        aps_scale_learn(scale, scaler->state->memory,
                        aps_scale_state_format(&scaler->plan), scaler->ranks,
                        &moments);
    }
    prediction =
        aps_scale_state_predict(scaler->state, &scaler->plan, scaler->ranks);
    *exponent = prediction.exponent;
    *sum_exponent = prediction.sum_exponent;
    return 0;
}

bool aps_scaler_overflows(const struct aps_scaler *scaler, float max,
                          int exponent)
{
    return aps_scale_overflows(&scaler->plan.format, max, exponent,
                               scaler->plan.rounding);
}

int aps_scaler_update(struct aps_scaler *scaler,
                      const struct aps_scaler_record *record,
                      struct aps_error *error)
{
    static const char who[] = "aps_scaler_update";
    static const struct aps_scaler_record defaults = APS_SCALER_RECORD_INIT;
    static const struct aps_struct_version version = {
        .name = "aps_scaler_record",
        .init = "APS_SCALER_RECORD_INIT",
        .first = sizeof defaults,
        .size = sizeof defaults,
        .defaults = &defaults,
    };
    struct aps_scaler_record read;

    if (!scaler || !record)
        return aps_error_set(error, EINVAL, NULL, 0, 0, "%s: %s is NULL", who,
                             scaler ? "record" : "scaler");
    if (aps_struct_version_read(who, &version, record, &read, error) < 0)
        return -1;
    if (aps_scale_state_bytes(&scaler->plan.scale) > 0)
        aps_scale_update(&scaler->plan.scale, scaler->state->memory,
                         aps_scale_state_format(&scaler->plan), scaler->ranks,
                         &(struct aps_scale_record){
                             .in_max = read.in_max,
                             .sum_max = read.sum_max,
                             .over = read.over,
                             .nonfinite = read.nonfinite,
                         });
    return 0;
}

/* --- saved states ----------------------------------------------------------- */

/* Precedes the bytes of a saved state. */
struct saved {
    char magic[8];
    int32_t version; /* aps_version() */
    int32_t ranks;
    char format[64];
    struct aps_scale scale;
};

/* Fills in what the state of a scaler begins with, without padding. */
static void saved_of(const struct aps_scaler *scaler, struct saved *saved)
{
    memset(saved, 0, sizeof *saved);
    memcpy(saved->magic, "apsscale", sizeof saved->magic);
    saved->version = aps_version();
    saved->ranks = scaler->ranks;
    strncpy(saved->format, aps_scale_state_format(&scaler->plan)->name,
            sizeof saved->format - 1);
    saved->scale.kind = scaler->plan.scale.kind;
    memcpy(saved->scale.parameters, scaler->plan.scale.parameters,
           sizeof saved->scale.parameters);
}

size_t aps_scaler_save(const struct aps_scaler *scaler, void *bytes,
                       size_t size)
{
    const size_t state = aps_scale_state_bytes(&scaler->plan.scale);
    struct saved saved;

    if (size >= sizeof saved + state) {
        saved_of(scaler, &saved);
        memcpy(bytes, &saved, sizeof saved);
        memcpy((unsigned char *)bytes + sizeof saved, scaler->state->memory,
               state);
    }
    return sizeof saved + state;
}

int aps_scaler_load(struct aps_scaler *scaler, const void *bytes, size_t size,
                    struct aps_error *error)
{
    static const char who[] = "aps_scaler_load";
    const size_t state = aps_scale_state_bytes(&scaler->plan.scale);
    struct saved saved, own;

    if (!bytes || size != sizeof saved + state)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: %zu bytes are not a state of scale %s, which "
                             "takes %zu",
                             who, bytes ? size : 0,
                             aps_scale_name(&scaler->plan.scale),
                             sizeof saved + state);
    memcpy(&saved, bytes, sizeof saved);
    saved_of(scaler, &own);
    if (memcmp(&saved, &own, sizeof saved) != 0)
        return aps_error_set(error, EINVAL, NULL, 0, 0,
                             "%s: the state is of another scale, parameter, "
                             "format, number of ranks or version of the "
                             "library",
                             who);
    memcpy(scaler->state->memory, (const unsigned char *)bytes + sizeof saved,
           state);
    return 0;
}
