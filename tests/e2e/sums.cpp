// SPDX-License-Identifier: BSD-3-Clause
// A C++ program whose threads each have a communicator. Prints `right` if all
// sums are exact.
#include <mpi.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

struct Communicator {
    MPI_Comm comm;
    int rank, size;

    explicit Communicator(MPI_Comm from)
    {
        MPI_Comm_dup(from, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
    }
    Communicator(const Communicator &) = delete;
    Communicator &operator=(const Communicator &) = delete;
    ~Communicator() { MPI_Comm_free(&comm); }

    float total() const
    {
        return static_cast<float>(size * (size + 1)) / 16;
    }
    float mine() const { return static_cast<float>(rank + 1) / 8; }

    void sum(std::vector<float> &values) const
    {
        if (MPI_Allreduce(MPI_IN_PLACE, values.data(),
                          static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM,
                          comm) != MPI_SUCCESS)
            throw std::runtime_error("MPI_Allreduce");
    }
};

bool all_are(const std::vector<float> &values, float wanted)
{
    return std::all_of(values.begin(), values.end(),
                       [=](float value) { return value == wanted; });
}

bool blocking(const Communicator &comm, std::size_t count)
{
    std::vector<float> values(count, comm.mine());

    comm.sum(values);
    return all_are(values, comm.total());
}

// Several calls under way, completed in another order.
bool nonblocking(const Communicator &comm, std::size_t count)
{
    std::vector<std::vector<float>> in(4), out(4);
    std::vector<MPI_Request> requests(4);
    bool good = true;

    for (std::size_t i = 0; i < in.size(); i++) {
        in[i].assign(count + i, comm.mine());
        out[i].resize(count + i);
        MPI_Iallreduce(in[i].data(), out[i].data(),
                       static_cast<int>(count + i), MPI_FLOAT, MPI_SUM,
                       comm.comm, &requests[i]);
    }
    for (std::size_t i = in.size(); i-- > 0;)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (const auto &values : out)
        good &= all_are(values, comm.total());
    return good;
}

} // namespace

int main(int argc, char **argv)
{
    int provided, rank;
    bool good = true;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        std::vector<std::unique_ptr<Communicator>> own;
        std::vector<std::thread> threads;
        std::vector<char> right(4);

        for (std::size_t i = 0; i < right.size(); i++)
            own.push_back(std::make_unique<Communicator>(MPI_COMM_WORLD));
        for (std::size_t i = 0; i < right.size(); i++)
            threads.emplace_back([&, i] {
                bool all = true;

                for (std::size_t turn = 0; turn < 10; turn++)
                    all &= blocking(*own[i], 2000 + 500 * i) &&
                           nonblocking(*own[i], 3000);
                right[i] = all;
            });
        for (auto &thread : threads)
            thread.join();
        for (char one : right)
            good &= one != 0;
    }
    if (rank == 0)
        std::cout << (good ? "right" : "WRONG") << std::endl;
    MPI_Finalize();
    return good ? 0 : 1;
}
