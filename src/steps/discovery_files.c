/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "steps/discovery_files.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "base/print.h"
#include "policy/policy.h"
#include "steps/layer_order.h"

/* Files of earlier runs are never overwritten; this is the number of names that
 * are tried. */
#define TRIES 100

enum { POLICY, TABLE, REVERSED, FILES };

struct files {
    int count; /* without REVERSED if the layers have no order */
    char paths[FILES][PATH_MAX];
    FILE *streams[FILES];
};

/* Found layers and their order. */
struct found {
    struct aps_found is;
    bool ordered; /* one network, whose calls come in one order */
    bool mirror;  /* the second half of the calls mirrors the first */
    enum aps_layer_order order;
};

/* --- files --------------------------------------------------------------- */

static void files_remove(struct files *files, int opened)
{
    for (int i = 0; i < opened; i++) {
        fclose(files->streams[i]);
        remove(files->paths[i]);
    }
}

/* Opens new files PREFIX[-n].yaml, PREFIX[-n]-layers.csv and so on. Returns -1
 * with errno; then paths[POLICY] is the last one tried. */
static int files_open(struct files *files, const char *prefix)
{
    static const char *const suffixes[FILES] = {".yaml", "-layers.csv",
                                                "-layers-reversed.csv"};

    for (int try = 0; try < TRIES; try++) {
        char number[16] = "";
        int opened = 0;

        if (try > 0)
            snprintf(number, sizeof number, "-%d", try);
        for (; opened < files->count; opened++) {
            snprintf(files->paths[opened], PATH_MAX, "%s%s%s", prefix, number,
                     suffixes[opened]);
            files->streams[opened] = fopen(files->paths[opened], "wx");
            if (!files->streams[opened])
                break;
        }
        if (opened == files->count)
            return 0;
        files_remove(files, opened);
        if (errno != EEXIST)
            return -1;
    }
    errno = EEXIST;
    return -1;
}

/* Returns 0, or -1 if a file could not be written. */
static int files_close(struct files *files)
{
    int bad = 0;

    for (int i = 0; i < files->count; i++) {
        bad |= ferror(files->streams[i]);
        bad |= fclose(files->streams[i]);
    }
    return bad ? -1 : 0;
}

/* Returns the name by which the policy finds a table in its directory. */
static const char *files_name(const struct files *files, int which,
                              char name[PATH_MAX])
{
    snprintf(name, PATH_MAX, "%s", files->paths[which]);
    return basename(name);
}

/* --- what is in them ----------------------------------------------------- */

/* Returns the elements of layer i of a table: in the order of the calls, or
 * reversed. */
static size_t found_count(const struct found *found, bool reversed, long i)
{
    return found->is.counts[reversed ? found->is.layers - 1 - i : i];
}

/* Returns the type of the elements of all layers; float if there are several. */
static enum aps_element found_element(const struct found *found)
{
    for (int i = 0; i < APS_ELEMENTS; i++)
        if (found->is.types == 1u << i)
            return (enum aps_element)i;
    return APS_ELEMENT_FLOAT;
}

static void found_write_table(const struct found *found, bool reversed,
                              FILE *file)
{
    const enum aps_element element = found_element(found);
    const bool turns = found->is.kind == APS_FOUND_TURNS;
    int network = 0;

    fprintf(file,
            "# The layers of %s, %s: give them names. You "
            "may add\n"
            "# columns that the calls do not show: shape (64x3x7x7) and scale. "
            "Columns whose\n"
            "# names begin with x- are ignored.\n"
            "layer,name,count%s%s\n",
            turns ? "a step of each network" : "one step",
            found->is.kind == APS_FOUND_ANY ? "the largest first"
            : reversed                      ? "the last call first"
                                            : "in the order of the calls",
            turns ? ",network" : "",
            element != APS_ELEMENT_FLOAT ? ",type" : "");
    for (long i = 0; i < found->is.layers; i++) {
        fprintf(file, "%ld,layer%ld,%zu", i, i,
                found_count(found, reversed, i));
        network += turns && i == found->is.ends[network];
        if (turns)
            fprintf(file, ",network%d", network);
        if (element != APS_ELEMENT_FLOAT)
            fprintf(file, ",%s", aps_element_types[element].name);
        fputc('\n', file);
    }
}

/* Returns the last layer before layer `end` that is not below a policy's usual
 * min_count, or -1. */
static long found_last_large(const struct found *found, bool reversed, long end)
{
    long last = end - 1;

    while (last >= 0 && found_count(found, reversed, last) < APS_MIN_COUNT)
        last--;
    return last;
}

/* Share of the elements from which on the classifier is too dear to stay FP32. */
#define CLASSIFIER_MAX 0.1

/* Returns the share of a layer, from 0 to 1, in the elements of a step. */
static double found_share(const struct found *found, bool reversed, long layer)
{
    double all = 0;

    for (long i = 0; i < found->is.layers; i++)
        all += (double)found->is.counts[i];
    return (double)found_count(found, reversed, layer) / all;
}

/* Returns the classifier, if the table is in the order of the network: its last
 * large layer. -1 if no other layer is large, because the policy would then
 * rewrite nothing. */
static long found_classifier(const struct found *found, bool reversed)
{
    const long last = found_last_large(found, reversed, found->is.layers);

    return found_last_large(found, reversed, last) < 0 ? -1 : last;
}

static size_t found_smallest(const struct found *found)
{
    size_t least = SIZE_MAX;

    for (long i = 0; i < found->is.layers; i++)
        if (found->is.counts[i] < least)
            least = found->is.counts[i];
    return least;
}

/* Returns the comment of the policy about the order of the calls. */
static const char *found_order_comment(const struct found *found)
{
    if (found->is.layers == 1)
        return "";
    if (found->is.kind == APS_FOUND_TURNS)
        return "# The program trains several networks alternately. A step is "
               "one pass over the rows\n"
               "# of one of them. Their names are in the column `network`.\n";
    if (found->mirror)
        return "# The second half of the calls mirrors the first: the first "
               "half may carry the\n"
               "# weights of a forward pass, and the second one their "
               "gradients. Weights should\n"
               "# not be rounded.\n";
    if (found->is.kind == APS_FOUND_ANY)
        return "# Each call is the layer of its size. Layers of one size are "
               "told apart by the\n"
               "# order of their calls among themselves.\n";
    if (found->order == APS_LAYER_ORDER_FORWARD)
        return "# By the sizes of its calls the program reduces its first "
               "layer first.\n";
    if (found->order == APS_LAYER_ORDER_BACKWARD)
        return "# By the sizes of its calls the program reduces its last layer "
               "first. The table\n"
               "# has the first layer first, and so the last call.\n";
    return "# The sizes of its calls do not tell whether the program reduces "
           "its first or\n"
           "# its last layer first. This policy says: the first.\n";
}

/* Returns the policy's word for the order of the calls: as found, or the
 * `other` one. */
static const char *found_order_word(const struct found *found, bool other)
{
    if (found->is.kind == APS_FOUND_ANY)
        return "any";
    return (found->order == APS_LAYER_ORDER_BACKWARD) != other ? "backward"
                                                               : "forward";
}

/* Writes how to find the order out, with the first table or the second. */
static void found_write_choice(const struct found *found,
                               const struct files *files, bool other,
                               FILE *file)
{
    const char *comment = other ? "#   " : "";
    char name[PATH_MAX];

    fprintf(file, "%stable: %s\n", comment,
            files_name(files, other ? REVERSED : TABLE, name));
    fprintf(file, "%ssteps: {order: %s}\n", comment,
            found_order_word(found, other));
}

static void found_write_policy(const struct found *found,
                               const struct files *files)
{
    const bool backward = found->order == APS_LAYER_ORDER_BACKWARD;
    const long classifier =
        found->ordered ? found_classifier(found, backward) : -1;
    const long other = found_classifier(found, !backward);
    const double share =
        classifier >= 0 ? found_share(found, backward, classifier) : 0;
    const bool all_small = found_last_large(found, false, found->is.layers) < 0;
    static const char *const headings[] = {
        [APS_FOUND_CALLS] =
            "# Written by apsmpi's discovery: a step of %ld call%s.\n",
        [APS_FOUND_FUSED] =
            "# Written by apsmpi's discovery: calls whose sizes vary, each of "
            "which carries\n# some of %ld layer%s that follow each other.\n",
        [APS_FOUND_ANY] = "# Written by apsmpi's discovery: a step of %ld "
                          "call%s, whose order "
                          "changes from\n# step to step.\n",
        [APS_FOUND_TURNS] =
            "# Written by apsmpi's discovery: steps alternately, "
            "of %ld call%s together.\n",
    };
    FILE *file = files->streams[POLICY];

    fprintf(file, headings[found->is.kind], found->is.layers,
            aps_plural(found->is.layers));
    fprintf(file, "version: 1\n%s", found_order_comment(found));
    if ((found->is.types & (found->is.types - 1)) != 0)
        fputs(
            "# The calls have elements of several types. A column type in the "
            "table tells\n"
            "# apsmpi explain the type of each layer: float, bf16, fp16 or "
            "double.\n",
            file);
    if (found->is.layers == 1)
        fprintf(file,
                "# If a step of the program has several calls of %zu "
                "elements, they look like this\n"
                "# one. A line with the number of these calls then tells "
                "their layers apart, in\n"
                "# the place of the table and the steps below:\n"
                "#   steps: {calls: 2}\n",
                found->is.counts[0]);
    if (found->is.layers > 1 && found->ordered) {
        fputs("# If that is wrong, these lines take the place of those "
              "below:\n",
              file);
        found_write_choice(found, files, true, file);
        if (other >= 0 &&
            found_share(found, !backward, other) <= CLASSIFIER_MAX)
            fprintf(file, "#   - layers: %ld\n", other);
        else if (share > 0 && share <= CLASSIFIER_MAX)
            fputs("# and no layer stays FP32.\n", file);
    }
    found_write_choice(found, files, false, file);
    fprintf(file,
            "# Rules by epoch need the steps of an epoch, in the same line:\n"
            "#   steps: {per_epoch: 100, order: %s}\n"
            "min_count: %zu  # smaller calls and layers are left to MPI\n"
            "log: {file: roundoff.csv, every: 10}  # every 10th step\n"
            "rules:\n",
            found_order_word(found, false),
            all_small ? found_smallest(found) : APS_MIN_COUNT);
    if (share > CLASSIFIER_MAX)
        aps_fprint(
            file,
            "# Layer %ld, the last large one of the network, has %.1f %% "
            "of all elements, which is\n"
            "# much for a layer in FP32. If the accuracy needs it, add a "
            "first rule:\n"
            "#   - {layers: %ld, format: fp32}\n",
            classifier, 100 * share, classifier);
    else if (share > 0)
        aps_fprint(
            file,
            "  - layers: %ld  # the last large layer of the network stays "
            "FP32: %.1f %%\n"
            "    format: fp32  # of all elements\n",
            classifier, 100 * share);
    if (found->mirror)
        fprintf(file,
                "  - layers: 0-%ld  # if these are gradients, too, remove this "
                "rule\n"
                "    format: fp32\n",
                found->is.layers / 2 - 1);
    fputs("  - format: e4m3  # all others: 8 bits\n"
          "    scale: aps\n",
          file);
}

/* True if the second half of the calls mirrors the first, which has several
 * sizes. */
static bool found_is_mirror(const struct aps_found *layers)
{
    const size_t *counts = layers->counts;
    const long last = layers->layers - 1;
    bool several = false;

    if (layers->kind != APS_FOUND_CALLS || last < 3 || last % 2 == 0)
        return false;
    for (long i = 0; i <= last / 2; i++) {
        if (counts[i] != counts[last - i])
            return false;
        several |= counts[i] != counts[0];
    }
    return several;
}

/* Writes the program's steps: "a step of 6 calls, by their sizes the first layer
 * first". */
static void found_describe(const struct found *found, char *text, size_t size)
{
    static const char *const orders[] = {
        [APS_LAYER_ORDER_UNKNOWN] =
            ", in an order that their sizes do not tell",
        [APS_LAYER_ORDER_FORWARD] = ", by their sizes the first layer first",
        [APS_LAYER_ORDER_BACKWARD] = ", by their sizes the last layer first",
    };
    const bool fused = found->is.kind == APS_FOUND_FUSED;
    size_t used = 0;

    if (found->is.kind != APS_FOUND_TURNS) {
        snprintf(
            text, size, "%srepeats a step of %ld %s%s%s",
            fused ? "makes calls whose sizes vary, and " : "", found->is.layers,
            fused ? "layer" : "call", aps_plural(found->is.layers),
            found->is.layers == 1             ? ""
            : found->is.kind == APS_FOUND_ANY ? ", whose order changes"
            : found->mirror ? ", whose second half mirrors the first, so that "
                              "weights may be among them"
                            : orders[found->order]);
        return;
    }
    for (int i = 0; i < found->is.networks && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%ld",
                                 i == 0 ? "repeats several steps alternately, "
                                          "with these numbers of calls: "
                                        : ", ",
                                 found->is.ends[i] -
                                     (i > 0 ? found->is.ends[i - 1] : 0));
}

void aps_discovery_write_layers(const struct aps_found *layers,
                                const char *prefix, char *said, size_t size)
{
    struct found found = {.is = *layers, .mirror = found_is_mirror(layers)};
    struct files files;
    bool backward;
    char step[160];

    found.ordered =
        layers->layers > 1 && !found.mirror &&
        (layers->kind == APS_FOUND_CALLS || layers->kind == APS_FOUND_FUSED);
    if (found.ordered)
        found.order = aps_layer_order_of(layers->counts, layers->layers);
    backward = found.order == APS_LAYER_ORDER_BACKWARD;
    files.count = found.ordered ? FILES : REVERSED;
    if (files_open(&files, prefix) < 0) {
        snprintf(said, size, "discovery cannot write %s: %s",
                 files.paths[POLICY], strerror(errno));
        return;
    }
    found_write_table(&found, backward, files.streams[TABLE]);
    if (found.ordered)
        found_write_table(&found, !backward, files.streams[REVERSED]);
    found_write_policy(&found, &files);
    found_describe(&found, step, sizeof step);
    if (files_close(&files) < 0)
        snprintf(said, size, "discovery cannot write %s", files.paths[POLICY]);
    else
        snprintf(said, size,
                 "the program %s: the layers are in %.200s, and the skeleton "
                 "of a policy is in %.200s%s",
                 step, files.paths[TABLE], files.paths[POLICY],
                 layers->layers > 1
                     ? ""
                     : "; several calls of equal size in a step would "
                       "look the same, and be one layer");
}
