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
 * MPI gets pointers to it; rank 0 broadcasts the initial weights. The host
 * still does the arithmetic, so that the results do not change.
 */
#include "digits.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits_images.h"
#include "digits_network.h"
#include "digits_options.h"
#include "digits_random.h"

enum {
    SPLIT_SEED = 1 /* fixed: --seed must not move images into the test set */
};

const char *const program_name = "digits";

/*
 * Copies this rank's share of index[0..n) into the network's input: every
 * ranks-th image. Returns the number of images, which may be 0.
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

        network_forward(net, rows);
        loss += network_loss(net, rows, label, (float)batch);
        network_backward(net, rows, opt);
        network_update(net, opt, lr);
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

    network_forward(net, rows);
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

/* COLLECTIVE over MPI_COMM_WORLD. hashes: [ranks]. */
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
    network_hand_out(&net);
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

    if (anyone_failed(options_parse(argc, argv, &opt) != 0))
        return 2;
    if (opt.help) {
        options_usage();
        return 0;
    }
    if (opt.data == NULL)
        opt.data = beside = images_beside(argv[0]);
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
