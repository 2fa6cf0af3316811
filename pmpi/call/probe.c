/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/probe.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fpenv.h"
#include "base/message.h"
#include "call/collective.h"
#include "comm/comm_queue.h"
#include "comm/context.h"
#include "comm/report.h"
#include "device/memory_relay.h"
#include "message/agree.h"

/* Codes of summands; the probe adds each to each. As bf16 and as fp16 they have
 * zeros of both signs, subnormals, ones, neighbours whose sums carry or are halfway
 * between two values, the greatest values, INF and NaN. */
static const uint16_t codes[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x0003, 0x007f, 0x0080, 0x03ff, 0x0400,
    0x3c00, 0xbc00, 0x3c01, 0x3c03, 0x3f80, 0xbf80, 0x3f81, 0x3f83, 0x4049,
    0xc2f7, 0x4b7f, 0x3b80, 0x1234, 0x9234, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
    0x7e00, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x5555, 0xd5d5};
#define CODES ((int)(sizeof codes / sizeof *codes))
#define PAIRS (CODES * CODES)

/* --- a candidate ------------------------------------------------------------ */

static bool probe_has_two_bytes(MPI_Datatype type)
{
    MPI_Count size, low, extent;

    return type != MPI_DATATYPE_NULL &&
           PMPI_Type_size_x(type, &size) == MPI_SUCCESS && size == 2 &&
           PMPI_Type_get_extent_x(type, &low, &extent) == MPI_SUCCESS &&
           low == 0 && extent == 2;
}

bool aps_probe_is_due(const struct aps_job *job,
                      const struct aps_call_arguments *arguments)
{
    int commutes = 0;

    return aps_policy_probes(aps_job_policy(job)) &&
           arguments->form != APS_PERSISTENT &&
           aps_abi_is_own_op(arguments->op) &&
           probe_has_two_bytes(arguments->type) &&
           PMPI_Op_commutative(arguments->op, &commutes) == MPI_SUCCESS &&
           commutes;
}

/* --- the probe -------------------------------------------------------------- */

/* True if these are the sums of the pairs, each rounded to nearest even or toward zero.
 * Any NaN is as good as another. */
static bool probe_agrees(const struct aps_memory *memory, bool truncates,
                         const uint16_t sums[PAIRS])
{
    float values[CODES], exact[PAIRS], nearest[PAIRS];
    uint16_t wanted[PAIRS];
    bool agrees = true;

    memory->copy_out(values, codes, CODES);
    for (int i = 0; i < PAIRS; i++)
        exact[i] = values[i / CODES] + values[i % CODES];
    memory->copy_in(wanted, exact, PAIRS);
    memory->copy_out(nearest, wanted, PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        /* the next code toward zero; that of INF is the greatest value */
        if (truncates &&
            __builtin_fabsf(nearest[i]) > __builtin_fabsf(exact[i]))
            wanted[i]--;
    }
    memory->copy_out(nearest, sums, PAIRS);
    for (int i = 0; i < PAIRS; i++)
        agrees &= exact[i] != exact[i] ? nearest[i] != nearest[i]
                                       : sums[i] == wanted[i];
    return agrees;
}

enum aps_element aps_probe(MPI_Datatype type, MPI_Op op, bool *truncates)
{
    static const enum aps_element candidates[] = {APS_ELEMENT_BF16,
                                                  APS_ELEMENT_FP16};
    uint16_t in[PAIRS], sums[PAIRS];

    for (int i = 0; i < PAIRS; i++) {
        in[i] = codes[i / CODES];
        sums[i] = codes[i % CODES];
    }
    if (PMPI_Reduce_local(in, sums, PAIRS, type, op) != MPI_SUCCESS)
        return APS_ELEMENT_NONE;
    for (size_t i = 0; i < 2 * sizeof candidates / sizeof *candidates; i++) {
        *truncates = i % 2;
        if (probe_agrees(aps_memory_relay(candidates[i / 2]), *truncates, sums))
            return candidates[i / 2];
    }
    return APS_ELEMENT_NONE;
}

/* Reports the first operation of each kind. */
static void probe_report(struct aps_context *context, enum aps_element element,
                         bool truncates)
{
    static atomic_flag told[2 * APS_ELEMENTS + 1];
    const int kind = element == APS_ELEMENT_NONE ? 2 * APS_ELEMENTS
                                                 : 2 * (int)element + truncates;

    if (atomic_flag_test_and_set(&told[kind]))
        return;
    if (element == APS_ELEMENT_NONE)
        aps_context_event(
            context, "an operation of the program on elements of two bytes "
                     "adds neither bf16 nor fp16: MPI carries it out");
    else
        aps_context_event(context,
                          "an operation of the program sums %s and rounds each "
                          "addition %s: the library treats it as MPI_SUM",
                          aps_element_types[element].name,
                          truncates ? "toward zero" : "to nearest even");
}

/* COLLECTIVE. Compares what the ranks have found; *element becomes
 * APS_ELEMENT_NONE, and *differs true, unless all have found the same. Returns an MPI
 * error code. */
static int probe_compare(struct aps_context *context, bool truncates,
                         enum aps_element *element, bool *differs)
{
    int values[2] = {(int)*element, -(int)*element}, rc;

    rc = aps_agree_max(aps_comm_resources_vcomm(context->resources), 2, values);
    *differs = values[0] != -values[1];
    if (*differs)
        *element = APS_ELEMENT_NONE;
    if (rc == MPI_SUCCESS && !*differs)
        probe_report(context, *element, truncates);
    return rc;
}

static enum aps_element probe_call(const struct aps_call *call, bool *truncates)
{
    enum aps_element element;
    fenv_t environment;

    aps_fpenv_enter(&environment);
    element = aps_probe(call->arguments.type, call->arguments.op, truncates);
    aps_fpenv_leave(&environment);
    return element;
}

bool aps_probe_agree(struct aps_call *call)
{
    struct aps_context *context = call->context;
    bool truncates = false, differs;
    int rc;

    if (!aps_context_has_resources(context, call->arguments.comm)) {
        call->reason = APS_PASSED_RESOURCES;
        return false;
    }
    call->element = probe_call(call, &truncates);
    rc = probe_compare(context, truncates, &call->element, &differs);
    call->rc = aps_context_fail(context, aps_call_function(call), rc);
    return call->rc == MPI_SUCCESS &&
           aps_call_takes(context->job, call->element);
}

/* --- nonblocking calls ------------------------------------------------------ */

/* The type that this rank has found, until the ranks compare it in the queue. */
struct probe_waiting {
    struct aps_operation operation;
    struct aps_context *context;
    const char *function;
    enum aps_element element;
    bool truncates;
};

/* COLLECTIVE. Ranks that have found a sum carry out the call next, by messages of the
 * library; the others have given it to MPI. */
static void probe_take_turn(struct aps_operation *operation)
{
    struct probe_waiting *this = operation->owner;
    struct aps_context *context = this->context;
    const enum aps_element found = this->element;
    bool differs;
    int rc;

    if (context->failed == MPI_SUCCESS &&
        context->resources_state == APS_RESOURCES_READY) {
        rc = probe_compare(context, this->truncates, &this->element, &differs);
        if (rc == MPI_SUCCESS && differs) {
            aps_message(
                aps_job_rank(),
                "%s on %s: an operation of the program adds %s on this rank, "
                "and something else on another",
                this->function, context->label,
                found == APS_ELEMENT_NONE ? "neither bf16 nor fp16"
                                          : aps_element_types[found].name);
            rc = MPI_ERR_OP;
        }
        (void)aps_context_fail(context, this->function, rc);
    }
    free(this);
}

bool aps_probe_start(struct aps_call *call)
{
    struct aps_context *context = call->context;
    struct probe_waiting *this = NULL;
    bool truncates = false;

    call->element = probe_call(call, &truncates);
    if (context->failed != MPI_SUCCESS) /* the call ends with this error */
        return aps_call_takes(context->job, call->element);
    call->rc = aps_context_make_queue(context, call->arguments.comm);
    call->handler_called = call->rc != MPI_SUCCESS;
    if (call->rc == MPI_SUCCESS && !(this = malloc(sizeof *this)))
        call->rc =
            aps_context_fail(context, aps_call_function(call), MPI_ERR_NO_MEM);
    if (!this)
        return false;
    *this = (struct probe_waiting){
        .operation = {.owner = this, .run = probe_take_turn},
        .context = context,
        .function = aps_call_function(call),
        .element = call->element,
        .truncates = truncates,
    };
    aps_queue_push(context->queue, &this->operation);
    aps_progress_thread_notice();
    return aps_call_takes(context->job, call->element);
}
