// SPDX-License-Identifier: BSD-3-Clause
// libtorch in C++, as pytorch/examples' dist-mnist: an all-reduce of each parameter's
// gradient, first layer first. argv[1] is the folder of the images, unpacked; argv[2],
// if given, is where to save the weights.
#include <mpi.h>
#include <torch/torch.h>

#include <iostream>

struct Network : torch::nn::Module {
    Network()
        : conv1(torch::nn::Conv2dOptions(1, 16, 3).padding(1)),
          conv2(torch::nn::Conv2dOptions(16, 32, 3).padding(1)),
          fc1(32 * 7 * 7, 64), fc2(64, 10)
    {
        register_module("conv1", conv1);
        register_module("conv2", conv2);
        register_module("fc1", fc1);
        register_module("fc2", fc2);
    }
    torch::Tensor forward(torch::Tensor x)
    {
        x = torch::max_pool2d(torch::relu(conv1(x)), 2);
        x = torch::max_pool2d(torch::relu(conv2(x)), 2);
        return fc2(torch::relu(fc1(x.flatten(1))));
    }
    torch::nn::Conv2d conv1, conv2;
    torch::nn::Linear fc1, fc2;
};

int main(int argc, char **argv)
{
    const int images = 6000, batch = 64, epochs = 3;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    torch::set_num_threads(1);
    torch::manual_seed(1);
    using torch::data::datasets::MNIST;
    MNIST learn(argv[1]), test(argv[1], MNIST::Mode::kTest);
    torch::Tensor x = learn.images().slice(0, 0, images).sub(0.286).div(0.353);
    torch::Tensor label = learn.targets().slice(0, 0, images);
    Network model;
    if (argc > 2 && rank == 0)
        for (const auto &p : model.named_parameters())
            std::cout << "layer " << p.key() << "," << p.value().numel() << ","
                      << p.value().size(0) << "x"
                      << p.value().numel() / p.value().size(0) << "\n";
    torch::optim::SGD optimizer(model.parameters(),
                                torch::optim::SGDOptions(0.02).momentum(0.9));
    for (int epoch = 0; epoch < epochs; epoch++) {
        torch::Tensor order = torch::randperm(images);
        for (int i = rank * batch; i + (ranks - rank) * batch <= images;
             i += ranks * batch) {
            torch::Tensor mine = order.slice(0, i, i + batch);
            optimizer.zero_grad();
            torch::nn::functional::cross_entropy(
                model.forward(x.index_select(0, mine)), label.index_select(0, mine))
                .backward();
            for (auto &p : model.parameters()) {
                MPI_Allreduce(MPI_IN_PLACE, p.grad().data_ptr(), p.numel(), MPI_FLOAT,
                              MPI_SUM, MPI_COMM_WORLD);
                p.grad().div_(ranks);
            }
            optimizer.step();
        }
    }
    torch::NoGradGuard guard;
    x = test.images().slice(0, 0, 2000).sub(0.286).div(0.353);
    label = test.targets().slice(0, 0, 2000);
    if (rank == 0)
        std::printf("accuracy %.2f\n", model.forward(x).argmax(1).eq(label).sum()
                                               .item<int>() / 20.0);
    std::string digest = "weights";
    for (const auto &p : model.parameters())
        digest += " " + std::to_string(p.sum(torch::kFloat64).item<double>());
    std::printf("%s\n", digest.c_str());
    std::fflush(stdout);
    MPI_Finalize();
    return 0;
}
