/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The training program digits.c on a GPU: the same network, data, batches and initial
 * weights, with all arithmetic in kernels. MPI gets pointers to device memory: rank 0's
 * weights are broadcast, and after every backward pass the gradients of each tensor are
 * summed in place. Plain MPI and CUDA's runtime; ranks share the GPUs.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime.h>
#include <mpi.h>

enum {
    FEATURES = 64,
    CLASSES = 10,
    LAYERS = 3,
    TENSORS = 2 * LAYERS,
    TEST_IMAGES = 360,
    SPLIT_SEED = 1,
    MAX_IMAGES = 4096,
    BATCH = 128,
    BLOCK = 128
};

static int rank, ranks;

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "digits: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void cuda(cudaError_t error)
{
    must(error == cudaSuccess, cudaGetErrorString(error));
}

static float *device_floats(size_t n)
{
    float *device;

    cuda(cudaMalloc(&device, n * sizeof *device));
    cuda(cudaMemset(device, 0, n * sizeof *device));
    return device;
}

/* --- random numbers: splitmix64 (Steele, Lea, Flood 2014) --- */

static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

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

/* --- data --- */

struct images {
    int count;
    float x[MAX_IMAGES * FEATURES];
    int label[MAX_IMAGES];
};

static void images_read(const char *file, struct images *set)
{
    FILE *f = fopen(file, "r");
    char text[1024];

    must(f != NULL, "cannot read the data");
    for (; fgets(text, sizeof text, f) && set->count < MAX_IMAGES;
         set->count++) {
        char *p = text;

        for (int j = 0; j < FEATURES; j++, p++)
            set->x[set->count * FEATURES + j] = (float)strtol(p, &p, 10) / 16;
        set->label[set->count] = (int)strtol(p, &p, 10);
    }
    fclose(f);
    must(set->count > TEST_IMAGES, "too few images");
}

/* --- network --- */

struct network {
    int width[LAYERS + 1];
    int start[TENSORS + 1];
    /* all on the device, as in digits.c */
    float *param, *grad, *velocity;
    float *act[LAYERS + 1];
    float *delta[LAYERS + 1];
    float *loss; /* [rows] */
    int *label;
};

static __global__ void forward_kernel(int rows, int in, int out, bool last,
                                      const float *w, const float *b,
                                      const float *x, float *y)
{
    const int cell = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int n = cell / out, j = cell % out;
    float sum;

    if (n >= rows)
        return;
    sum = b[j];
    for (int i = 0; i < in; i++)
        sum += x[n * in + i] * w[i * out + j];
    y[cell] = !last && sum <= 0.0f ? 0.0f : sum;
}

static __global__ void loss_kernel(int rows, float batch, const int *label,
                                   const float *logits, float *delta,
                                   float *loss)
{
    const int n = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const float *z = logits + n * CLASSES;
    float *d = delta + n * CLASSES;
    float max, sum = 0.0f;

    if (n >= rows)
        return;
    max = z[0];
    for (int j = 1; j < CLASSES; j++)
        max = fmaxf(max, z[j]);
    for (int j = 0; j < CLASSES; j++) {
        d[j] = expf(z[j] - max);
        sum += d[j];
    }
    for (int j = 0; j < CLASSES; j++)
        d[j] = (d[j] / sum - (j == label[n] ? 1.0f : 0.0f)) / batch;
    loss[n] = logf(sum) - (z[label[n]] - max);
}

/* Row `in` of the weights' gradient is the biases' gradient. */
static __global__ void gradient_kernel(int rows, int in, int out,
                                       const float *x, const float *d,
                                       float *grad)
{
    const int cell = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int i = cell / out, j = cell % out;
    float sum = 0.0f;

    if (i > in)
        return;
    for (int n = 0; n < rows; n++)
        sum += (i < in ? x[n * in + i] : 1.0f) * d[n * out + j];
    grad[cell] = sum;
}

static __global__ void delta_kernel(int rows, int in, int out, const float *w,
                                    const float *x, const float *d,
                                    float *below)
{
    const int cell = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int n = cell / in, i = cell % in;
    float sum = 0.0f;

    if (n >= rows)
        return;
    for (int j = 0; j < out; j++)
        sum += w[i * out + j] * d[n * out + j];
    below[cell] = x[cell] <= 0.0f ? 0.0f : sum;
}

static __global__ void update_kernel(int n, float momentum, float lr,
                                     const float *grad, float *velocity,
                                     float *param)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

    if (i >= n)
        return;
    velocity[i] = momentum * velocity[i] + grad[i];
    param[i] -= lr * velocity[i];
}

static int blocks(int cells)
{
    return (cells + BLOCK - 1) / BLOCK;
}

/* COLLECTIVE over MPI_COMM_WORLD. Rank 0 draws the weights. */
static void network_create(int rows, uint64_t *random, struct network *net)
{
    static const int width[] = {FEATURES, 64, 64, CLASSES};
    float *drawn;
    int n;

    memcpy(net->width, width, sizeof width);
    net->start[0] = 0;
    for (int l = 0; l < LAYERS; l++) {
        net->start[2 * l + 1] = net->start[2 * l] + width[l] * width[l + 1];
        net->start[2 * l + 2] = net->start[2 * l + 1] + width[l + 1];
    }
    n = net->start[TENSORS];
    net->param = device_floats((size_t)n);
    net->grad = device_floats((size_t)n);
    net->velocity = device_floats((size_t)n);
    for (int l = 0; l <= LAYERS; l++) {
        net->act[l] = device_floats((size_t)(rows * width[l]));
        net->delta[l] = device_floats((size_t)(rows * width[l]));
    }
    net->loss = device_floats((size_t)rows);
    cuda(cudaMalloc(&net->label, (size_t)rows * sizeof *net->label));

    drawn = (float *)calloc((size_t)n, sizeof *drawn);
    must(drawn != NULL, "out of memory");
    for (int l = 0; l < LAYERS; l++)
        for (int i = net->start[2 * l]; i < net->start[2 * l + 1]; i++)
            drawn[i] = (2.0f * random_unit(random) - 1.0f) *
                       sqrtf(6.0f / (float)width[l]);
    if (rank == 0)
        cuda(cudaMemcpy(net->param, drawn, (size_t)n * sizeof *drawn,
                        cudaMemcpyHostToDevice));
    free(drawn);
    MPI_Bcast(net->param, n, MPI_FLOAT, 0, MPI_COMM_WORLD);
}

static void forward(struct network *net, int rows)
{
    for (int l = 0; l < LAYERS && rows > 0; l++)
        forward_kernel<<<blocks(rows * net->width[l + 1]), BLOCK>>>(
            rows, net->width[l], net->width[l + 1], l == LAYERS - 1,
            net->param + net->start[2 * l], net->param + net->start[2 * l + 1],
            net->act[l], net->act[l + 1]);
}

/* COLLECTIVE over MPI_COMM_WORLD. Leaves the mean gradient of the batch. */
static void backward(struct network *net, int rows)
{
    for (int l = LAYERS - 1; l >= 0; l--) {
        const int in = net->width[l], out = net->width[l + 1];

        gradient_kernel<<<blocks((in + 1) * out), BLOCK>>>(
            rows, in, out, net->act[l], net->delta[l + 1],
            net->grad + net->start[2 * l]);
        if (l > 0 && rows > 0)
            delta_kernel<<<blocks(rows * in), BLOCK>>>(
                rows, in, out, net->param + net->start[2 * l], net->act[l],
                net->delta[l + 1], net->delta[l]);
    }
    cuda(cudaDeviceSynchronize());
    for (int t = 0; t < TENSORS; t++)
        MPI_Allreduce(MPI_IN_PLACE, net->grad + net->start[t],
                      net->start[t + 1] - net->start[t], MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
}

/* --- training --- */

/* Copies this rank's share of index[0..n), every ranks-th image. Returns its size. */
static int take_share(const struct images *set, const int *index, int n,
                      struct network *net, int *label)
{
    int rows = 0;

    for (int i = rank; i < n; i += ranks, rows++) {
        cuda(cudaMemcpy(net->act[0] + rows * FEATURES,
                        set->x + index[i] * FEATURES, FEATURES * sizeof *set->x,
                        cudaMemcpyHostToDevice));
        label[rows] = set->label[index[i]];
    }
    cuda(cudaMemcpy(net->label, label, (size_t)rows * sizeof *label,
                    cudaMemcpyHostToDevice));
    return rows;
}

/* COLLECTIVE over MPI_COMM_WORLD. Returns the mean loss on rank 0. */
static double train_epoch(const struct images *set, const int *index, int n,
                          float lr, struct network *net, int *label,
                          float *losses)
{
    const int steps = n / BATCH, size = net->start[TENSORS];
    double loss = 0.0, total = 0.0;

    for (int s = 0; s < steps; s++) {
        const int rows = take_share(set, index + s * BATCH, BATCH, net, label);

        forward(net, rows);
        if (rows > 0)
            loss_kernel<<<blocks(rows), BLOCK>>>(rows, (float)BATCH, net->label,
                                                 net->act[LAYERS],
                                                 net->delta[LAYERS], net->loss);
        backward(net, rows);
        update_kernel<<<blocks(size), BLOCK>>>(size, 0.9f, lr, net->grad,
                                               net->velocity, net->param);
        cuda(cudaMemcpy(losses, net->loss, (size_t)rows * sizeof *losses,
                        cudaMemcpyDeviceToHost));
        for (int i = 0; i < rows; i++)
            loss += losses[i];
    }
    MPI_Reduce(&loss, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return total / ((double)steps * BATCH);
}

/* COLLECTIVE over MPI_COMM_WORLD. Returns the accuracy in % on rank 0. */
static double test_accuracy(const struct images *set, const int *index,
                            struct network *net, int *label, float *logits)
{
    const int rows = take_share(set, index, TEST_IMAGES, net, label);
    int right = 0, total = 0;

    forward(net, rows);
    cuda(cudaMemcpy(logits, net->act[LAYERS],
                    (size_t)(rows * CLASSES) * sizeof *logits,
                    cudaMemcpyDeviceToHost));
    for (int n = 0; n < rows; n++) {
        int best = 0;

        for (int j = 1; j < CLASSES; j++)
            if (logits[n * CLASSES + j] > logits[n * CLASSES + best])
                best = j;
        right += best == label[n];
    }
    MPI_Reduce(&right, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    return 100.0 * total / TEST_IMAGES;
}

/* COLLECTIVE over MPI_COMM_WORLD. True if all ranks have the same weights. FNV-1a. */
static bool replicas_equal(const struct network *net, uint64_t *first)
{
    const size_t bytes = (size_t)net->start[TENSORS] * sizeof(float);
    unsigned char *weights = (unsigned char *)malloc(bytes);
    uint64_t hash = UINT64_C(0xcbf29ce484222325), most;
    int differ;

    must(weights != NULL, "out of memory");
    cuda(cudaMemcpy(weights, net->param, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ weights[i]) * UINT64_C(0x100000001b3);
    free(weights);
    MPI_Allreduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    differ = hash != most;
    MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    *first = hash;
    return !differ;
}

/* COLLECTIVE over MPI_COMM_WORLD. Returns the exit status. */
static int train(const struct images *set, long epochs, uint64_t seed)
{
    static int index[MAX_IMAGES], label[TEST_IMAGES];
    static float host[TEST_IMAGES * CLASSES];
    const int learn = set->count - TEST_IMAGES;
    const int rows = (TEST_IMAGES + ranks - 1) / ranks;
    uint64_t split = SPLIT_SEED, hash;
    struct network net;
    double accuracy = 0.0;
    bool equal;

    network_create(rows, &seed, &net);
    for (int i = 0; i < set->count; i++)
        index[i] = i;
    random_shuffle(&split, set->count, index);
    for (long epoch = 1; epoch <= epochs; epoch++) {
        const float rest = (float)(epochs - epoch + 1) / (float)epochs;
        double loss;

        random_shuffle(&seed, learn, index);
        loss = train_epoch(set, index, learn, 0.2f * rest, &net, label, host);
        accuracy = test_accuracy(set, index + learn, &net, label, host);
        if (rank == 0)
            printf("epoch %ld loss %.9g test %.2f%%\n", epoch, loss, accuracy);
    }
    equal = replicas_equal(&net, &hash);
    if (rank == 0) {
        printf("final test accuracy %.2f%%\n", accuracy);
        printf("weights %016llx\n", (unsigned long long)hash);
        printf("replicas %s\n", equal ? "equal" : "DIFFER");
    }
    return equal ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct images set;
    const char *data = "digits.csv";
    long epochs = 20;
    uint64_t seed = 1;
    int status, devices = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--data") == 0)
            data = argv[i + 1];
        else if (strcmp(argv[i], "--epochs") == 0)
            epochs = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = (uint64_t)strtol(argv[i + 1], NULL, 10);
        else
            must(false, "usage: digits-cuda [--data FILE] [--epochs N] "
                        "[--seed N]");
    }
    cuda(cudaGetDeviceCount(&devices));
    cuda(cudaSetDevice(rank % devices));
    if (rank == 0)
        images_read(data, &set);
    MPI_Bcast(&set.count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(set.x, set.count * FEATURES, MPI_FLOAT, 0, MPI_COMM_WORLD);
    MPI_Bcast(set.label, set.count, MPI_INT, 0, MPI_COMM_WORLD);
    status = train(&set, epochs, seed);
    MPI_Finalize();
    return status;
}
