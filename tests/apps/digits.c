/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A data-parallel training program: a network of three fully connected layers
 * (ReLU, softmax cross entropy) learns handwritten digits by stochastic
 * gradient descent with momentum.
 *
 * Every rank holds the whole network and its share of every batch. After the
 * backward pass the ranks sum their gradients, one MPI_Allreduce for each
 * parameter tensor, and take the same step. The program uses plain MPI, and
 * the same seed gives the same batches and the same initial weights on any
 * number of ranks.
 *
 * With WITH_DEVICE the weights and the gradients live in a GPU's memory, and
 * MPI is given pointers to it; rank 0 hands out the initial weights. The
 * arithmetic is still the host's, so that the results are those of the program
 * without it.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#ifdef WITH_DEVICE
#include "device.h"
#endif

enum {
    FEATURES = 64,
    CLASSES = 10,
    LAYERS = 3,
    TENSORS = 2 * LAYERS, /* W1, b1, W2, b2, W3, b3 */
    TEST_IMAGES = 360,
    SPLIT_SEED = 1, /* fixed: --seed must not move images into the test set */
    MAX_HIDDEN = 4096,
    MAX_IMAGES = 1000000,
};

struct options {
    const char *data; /* NULL: digits.csv beside the program */
    long epochs;
    long batch; /* images of all ranks in one step */
    long hidden;
    long seed;
    float lr;
    float momentum;
    int backward; /* reduce each tensor as the backward pass produces it */
    int fused;    /* reduce the whole gradient in one call */
    int help;
};

/* A numeric option: its range, and where its value goes. */
struct setting {
    const char *name;
    double min, max;
    long *whole;
    float *real;
};

/* Feature j of image i is x[i * FEATURES + j], in 0..1. */
struct images {
    int count;
    float *x;
    unsigned char *label;
};

/*
 * Tensors lie one after the other in param, grad and velocity, in forward
 * order. Weights are [in][out], so that inner loops run along memory.
 */
struct network {
    int width[LAYERS + 1];
    int start[TENSORS + 1];
    float *param;
    float *grad;
    float *velocity;
    float *act[LAYERS + 1];   /* [rows][width], act[LAYERS] are the logits */
    float *delta[LAYERS + 1]; /* d(loss)/d(act before ReLU) */
#ifdef WITH_DEVICE
    float *device_param; /* of the same size */
    float *device_grad;
#endif
};

static int rank, ranks;

/* Rank 0 speaks for all: the ranks read the same words. */
static void complain(const char *fmt, ...)
{
    va_list ap;

    if (rank != 0)
        return;
    fflush(stdout);
    fputs("digits: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* COLLECTIVE over MPI_COMM_WORLD. If any rank failed, all leave together. */
static int anyone_failed(int failed)
{
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return failed;
}

/* --- random numbers: splitmix64 (Steele, Lea, Flood 2014) --- */

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform in [0, 1), a multiple of 2^-24: exact in float. */
static float random_unit(uint64_t *state)
{
    return (float)(random_next(state) >> 40) * 0x1p-24f;
}

static void random_shuffle(uint64_t *state, int n, int *index)
{
    for (int i = n - 1; i > 0; i--) {
        uint64_t word = random_next(state) >> 32;
        int j = (int)((word * (uint64_t)(i + 1)) >> 32);
        int swap = index[i];

        index[i] = index[j];
        index[j] = swap;
    }
}

/* --- options --- */

static void usage(void)
{
    if (rank != 0)
        return;
    puts("usage: digits [options]\n"
         "  --data FILE     images, 64 features 0..16 and a label a line\n"
         "                  (default: digits.csv beside the program)\n"
         "  --epochs N      passes over the training images (20)\n"
         "  --batch N       images in one step, over all ranks (128)\n"
         "  --lr X          learning rate (0.2)\n"
         "  --momentum X    momentum, 0 to 1 (0.9)\n"
         "  --seed N        initial weights and shuffling (1)\n"
         "  --hidden N      width of the two hidden layers (64)\n"
         "  --order ORDER   order of the all-reduce calls: forward (default)\n"
         "                  or backward, as the gradients are produced\n"
         "  --fused         one all-reduce for the whole gradient\n"
         "  --help          this text");
}

static int parse_number(const struct setting *set, const char *text)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end != '\0' || !(v >= set->min && v <= set->max) ||
        (set->whole != NULL && v != floor(v))) {
        complain("%s: '%s' is not a %snumber from %g to %g", set->name, text,
                 set->whole ? "whole " : "", set->min, set->max);
        return -1;
    }
    if (set->whole != NULL)
        *set->whole = (long)v;
    else
        *set->real = (float)v;
    return 0;
}

static int parse_order(const char *text, int *backward)
{
    if (strcmp(text, "forward") != 0 && strcmp(text, "backward") != 0) {
        complain("--order: '%s' is neither forward nor backward", text);
        return -1;
    }
    *backward = text[0] == 'b';
    return 0;
}

static int parse_options(int argc, char **argv, struct options *opt)
{
    const struct setting settings[] = {
        {"--epochs", 0, 1e6, &opt->epochs, NULL},
        {"--batch", 1, MAX_IMAGES, &opt->batch, NULL},
        {"--hidden", 1, MAX_HIDDEN, &opt->hidden, NULL},
        {"--seed", 0, 0x1p31 - 1, &opt->seed, NULL},
        {"--lr", 0, 1000, NULL, &opt->lr},
        {"--momentum", 0, 1, NULL, &opt->momentum},
        {"--data", 0, 0, NULL, NULL},
        {"--order", 0, 0, NULL, NULL},
    };
    const size_t known = sizeof settings / sizeof *settings;

    for (int i = 1; i < argc; i++) {
        size_t k = 0;
        int status = 0;

        if (strcmp(argv[i], "--fused") == 0) {
            opt->fused = 1;
            continue;
        }
        if (strcmp(argv[i], "--help") == 0) {
            opt->help = 1;
            continue;
        }
        while (k < known && strcmp(argv[i], settings[k].name) != 0)
            k++;
        if (k == known) {
            complain("unknown argument '%s' (--help lists them)", argv[i]);
            return -1;
        }
        if (++i == argc) {
            complain("%s needs a value", settings[k].name);
            return -1;
        }
        if (settings[k].whole != NULL || settings[k].real != NULL)
            status = parse_number(&settings[k], argv[i]);
        else if (strcmp(settings[k].name, "--order") == 0)
            status = parse_order(argv[i], &opt->backward);
        else
            opt->data = argv[i];
        if (status != 0)
            return -1;
    }
    if (opt->fused && opt->backward) {
        complain("--fused has no order: leave out --order backward");
        return -1;
    }
    return 0;
}

/* --- data --- */

static void images_free(struct images *set)
{
    free(set->x);
    free(set->label);
    *set = (struct images){0};
}

/* Reads one comma separated line into 64 features and a label. */
static int parse_line(const char *file, int line, const char *text, float *x,
                      unsigned char *label)
{
    const char *p = text;

    for (int j = 0; j <= FEATURES; j++) {
        const int max = j < FEATURES ? 16 : CLASSES - 1;
        const char *what = j < FEATURES ? "a feature 0..16" : "a label 0..9";
        char *end;
        long v = strtol(p, &end, 10);
        int bad = end == p || v < 0 || v > max;

        end += strspn(end, " \t\r\n");
        if (bad || *end != (j < FEATURES ? ',' : '\0')) {
            complain("%s:%d: value %d of %d is not %s", file, line, j + 1,
                     FEATURES + 1, what);
            return -1;
        }
        if (j < FEATURES)
            x[j] = (float)v / 16.0f;
        else
            *label = (unsigned char)v;
        p = end + (j < FEATURES);
    }
    return 0;
}

static int images_reserve(int room, struct images *set)
{
    float *x = realloc(set->x, (size_t)room * FEATURES * sizeof *x);
    unsigned char *label;

    if (x == NULL)
        return -1;
    set->x = x;
    label = realloc(set->label, (size_t)room * sizeof *label);
    if (label == NULL)
        return -1;
    set->label = label;
    return 0;
}

static int images_read(const char *file, struct images *set)
{
    char text[1024]; /* a longer line is cut, and then not a line of data */
    int room = 0, status = -1;
    FILE *f = fopen(file, "r");

    if (f == NULL) {
        complain("%s: %s", file, strerror(errno));
        return -1;
    }
    while (fgets(text, sizeof text, f) != NULL) {
        const int i = set->count;

        if (i == MAX_IMAGES) {
            complain("%s:%d: more than %d images", file, i + 1, MAX_IMAGES);
            goto close_file;
        }
        if (i == room) {
            room = room ? 2 * room : 2048;
            if (images_reserve(room, set) != 0) {
                complain("%s:%d: out of memory", file, i + 1);
                goto close_file;
            }
        }
        if (parse_line(file, i + 1, text, set->x + (size_t)i * FEATURES,
                       &set->label[i]) != 0)
            goto close_file;
        set->count++;
    }
    if (ferror(f)) {
        complain("%s:%d: %s", file, set->count + 1, strerror(errno));
        goto close_file;
    }
    if (set->count <= TEST_IMAGES) {
        complain("%s:%d: ends too early, %d images are for the test alone",
                 file, set->count, TEST_IMAGES);
        goto close_file;
    }
    status = 0;
close_file:
    fclose(f);
    return status;
}

/*
 * COLLECTIVE over MPI_COMM_WORLD. Only rank 0 needs the file. On error no rank
 * holds images.
 */
static int images_load(const char *file, struct images *set)
{
    int failed = 0;

    if (rank == 0)
        failed = images_read(file, set) != 0;
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (failed)
        goto free_images;
    MPI_Bcast(&set->count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank != 0)
        failed = images_reserve(set->count, set) != 0;
    if (anyone_failed(failed)) {
        complain("%s: out of memory for %d images", file, set->count);
        goto free_images;
    }
    MPI_Bcast(set->x, set->count * FEATURES, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Bcast(set->label, set->count, MPI_UNSIGNED_CHAR, 0, MPI_COMM_WORLD);
    return 0;
free_images:
    images_free(set);
    return -1;
}

/* The path of digits.csv beside the program, to be freed by the caller. */
static char *default_data(const char *program)
{
    static const char name[] = "digits.csv";
    const char *slash = strrchr(program, '/');
    size_t folder = slash ? (size_t)(slash - program) + 1 : 0;
    char *path = malloc(folder + sizeof name);

    if (path != NULL) {
        memcpy(path, program, folder);
        memcpy(path + folder, name, sizeof name);
    }
    return path;
}

/* --- network --- */

static void network_destroy(struct network *net)
{
#ifdef WITH_DEVICE
    device_free(net->device_param);
    device_free(net->device_grad);
#endif
    free(net->param);
    free(net->grad);
    free(net->velocity);
    for (int l = 0; l <= LAYERS; l++) {
        free(net->act[l]);
        free(net->delta[l]);
    }
}

/* rows: the most images that one pass carries. */
static int network_create(int hidden, int rows, uint64_t *random,
                          struct network *net)
{
    const int width[] = {FEATURES, hidden, hidden, CLASSES};
    size_t size;

    *net = (struct network){0};
    for (int l = 0; l <= LAYERS; l++)
        net->width[l] = width[l];
    for (int l = 0; l < LAYERS; l++) {
        net->start[2 * l + 1] = net->start[2 * l] + width[l] * width[l + 1];
        net->start[2 * l + 2] = net->start[2 * l + 1] + width[l + 1];
    }
    size = (size_t)net->start[TENSORS];
    net->param = calloc(size, sizeof *net->param);
    net->grad = calloc(size, sizeof *net->grad);
    net->velocity = calloc(size, sizeof *net->velocity);
    if (net->param == NULL || net->grad == NULL || net->velocity == NULL)
        goto destroy_network;
#ifdef WITH_DEVICE
    net->device_param = device_alloc(size * sizeof *net->device_param);
    net->device_grad = device_alloc(size * sizeof *net->device_grad);
    if (net->device_param == NULL || net->device_grad == NULL)
        goto destroy_network;
#endif
    for (int l = 0; l <= LAYERS; l++) {
        const size_t cells = (size_t)rows * (size_t)width[l];

        net->act[l] = calloc(cells, sizeof *net->act[l]);
        net->delta[l] = calloc(cells, sizeof *net->delta[l]);
        if (net->act[l] == NULL || net->delta[l] == NULL)
            goto destroy_network;
    }

    /* He's initialisation, uniform; biases stay 0. */
    for (int l = 0; l < LAYERS; l++) {
        const float bound = sqrtf(6.0f / (float)width[l]);

        for (int i = net->start[2 * l]; i < net->start[2 * l + 1]; i++)
            net->param[i] = (2.0f * random_unit(random) - 1.0f) * bound;
    }
    return 0;
destroy_network:
    network_destroy(net);
    *net = (struct network){0};
    return -1;
}

static void forward(struct network *net, int rows)
{
    for (int l = 0; l < LAYERS; l++) {
        const int in = net->width[l], out = net->width[l + 1];
        const float *w = net->param + net->start[2 * l];
        const float *b = net->param + net->start[2 * l + 1];

        for (int n = 0; n < rows; n++) {
            const float *x = net->act[l] + (size_t)n * (size_t)in;
            float *restrict y = net->act[l + 1] + (size_t)n * (size_t)out;

            memcpy(y, b, (size_t)out * sizeof *y);
            for (int i = 0; i < in; i++) {
                const float *restrict wi = w + i * out;

                for (int j = 0; j < out; j++)
                    y[j] += x[i] * wi[j];
            }
            if (l == LAYERS - 1)
                continue;
            /* ReLU, written so that NaN goes through, here and going back */
            for (int j = 0; j < out; j++)
                y[j] = y[j] <= 0.0f ? 0.0f : y[j];
        }
    }
}

/*
 * Turns the logits into d(loss)/d(logits), where the loss is the mean over
 * batch images. Returns the sum of the losses of these rows.
 */
static double softmax_loss(struct network *net, int rows,
                           const unsigned char *label, float batch)
{
    double loss = 0.0;

    for (int n = 0; n < rows; n++) {
        const float *z = net->act[LAYERS] + n * CLASSES;
        float *d = net->delta[LAYERS] + n * CLASSES;
        float max = z[0], sum = 0.0f;

        for (int j = 1; j < CLASSES; j++)
            max = fmaxf(max, z[j]);
        for (int j = 0; j < CLASSES; j++) {
            d[j] = expf(z[j] - max);
            sum += d[j];
        }
        for (int j = 0; j < CLASSES; j++)
            d[j] = (d[j] / sum - (j == label[n] ? 1.0f : 0.0f)) / batch;
        loss += log((double)sum) - (double)(z[label[n]] - max);
    }
    return loss;
}

/* Gradients of layer l's weights and biases, from its inputs and deltas. */
static void layer_gradient(struct network *net, int l, int rows)
{
    const int in = net->width[l], out = net->width[l + 1];
    float *gw = net->grad + net->start[2 * l];
    float *restrict gb = net->grad + net->start[2 * l + 1];

    memset(gw, 0, (size_t)(in * out + out) * sizeof *gw);
    for (int n = 0; n < rows; n++) {
        const float *x = net->act[l] + (size_t)n * (size_t)in;
        const float *d = net->delta[l + 1] + (size_t)n * (size_t)out;

        for (int j = 0; j < out; j++)
            gb[j] += d[j];
        for (int i = 0; i < in; i++) {
            float *restrict gi = gw + i * out;

            for (int j = 0; j < out; j++)
                gi[j] += x[i] * d[j];
        }
    }
}

/* Deltas of layer l's inputs, through its weights and the ReLU before it. */
static void layer_delta(struct network *net, int l, int rows)
{
    const int in = net->width[l], out = net->width[l + 1];
    const float *w = net->param + net->start[2 * l];

    for (int n = 0; n < rows; n++) {
        const float *x = net->act[l] + (size_t)n * (size_t)in;
        const float *d = net->delta[l + 1] + (size_t)n * (size_t)out;
        float *below = net->delta[l] + (size_t)n * (size_t)in;

        for (int i = 0; i < in; i++) {
            float sum = 0.0f;

            for (int j = 0; j < out; j++)
                sum += w[i * out + j] * d[j];
            below[i] = x[i] <= 0.0f ? 0.0f : sum;
        }
    }
}

/* COLLECTIVE over MPI_COMM_WORLD. Sums gradients begin to end over the
 * ranks. */
static void reduce_gradients(struct network *net, int begin, int end)
{
    float *grad = net->grad + begin;

#ifdef WITH_DEVICE
    grad = net->device_grad + begin;
    device_put(grad, net->grad + begin, (size_t)(end - begin) * sizeof *grad);
#endif
    MPI_Allreduce(MPI_IN_PLACE, grad, end - begin, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
#ifdef WITH_DEVICE
    device_get(net->grad + begin, grad, (size_t)(end - begin) * sizeof *grad);
#endif
}

/* COLLECTIVE over MPI_COMM_WORLD. Sums tensor t's gradient over the ranks. */
static void reduce_tensor(struct network *net, int t)
{
    reduce_gradients(net, net->start[t], net->start[t + 1]);
}

#ifdef WITH_DEVICE
/* COLLECTIVE over MPI_COMM_WORLD. Rank 0's weights to all. */
static void hand_out_weights(struct network *net)
{
    const size_t bytes = (size_t)net->start[TENSORS] * sizeof *net->param;

    if (rank != 0)
        memset(net->param, 0, bytes);
    device_put(net->device_param, net->param, bytes);
    MPI_Bcast(net->device_param, net->start[TENSORS], MPI_FLOAT, 0,
              MPI_COMM_WORLD);
    device_get(net->param, net->device_param, bytes);
}
#endif

/* COLLECTIVE over MPI_COMM_WORLD. Leaves the mean gradient of the batch. */
static void backward(struct network *net, int rows, const struct options *opt)
{
    for (int l = LAYERS - 1; l >= 0; l--) {
        layer_gradient(net, l, rows);
        if (opt->backward) {
            reduce_tensor(net, 2 * l);
            reduce_tensor(net, 2 * l + 1);
        }
        if (l > 0)
            layer_delta(net, l, rows);
    }
    if (opt->fused)
        reduce_gradients(net, 0, net->start[TENSORS]);
    else if (!opt->backward)
        for (int t = 0; t < TENSORS; t++)
            reduce_tensor(net, t);
}

static void update(struct network *net, const struct options *opt, float lr)
{
    for (int i = 0; i < net->start[TENSORS]; i++) {
        net->velocity[i] = opt->momentum * net->velocity[i] + net->grad[i];
        net->param[i] -= lr * net->velocity[i];
    }
}

/* FNV-1a over the bits of the parameters, low byte of each first. */
static uint64_t network_hash(const struct network *net)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (int i = 0; i < net->start[TENSORS]; i++) {
        uint32_t bits;

        memcpy(&bits, &net->param[i], sizeof bits);
        for (int shift = 0; shift < 32; shift += 8) {
            hash ^= (bits >> shift) & 0xff;
            hash *= UINT64_C(0x100000001b3);
        }
    }
    return hash;
}

/* --- training --- */

/*
 * Copies this rank's share of index[0..n) into the network's input: every
 * ranks-th image. Returns how many, which may be none.
 */
static int take_share(const struct images *set, const int *index, int n,
                      struct network *net, unsigned char *label)
{
    int rows = 0;

    for (int i = rank; i < n; i += ranks, rows++) {
        memcpy(net->act[0] + (size_t)rows * FEATURES,
               set->x + (size_t)index[i] * FEATURES, FEATURES * sizeof *set->x);
        label[rows] = set->label[index[i]];
    }
    return rows;
}

/*
 * COLLECTIVE over MPI_COMM_WORLD. One pass over the training images; a last,
 * incomplete batch is left out, as its gradient would be the noisiest. Returns
 * the mean loss on rank 0.
 */
static double train_epoch(const struct images *set, const int *index, int n,
                          const struct options *opt, float lr,
                          struct network *net, unsigned char *label)
{
    const int batch = (int)opt->batch, steps = n / batch;
    double loss = 0.0, total = 0.0;

    for (int s = 0; s < steps; s++) {
        int rows = take_share(set, index + s * batch, batch, net, label);

        forward(net, rows);
        loss += softmax_loss(net, rows, label, (float)batch);
        backward(net, rows, opt);
        update(net, opt, lr);
    }
    MPI_Reduce(&loss, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return total / ((double)steps * batch);
}

/* COLLECTIVE over MPI_COMM_WORLD. Returns the accuracy in % on rank 0. */
static double test_accuracy(const struct images *set, const int *index,
                            struct network *net, unsigned char *label)
{
    int right = 0, total = 0;
    int rows = take_share(set, index, TEST_IMAGES, net, label);

    forward(net, rows);
    for (int n = 0; n < rows; n++) {
        const float *z = net->act[LAYERS] + n * CLASSES;
        int best = 0;

        for (int j = 1; j < CLASSES; j++)
            if (z[j] > z[best])
                best = j;
        right += best == label[n];
    }
    MPI_Reduce(&right, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    return 100.0 * total / TEST_IMAGES;
}

/* The learning rate falls linearly to 0, so that training settles. */
static float rate(const struct options *opt, long epoch)
{
    float rest = (float)(opt->epochs - epoch + 1) / (float)opt->epochs;

    return opt->lr * rest;
}

/* COLLECTIVE over MPI_COMM_WORLD. hashes: room for one of every rank. */
static int replicas_equal(const struct network *net, uint64_t *hashes)
{
    const uint64_t mine = network_hash(net);
    int equal = 1;

    MPI_Allgather(&mine, 1, MPI_UINT64_T, hashes, 1, MPI_UINT64_T,
                  MPI_COMM_WORLD);
    for (int r = 1; r < ranks; r++)
        equal = equal && hashes[r] == hashes[0];
    return equal;
}

/* COLLECTIVE over MPI_COMM_WORLD. Returns the exit status. */
static int train(const struct images *set, const struct options *opt)
{
    const int learn = set->count - TEST_IMAGES;
    const int most = opt->batch > TEST_IMAGES ? (int)opt->batch : TEST_IMAGES;
    const int rows = (most + ranks - 1) / ranks;
    uint64_t split = SPLIT_SEED, random = (uint64_t)opt->seed;
    int *index = malloc((size_t)set->count * sizeof *index);
    unsigned char *label = malloc((size_t)rows);
    uint64_t *hashes = malloc((size_t)ranks * sizeof *hashes);
    struct network net = {0};
    double accuracy;
    int failed = index == NULL || label == NULL || hashes == NULL;
    int equal, status = 2;

    failed |= network_create((int)opt->hidden, rows, &random, &net) != 0;
    if (anyone_failed(failed)) {
        complain("out of memory for the network");
        goto free_all;
    }
#ifdef WITH_DEVICE
    hand_out_weights(&net);
#endif
    for (int i = 0; i < set->count; i++)
        index[i] = i;
    random_shuffle(&split, set->count, index);

    accuracy = test_accuracy(set, index + learn, &net, label);
    for (long epoch = 1; epoch <= opt->epochs; epoch++) {
        double loss;

        random_shuffle(&random, learn, index);
        loss =
            train_epoch(set, index, learn, opt, rate(opt, epoch), &net, label);
        accuracy = test_accuracy(set, index + learn, &net, label);
        if (rank == 0) {
            printf("epoch %ld loss %.9g test %.2f%%\n", epoch, loss, accuracy);
            fflush(stdout);
        }
    }
    equal = replicas_equal(&net, hashes);
    if (rank == 0) {
        printf("final test accuracy %.2f%%\n", accuracy);
        printf("weights %016llx\n", (unsigned long long)hashes[0]);
        printf("replicas %s\n", equal ? "equal" : "DIFFER");
    }
    status = equal ? 0 : 1;
free_all:
    network_destroy(&net);
    free(hashes);
    free(label);
    free(index);
    return status;
}

/* COLLECTIVE over MPI_COMM_WORLD. Returns the exit status. */
static int run(int argc, char **argv)
{
    struct options opt = {
        .epochs = 20,
        .batch = 128,
        .hidden = 64,
        .seed = 1,
        .lr = 0.2f,
        .momentum = 0.9f,
    };
    struct images set = {0};
    char *beside = NULL;
    int status = 2;

    if (anyone_failed(parse_options(argc, argv, &opt) != 0))
        return 2;
    if (opt.help) {
        usage();
        return 0;
    }
    if (opt.data == NULL)
        opt.data = beside = default_data(argv[0]);
    if (anyone_failed(opt.data == NULL)) {
        complain("out of memory");
        goto free_path;
    }
    if (images_load(opt.data, &set) != 0)
        goto free_path;
    if (opt.batch > set.count - TEST_IMAGES)
        complain("--batch: %ld is more than the %d training images of %s",
                 opt.batch, set.count - TEST_IMAGES, opt.data);
    else
        status = train(&set, &opt);
    images_free(&set);
free_path:
    free(beside);
    return status;
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    status = run(argc, argv);
    MPI_Finalize();
    return status;
}
