/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "call/deferred.h"

#include <stdlib.h>

#include "base/message.h"
#include "base/plural.h"
#include "call/auto_format.h"
#include "call/kind.h"
#include "call/pass.h"
#include "comm/report.h"
#include "message/wait.h"

void aps_deferred_complete(struct aps_deferred *deferred, int rc)
{
    if (deferred->call.arguments.collective->release)
        deferred->call.arguments.collective->release(&deferred->call.arguments);
    aps_request_complete(deferred->request, rc);
    free(deferred);
}

/*
 * COLLECTIVE. The plan was made before anybody knew whether it can be carried
 * out. If it cannot, `direct` takes its place, which needs nothing but memory.
 */
static bool deferred_is_possible(struct aps_context *context,
                                 const struct aps_call *call,
                                 struct aps_plan *plan)
{
    if (aps_segment_is_possible(context, call, plan))
        return true;
    plan->reduce = APS_REDUCE_DIRECT;
    return context->failed == MPI_SUCCESS &&
           aps_segment_is_possible(context, call, plan);
}

/* COLLECTIVE. One layer that is rewritten, or where that needs the ranks'
 * agreement and has it not, only carried (*passed). */
static int deferred_run_segment(struct aps_deferred *this,
                                struct aps_segment *segment, bool *passed)
{
    struct aps_context *context = this->context;
    const struct aps_call *call = &this->call;
    int rc;

    segment->memory = aps_segment_memory(context, call);
    if (segment->plan.auto_format) {
        const unsigned long before = aps_context_failures();

        aps_auto_format_run(context, call, segment);
        this->failures += aps_context_failures() - before;
    }
    if (!deferred_is_possible(context, call, &segment->plan))
        return aps_context_fail(context, aps_call_function(call),
                                MPI_ERR_NO_MEM);
    if (aps_segment_agree(context, call, segment))
        return aps_segment_run(context, call, segment);
    *passed = true;
    rc = call->arguments.collective->run_unchanged(context, call, segment);
    return aps_context_fail(context, aps_call_function(call), rc);
}

/* COLLECTIVE. The layers that are rewritten. On to the end, whatever happens:
 * what cannot be carried out cannot on any rank. */
static int deferred_run_layers(struct aps_deferred *this)
{
    struct aps_context *context = this->context;
    struct aps_sent sent = {0};
    size_t offset = 0;
    bool passed = false;
    int first = MPI_SUCCESS;

    for (long i = 0; i < this->position.segments; i++) {
        struct aps_segment segment;
        int rc;

        aps_segment_plan(context, &this->call, &this->position, i, offset,
                         &segment);
        offset += segment.count;
        if (!segment.plan.rewrite) {
            sent.passed += segment.count;
            continue;
        }
        rc = deferred_run_segment(this, &segment, &passed);
        aps_sent_add(&sent, &segment);
        first = first == MPI_SUCCESS ? rc : first;
    }
    if (passed) {
        aps_call_count_passed(&this->call, APS_PASSED_OTHER);
        return first;
    }
    aps_sent_count(&sent, aps_call_counters(&this->call));
    aps_count(&aps_call_counters(&this->call)->rewritten, 1);
    aps_count(&aps_call_counters(&this->call)->nonblocking, 1);
    return first;
}

void aps_deferred_run(struct aps_deferred *this)
{
    struct aps_context *context = this->context;
    int rc = context->failed;
    int passed = MPI_SUCCESS;

    if (rc == MPI_SUCCESS && context->resources_state != APS_RESOURCES_READY)
        rc = MPI_ERR_OTHER;
    this->failures = aps_context_failures();
    if (rc == MPI_SUCCESS)
        rc = deferred_run_layers(this);
    else
        aps_call_count_passed(&this->call, APS_PASSED_RESOURCES);
    if (rc == MPI_SUCCESS)
        rc = aps_call_check(context, &this->call, this->failures);
    if (rc == MPI_SUCCESS)
        rc = context->failed;
    if (this->parts > 0)
        passed = aps_wait_requests(this->parts, this->requests);
    if (rc == MPI_SUCCESS)
        rc = this->rc != MPI_SUCCESS ? this->rc : passed;
    aps_deferred_complete(this, rc);
}
