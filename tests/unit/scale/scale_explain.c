/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts about scales with a state: explanations, and warnings against choices. */
#include "config.h"

#include "scale/scale.h"

#include <string.h>

#include "number/parse.h"
#include "scale/explain.h"
#include "scale/history.h"
#include "tests/tap/tap.h"

static const struct aps_scale backoff = {
    APS_SCALE_BACKOFF, {0x1p14, 0x1p14, 1, 2, 2000, 0, APS_SCOPE_MODEL}};
static const struct aps_scale logmax = {
    APS_SCALE_LOGMAX, {3.09, 0x1p14, 1, 0.99, 0.999, APS_OVERFLOW_INF}};
static const struct aps_scale underflow = {APS_SCALE_UNDERFLOW,
                                           {0, 1e-3, 100, 1}};
static const struct aps_scale unit = {APS_SCALE_UNIT, {0, 1}};
static const struct aps_scale table = {APS_SCALE_UNIT, {APS_UNIT_TABLE, 1}};
static const struct aps_scale autoflex = {
    APS_SCALE_AUTOFLEX, {16, 2, 3, 100, APS_OVERFLOW_SATURATE}};
static const struct aps_scale delayed = {APS_SCALE_DELAYED, {1024, 1, 0}};
static const struct aps_scale dfxp = {APS_SCALE_DFXP, {100, APS_OVERFLOW_ZERO}};

static struct aps_format parsed(const char *name)
{
    struct aps_format format;

    if (aps_format_parse(name, &format, NULL) < 0)
        bail_out("no format %s", name);
    return format;
}

static void says(const struct aps_scale *scale, const char *name,
                 const char *text)
{
    const struct aps_format format = parsed(name);
    char got[APS_SCALE_TEXT_MAX];

    is(aps_scale_explain(scale, &format, true, got, sizeof got), text,
       "%s in %s", aps_scale_name(scale), name);
}

/* No step is known. */
static void says_of_calls(const struct aps_scale *scale, const char *text)
{
    const struct aps_format format = parsed("e5m2");
    char got[APS_SCALE_TEXT_MAX];

    is(aps_scale_explain(scale, &format, false, got, sizeof got), text,
       "%s where no step is known", aps_scale_name(scale));
}

#define LAYERS " Each layer has a scale of its own."
#define REDO " A chunk in which a value overflows is reduced again with aps."

static void test_texts(void)
{
    says(&backoff, "e4m3",
         "The scale starts at 2^14. A step in which a value overflows divides "
         "it by 2, and 2000 steps without an overflow multiply it by 2, within "
         "1 ... 2^14. All layers of the rule share the scale." REDO);
    says(&logmax, "e5m10",
         "The first 2 calls have the scale of aps. From then on 65504, the "
         "largest value of e5m10, stands for the mean of the logarithms of the "
         "calls' greatest magnitudes plus 3.09 standard deviations, and the "
         "scale stays within 1 ... 2^14." LAYERS
         " A value that overflows arrives as INF.");
    says(&underflow, "e4m3",
         "At the first call of a layer, every 100 calls and after an overflow "
         "the ranks exchange the mean and the standard deviation of its "
         "values. If the distribution is normal, 0.1 % of the scaled values "
         "are below 0.00195312, the smallest value of e4m3. The scale is at "
         "least 1, but never so great that the sum of the ranks may "
         "overflow." LAYERS REDO);
    says(&unit, "e5m2",
         "The first call of a layer has the scale of aps, and the ranks "
         "exchange the mean square of the layer's values. From then on the "
         "scale is constant, and the root of that mean square becomes "
         "1." LAYERS REDO);
    says(&table, "e5m2",
         "The scale is constant, and the standard deviation that the layer "
         "table gives becomes 1." LAYERS REDO);
    says(&autoflex, "flex16",
         "The first call of a layer has the scale of aps. From then on 2 times "
         "the sum of the greatest of the last 16 maxima and 3 of their "
         "standard deviations becomes at most 32768. Contributions and sums "
         "have scales of their own where sums are FP32." LAYERS
         " A value that overflows arrives as the largest one.");
    says(&delayed, "e4m3",
         "The first call of a layer has the scale of aps. From then on the "
         "greatest magnitude of the last 1024 calls becomes at most 120. "
         "Contributions and sums have scales of their own where sums are "
         "FP32." LAYERS REDO);
    says(&dfxp, "flex8",
         "The first call of a layer has the scale of aps. A call in which a "
         "value overflows halves the scale, and 100 calls in which twice the "
         "scale would have caused no overflow double it. Contributions and "
         "sums have scales of their own where sums are FP32." LAYERS
         " A layer in which a value overflows arrives as zeros.");
    says(&(struct aps_scale){.kind = APS_SCALE_APS}, "e4m3", "");
    says_of_calls(&table,
                  "The scale is constant, and the standard deviation that the "
                  "layer table gives becomes 1. The policy looks for no "
                  "steps: all layers of the same size share a scale (with "
                  "'steps: auto' beside 'rules', each has its own)." REDO);
}

/* Scales that are not powers of two. */
static void test_powers(void)
{
    struct aps_scale odd = {APS_SCALE_BACKOFF, {3, 3, 1, 2, 10}};

    odd.parameters[APS_BACKOFF_SCOPE] = APS_SCOPE_LAYER;
    says(&odd, "e4m3",
         "The scale starts at 3. A call in which a value overflows divides it "
         "by 2, and 10 calls without an overflow multiply it by 2, within 1 "
         "... 3. Values are multiplied by the power of two at or below the "
         "scale: by 2 at first." LAYERS REDO);
    odd.parameters[APS_BACKOFF_START] = 4;
    odd.parameters[APS_BACKOFF_MAX] = 4;
    odd.parameters[APS_BACKOFF_FACTOR] = 1.5;
    says(&odd, "e4m3",
         "The scale starts at 4. A call in which a value overflows divides it "
         "by 1.5, and 10 calls without an overflow multiply it by 1.5, within "
         "1 ... 4. Values are multiplied by the power of two at or below the "
         "scale: by 4 at first." LAYERS REDO);
}

static void doubts(const struct aps_scale *scale, const char *name,
                   const char *text)
{
    const struct aps_format format = parsed(name);
    char got[APS_SCALE_TEXT_MAX] = "";
    const bool doubt = aps_scale_warning(scale, &format, got, sizeof got);

    ok(doubt == (text[0] != '\0'), "%s in %s is %s", aps_scale_name(scale),
       name, text[0] ? "doubtful" : "all right");
    is(got, text, "... with the cause");
}

static void test_doubts(void)
{
    struct aps_scale ends = unit;

    doubts(&unit, "e3m0",
           "with scale unit, values beyond 8 standard deviations overflow in "
           "e3m0, and a large layer has some at every call");
    doubts(&unit, "e4m3", "");
    doubts(&unit, "e5m2", "");
    doubts(&underflow, "e3m2",
           "format e3m2, 0.0625 ... 14, is too narrow for scale underflow: its "
           "bound against an overflow of the sum decides, so that it is the "
           "scale of aps, or twice that");
    doubts(&underflow, "e4m3", "");
    doubts(&backoff, "e3m0",
           "scale backoff starts at 2^14, with which values from 0.00049 on "
           "overflow in e3m0: the largest value is 8; set max to less");
    doubts(&backoff, "e4m3", "");
    doubts(&backoff, "e5m10", "");
    doubts(&logmax, "e4m3fn",
           "format e4m3fn has no INF: with on_overflow: inf, what overflows "
           "arrives as NaN");
    doubts(&logmax, "e4m3", "");
    ends.parameters[APS_UNIT_ON_OVERFLOW] = APS_OVERFLOW_INF;
    doubts(&ends, "e5m2", "");
    doubts(&(struct aps_scale){.kind = APS_SCALE_APS}, "e3m0", "");
}

/* Formats whose smallest value is 1. */
static void test_integers(void)
{
    const struct aps_scale none = {.kind = APS_SCALE_NONE};
    const struct aps_scale one = {APS_SCALE_FIXED, {1}};
    const struct aps_scale large = {APS_SCALE_FIXED, {1024}};

    doubts(&none, "flex8",
           "without a scale, all values below 0.5 arrive as zeros in flex8, "
           "whose smallest value is 1; use scale: autoflex");
    doubts(&none, "flex16",
           "without a scale, all values below 0.5 arrive as zeros in flex16, "
           "whose smallest value is 1; use scale: autoflex");
    doubts(&none, "e4m3", "");
    doubts(&one, "flex16",
           "with scale fixed 1, all values below 0.5 arrive as zeros in "
           "flex16, whose smallest value is 1; use scale: autoflex");
    doubts(&large, "flex16", "");
    doubts(&unit, "flex16",
           "with scale unit, all values below 0.5 standard deviations arrive "
           "as zeros in flex16, whose smallest value is 1; use scale: "
           "autoflex");
    doubts(&unit, "flex8",
           "with scale unit, all values below 0.5 standard deviations arrive "
           "as zeros in flex8, whose smallest value is 1; use scale: autoflex");
    doubts(&autoflex, "flex8", "");
}

int main(void)
{
    test_texts();
    test_powers();
    test_doubts();
    test_integers();
    return done_testing();
}
