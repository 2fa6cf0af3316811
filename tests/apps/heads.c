/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A data-parallel training program whose gradients differ by powers of two: a
 * hidden layer with two heads learns handwritten digits and, from the same features,
 * whether the digit is odd.
 *
 *     heads DATA SEED EPOCHS HIDDEN WEIGHT [skip]
 *
 * The second head's loss is multiplied by 2^WEIGHT, and the learning rate of
 * its own parameters divided by it, so that in FP32 both heads learn equally,
 * for any WEIGHT. One MPI_Allreduce for each of the six parameter tensors sums
 * the gradients; with `skip` the ranks skip a step whose gradient has an INF or
 * a NaN, like programs with a loss scaler.
 *
 * Rank 0 prints the test accuracies of both heads in percent, and the steps left out.
 * Exit status: 0, 1 when the ranks end with different weights, 2 for wrong arguments.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"
#include "digits_images.h"
#include "digits_random.h"

enum {
    HEADS = 2,
    ODD = 2, /* classes of the second head */
    BATCH = 128,
    WIDEST = 256,
    PARTS =
        2 + 2 * HEADS /* tensors: W, b of the hidden layer and of each head */
};
static const float RATE = 0.2f, MOMENTUM = 0.9f;
static const int heads_classes[HEADS] = {CLASSES, ODD};

const char *const program_name = "heads";

struct model {
    int hidden;
    int start[PARTS + 1]; /* begin of each tensor in the arrays */
    float weight;         /* weight of the second head's loss */
    float *param, *grad, *velocity;
};

static int heads_label(int head, unsigned char digit)
{
    return head == 0 ? digit : digit % 2;
}

/* The head's tensors are 2 + 2 head and the next. */
static int heads_part(int head)
{
    return 2 + 2 * head;
}

/* y[out] = b + x[in] W */
static void heads_layer(const float *w, const float *b, const float *x, int in,
                        int out, float *y)
{
    memcpy(y, b, (size_t)out * sizeof *y);
    for (int i = 0; i < in; i++)
        for (int j = 0; j < out; j++)
            y[j] += x[i] * w[i * out + j];
}

static void heads_hidden(const struct model *m, const float *x, float *h)
{
    heads_layer(m->param, m->param + m->start[1], x, FEATURES, m->hidden, h);
    for (int i = 0; i < m->hidden; i++)
        h[i] = h[i] <= 0.0f ? 0.0f : h[i];
}

static void heads_logits(const struct model *m, int head, const float *h,
                         float *z)
{
    const int part = heads_part(head);

    heads_layer(m->param + m->start[part], m->param + m->start[part + 1], h,
                m->hidden, heads_classes[head], z);
}

/* z becomes d(loss)/dz, for a loss that is multiplied by `factor`. */
static void heads_loss(float *z, int classes, int label, float factor)
{
    float max = z[0], sum = 0.0f;

    for (int j = 1; j < classes; j++)
        max = fmaxf(max, z[j]);
    for (int j = 0; j < classes; j++) {
        z[j] = expf(z[j] - max);
        sum += z[j];
    }
    for (int j = 0; j < classes; j++)
        z[j] = (z[j] / sum - (j == label ? 1.0f : 0.0f)) * factor;
}

/* Adds the gradient of one image. */
static void heads_backward(struct model *m, const float *x, unsigned char digit)
{
    float h[WIDEST], back[WIDEST] = {0};

    heads_hidden(m, x, h);
    for (int head = 0; head < HEADS; head++) {
        const int part = heads_part(head), classes = heads_classes[head];
        const float *w = m->param + m->start[part];
        float *gw = m->grad + m->start[part],
              *gb = m->grad + m->start[part + 1];
        float z[CLASSES];

        heads_logits(m, head, h, z);
        heads_loss(z, classes, heads_label(head, digit),
                   (head == 1 ? m->weight : 1.0f) / BATCH);
        for (int j = 0; j < classes; j++)
            gb[j] += z[j];
        for (int i = 0; i < m->hidden; i++)
            for (int j = 0; j < classes; j++) {
                gw[i * classes + j] += h[i] * z[j];
                back[i] += w[i * classes + j] * z[j];
            }
    }
    for (int i = 0; i < m->hidden; i++) {
        if (h[i] <= 0.0f)
            continue;
        m->grad[m->start[1] + i] += back[i];
        for (int f = 0; f < FEATURES; f++)
            m->grad[f * m->hidden + i] += x[f] * back[i];
    }
}

/* COLLECTIVE over MPI_COMM_WORLD. True if the summed gradient is finite. */
static int heads_reduce(struct model *m)
{
    int finite = 1;

    for (int t = 0; t < PARTS; t++)
        MPI_Allreduce(MPI_IN_PLACE, m->grad + m->start[t],
                      m->start[t + 1] - m->start[t], MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    for (int i = 0; i < m->start[PARTS]; i++)
        finite &= isfinite(m->grad[i]) != 0;
    return finite;
}

static void heads_update(struct model *m, float rate)
{
    for (int i = 0; i < m->start[PARTS]; i++) {
        const float own = i < m->start[heads_part(1)] ? rate : rate / m->weight;

        m->velocity[i] = MOMENTUM * m->velocity[i] + m->grad[i];
        m->param[i] -= own * m->velocity[i];
    }
}

/* COLLECTIVE over MPI_COMM_WORLD. Returns the steps that were left out. */
static int heads_train(struct model *m, const struct images *set, int *index,
                       int n, int epochs, uint64_t *random, int skip)
{
    int skipped = 0;

    for (int epoch = 0; epoch < epochs; epoch++) {
        const float rate = RATE * (float)(epochs - epoch) / (float)epochs;

        random_shuffle(random, n, index);
        for (int first = 0; first + BATCH <= n; first += BATCH) {
            memset(m->grad, 0, (size_t)m->start[PARTS] * sizeof *m->grad);
            for (int i = first + rank; i < first + BATCH; i += ranks)
                heads_backward(m, set->x + (size_t)index[i] * FEATURES,
                               set->label[index[i]]);
            if (heads_reduce(m) || !skip)
                heads_update(m, rate);
            else
                skipped++;
        }
    }
    return skipped;
}

/* Returns per cent of the images index[0..n). */
static double heads_accuracy(const struct model *m, int head,
                             const struct images *set, const int *index, int n)
{
    int right = 0;

    for (int i = 0; i < n; i++) {
        float h[WIDEST], z[CLASSES];
        int best = 0;

        heads_hidden(m, set->x + (size_t)index[i] * FEATURES, h);
        heads_logits(m, head, h, z);
        for (int j = 1; j < heads_classes[head]; j++)
            if (z[j] > z[best])
                best = j;
        right += best == heads_label(head, set->label[index[i]]);
    }
    return 100.0 * right / n;
}

/* He's initialisation, uniform; biases are 0. -1: no memory. */
static int heads_create(struct model *m, uint64_t *random)
{
    const int sizes[PARTS] = {FEATURES * m->hidden, m->hidden,
                              m->hidden * CLASSES,  CLASSES,
                              m->hidden * ODD,      ODD};

    for (int t = 0; t < PARTS; t++)
        m->start[t + 1] = m->start[t] + sizes[t];
    m->param = calloc((size_t)m->start[PARTS] * 3, sizeof *m->param);
    if (!m->param)
        return -1;
    m->grad = m->param + m->start[PARTS];
    m->velocity = m->grad + m->start[PARTS];
    for (int t = 0; t < PARTS; t += 2) {
        const float in = t == 0 ? (float)FEATURES : (float)m->hidden;

        for (int i = m->start[t]; i < m->start[t + 1]; i++)
            m->param[i] =
                (2.0f * random_unit(random) - 1.0f) * sqrtf(6.0f / in);
    }
    return 0;
}

/* COLLECTIVE over MPI_COMM_WORLD. True if all ranks have the same weights. */
static int heads_alike(const struct model *m)
{
    const int n = m->start[PARTS];
    uint64_t hash = 1, least, most;

    for (int i = 0; i < n; i++) {
        uint32_t bits;

        memcpy(&bits, &m->param[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
    }
    MPI_Allreduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return least == most;
}

/* COLLECTIVE over MPI_COMM_WORLD. Returns the exit status. */
static int heads_run(const struct images *set, uint64_t seed, int epochs,
                     struct model *m, int skip)
{
    const int learn = set->count - TEST_IMAGES;
    int *index = malloc((size_t)set->count * sizeof *index);
    uint64_t split = 1;
    int skipped, status = 2;

    if (anyone_failed(!index || heads_create(m, &seed) < 0)) {
        complain("out of memory");
        goto free_index;
    }
    for (int i = 0; i < set->count; i++)
        index[i] = i;
    random_shuffle(&split, set->count, index);
    skipped = heads_train(m, set, index, learn, epochs, &seed, skip);
    if (rank == 0)
        printf("digit %.4f odd %.4f skipped %d\n",
               heads_accuracy(m, 0, set, index + learn, TEST_IMAGES),
               heads_accuracy(m, 1, set, index + learn, TEST_IMAGES), skipped);
    status = heads_alike(m) ? 0 : 1;
free_index:
    free(index);
    free(m->param);
    return status;
}

int main(int argc, char **argv)
{
    struct images set = {0};
    struct model m = {0};
    int status = 2, epochs, skip;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 6 || argc > 7 || (argc == 7 && strcmp(argv[6], "skip") != 0)) {
        complain("usage: heads DATA SEED EPOCHS HIDDEN WEIGHT [skip]");
        goto finalize;
    }
    epochs = atoi(argv[3]);
    m.hidden = atoi(argv[4]);
    m.weight = ldexpf(1.0f, atoi(argv[5]));
    skip = argc == 7;
    if (m.hidden < 1 || m.hidden > WIDEST || epochs < 1 || m.weight <= 0.0f)
        complain("HIDDEN is 1 to %d, EPOCHS at least 1", WIDEST);
    else if (images_load(argv[1], &set) == 0)
        status = heads_run(&set, strtoull(argv[2], NULL, 10), epochs, &m, skip);
    images_free(&set);
finalize:
    MPI_Finalize();
    return status;
}
