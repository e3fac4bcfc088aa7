// SPDX-License-Identifier: GPL-3.0-or-later
// The ranks of one run: where they meet, what they exchange, how a loss is reported.
#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/cuda.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>

#include "ranks/communicator.h"
#include "ranks/gradient_buckets.h"
#include "support/rank_threads.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using namespace testing_support;
using Environment = std::map<std::string, std::string>;

template <class Work>
std::string refusal(Work work) {
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(RankPlace, TakesTheVariablesOfEachLauncher) {
    const auto mpi = launchedPlace({{"OMPI_COMM_WORLD_RANK", "2"},
                                    {"OMPI_COMM_WORLD_SIZE", "4"},
                                    {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                    {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                    {"PMIX_NAMESPACE", "job7"}},
                                   "node1:29500");
    ASSERT_TRUE(mpi);
    EXPECT_EQ(mpi->rank, 2);
    EXPECT_EQ(mpi->size, 4);
    EXPECT_EQ(mpi->localRank, 1);
    EXPECT_EQ(mpi->localSize, 2);
    EXPECT_EQ(mpi->host, "node1");
    EXPECT_EQ(mpi->port, 29500);
    EXPECT_EQ(mpi->key, "job7");

    const auto slurm = launchedPlace({{"SLURM_PROCID", "5"},
                                      {"SLURM_STEP_NUM_TASKS", "8"},
                                      {"SLURM_LOCALID", "1"},
                                      {"SLURM_STEP_TASKS_PER_NODE", "4(x2)"},
                                      {"SLURM_JOB_ID", "77"}},
                                     "[fd00::1]:20077");
    ASSERT_TRUE(slurm);
    EXPECT_EQ(slurm->rank, 5);
    EXPECT_EQ(slurm->localSize, 4);
    EXPECT_EQ(slurm->host, "fd00::1");

    const auto torchrun = launchedPlace({{"RANK", "1"},
                                         {"WORLD_SIZE", "2"},
                                         {"LOCAL_RANK", "1"},
                                         {"MASTER_ADDR", "10.0.0.1"},
                                         {"MASTER_PORT", "29500"}},
                                        "");
    ASSERT_TRUE(torchrun);
    EXPECT_EQ(torchrun->host, "10.0.0.1");
    EXPECT_EQ(torchrun->port, 29501) << "torchrun's own store listens at 29500";
}

TEST(RankPlace, OneProcessHasNone) {
    EXPECT_FALSE(launchedPlace({}, ""));
    EXPECT_FALSE(launchedPlace({{"RANK", "0"}, {"WORLD_SIZE", "1"}}, ""));
    // A batch script, which runs the program without srun, has these as well.
    EXPECT_FALSE(launchedPlace({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}, ""));
}

TEST(RankPlace, RefusesWhatContradictsItself) {
    const Environment twoMachines = {{"OMPI_COMM_WORLD_RANK", "0"},
                                     {"OMPI_COMM_WORLD_SIZE", "4"},
                                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
    EXPECT_NE(refusal([&] { launchedPlace(twoMachines, ""); }).find("--rendezvous"),
              std::string::npos);
    EXPECT_NE(refusal([] {
                  launchedPlace({{"RANK", "3"}, {"WORLD_SIZE", "2"}}, "");
              }).find("3 is not below WORLD_SIZE, 2"),
              std::string::npos);
    EXPECT_NE(refusal([] {
                  launchedPlace({{"RANK", "x"}, {"WORLD_SIZE", "2"}}, "");
              }).find("RANK: 'x' is not a number"),
              std::string::npos);
    for (const Environment& wrong : {Environment{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "abc"}},
                                     {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}},
                                     {{"OMPI_COMM_WORLD_RANK", "1"}}})
        EXPECT_NE(refusal([&] { launchedPlace(wrong, ""); }), "") << wrong.begin()->first;
    RankPlace place;
    for (const char* wrong : {"node1", ":5", "node1:0", "node1:70000", "node1:x", "node1:"})
        EXPECT_NE(refusal([&] { readRendezvous(wrong, place); }), "") << wrong;
}

TEST(RankPlace, RanksOfOneMachineMeetThroughAFile) {
    const TemporaryFolder home("ranks");
    std::filesystem::create_directories(home.path());
    const auto file = home / "meeting";
    RankPlace first, second;
    second.rank = 1;
    std::thread other([&] { meetThroughFile(second, file); });
    meetThroughFile(first, file);
    other.join();
    EXPECT_GT(first.port, 0);
    EXPECT_EQ(second.port, first.port);
    EXPECT_EQ(second.key, first.key);
    EXPECT_EQ(first.key.size(), 64u);
    const auto others = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
    EXPECT_EQ(std::filesystem::status(file).permissions() & others, std::filesystem::perms::none)
        << "the key is a secret";
    close(first.listening);

    RankPlace late;
    late.rank = 1, late.timeout = std::chrono::seconds(1);
    EXPECT_NE(refusal([&] { meetThroughFile(late, home / "nobody"); }).find("within 1 s"),
              std::string::npos);
}

TEST(RankPlace, ListensAtItsAddressAlone) {
    RankPlace place;
    listenAt(place);
    sockaddr_in own{};
    socklen_t size = sizeof own;
    ASSERT_EQ(getsockname(place.listening, reinterpret_cast<sockaddr*>(&own), &size), 0);
    EXPECT_EQ(ntohl(own.sin_addr.s_addr), INADDR_LOOPBACK);
    RankPlace taken;
    taken.port = place.port;
    EXPECT_NE(refusal([&] { listenAt(taken); }).find("give another address or port"),
              std::string::npos);
    close(place.listening);
}

TEST(Ranks, ExchangeNumbersAndTexts) {
    std::mutex mutex;
    std::vector<torch::Tensor> sums;
    onGoodRanks(3, [&](RankGroup& ranks) {
        const int r = ranks.rank();
        ASSERT_EQ(ranks.size(), 3);
        EXPECT_EQ(ranks.leads(), r == 0);
        auto sum = torch::full({1000}, 0.1 * (r + 1));
        ranks.host().allReduce(sum)->wait();
        {
            const std::lock_guard lock(mutex);
            sums.push_back(sum);
        }
        auto value = torch::full({4}, r);
        ranks.host().broadcast(value, 2);
        EXPECT_TRUE(torch::equal(value, torch::full({4}, 2)));
        auto all = torch::empty({6}, torch::kLong);
        ranks.host().allGather(all, torch::full({2}, r, torch::kLong));
        EXPECT_TRUE(torch::equal(all, torch::tensor({0, 0, 1, 1, 2, 2})));
        const auto rows = ranks.gather({static_cast<double>(r), 0.5});
        ASSERT_EQ(rows.size(), 3u);
        EXPECT_EQ(rows[2], (std::vector<double>{2.0, 0.5}));
        EXPECT_FALSE(ranks.any(false));
        EXPECT_TRUE(ranks.any(r == 1));
        EXPECT_EQ(ranks.broadcast(r == 0 ? "hello" : "ignored"), "hello");
        EXPECT_EQ(ranks.broadcast(""), "");
        EXPECT_EQ(ranks.gatherTexts(std::string(static_cast<std::size_t>(r), 'x')),
                  (std::vector<std::string>{"", "x", "xx"}));
        auto taken = torch::full({2, 3}, r, torch::kDouble).t();  // not contiguous
        ranks.takeFromLeader(taken);
        EXPECT_EQ(taken.sum().item<double>(), 0.0);
    });
    ASSERT_EQ(sums.size(), 3u);
    EXPECT_NEAR(sums[0][0].item<double>(), 0.6, 1e-6);
    EXPECT_TRUE(torch::equal(sums[0], sums[1]) && torch::equal(sums[0], sums[2]))
        << "the same bits on each rank";
}

TEST(Ranks, ALossNamesTheRankAndItsReason) {
    std::string said, silent;
    const auto problems = onRanks(2, [&](RankGroup& ranks) {
        if (ranks.rank() == 1) {
            ranks.leave("its device is on fire");
            ranks.leave("");  // what follows from it is no reason
            return;
        }
        auto sum = torch::zeros({8});
        try {
            for (int i = 0; i < 100; ++i) ranks.host().allReduce(sum)->wait();
            FAIL() << "the loss was not seen";
        } catch (const RankLost& lost) {
            said = ranks.describeLoss(lost.what(), 812);
        }
        EXPECT_TRUE(ranks.isLost());
    });
    EXPECT_EQ(problems, std::vector<std::string>(2));
    EXPECT_NE(said.find("rank 1 ("), std::string::npos) << said;
    EXPECT_NE(said.find(", cpu) was lost at step 812: its device is on fire"), std::string::npos)
        << said;
    // One that says nothing is known by its silence.
    onRanks(2, [&](RankGroup& ranks) {
        if (ranks.rank() == 1) return;
        auto sum = torch::zeros({8});
        try {
            for (int i = 0; i < 100; ++i) ranks.host().allReduce(sum)->wait();
        } catch (const RankLost& lost) {
            silent = ranks.describeLoss(lost.what(), 3);
        }
    });
    EXPECT_EQ(silent.rfind("rank 1 (", 0), 0u) << silent;
}

TEST(Ranks, ARankThatCannotJoinSaysWhy) {
    RankPlace place;
    place.size = 2, place.key = randomKey(), place.timeout = std::chrono::seconds(30);
    listenAt(place);
    std::string said;
    std::thread leader([&] { said = refusal([&] { RankGroup ranks(place, "cpu"); }); });
    auto other = place;
    other.rank = 1, other.listening = -1;
    RankGroup::refuse(other, "train.device: cuda:7 is not a device of this machine");
    leader.join();
    EXPECT_EQ(said,
              "rank 1 cannot take part: train.device: cuda:7 is not a device of this machine");

    RankPlace alone;
    alone.size = 2, alone.key = randomKey(), alone.timeout = std::chrono::seconds(30);
    listenAt(alone);
    said = refusal([&] { RankGroup ranks(alone, "cpu", [](int) { return "it ended with 3"; }); });
    EXPECT_EQ(said, "rank 1 cannot take part: it ended with 3");
}

TEST(Ranks, AnotherKeyDoesNotFindThem) {
    RankPlace place;
    place.size = 2, place.key = randomKey(), place.timeout = std::chrono::seconds(2);
    listenAt(place);
    std::string said;
    std::thread leader([&] { said = refusal([&] { RankGroup ranks(place, "cpu"); }); });
    auto stranger = place;
    stranger.rank = 1, stranger.listening = -1, stranger.key = "guessed";
    EXPECT_NE(refusal([&] { RankGroup ranks(stranger, "cpu"); }), "");
    leader.join();
    EXPECT_NE(said.find("it has not joined within 2 s"), std::string::npos) << said;
}

TEST(Ranks, WithoutRank0TheAddressIsNamed) {
    RankPlace place;
    listenAt(place);
    close(place.listening);  // nobody listens there any more
    place.rank = 1, place.size = 2, place.key = randomKey(), place.listening = -1;
    place.timeout = std::chrono::seconds(1);
    const auto said = refusal([&] { RankGroup ranks(place, "cpu"); });
    EXPECT_EQ(said, "rank 0 was not found at 127.0.0.1 at port " + std::to_string(place.port) +
                        " within 1 s; start it there, or give its address with --rendezvous");
}

TEST(Ranks, AnotherProgramAtTheAddressIsNotWaitedForWithoutEnd) {
    RankPlace place;
    listenAt(place);  // takes connections, and never answers
    auto other = place;
    other.rank = 1, other.size = 2, other.key = randomKey(), other.listening = -1;
    other.timeout = std::chrono::seconds(1);
    const auto said = refusal([&] { RankGroup ranks(other, "cpu"); });
    EXPECT_NE(said.find("127.0.0.1 at port " + std::to_string(place.port)), std::string::npos)
        << said;
    EXPECT_NE(said.find("perhaps another program"), std::string::npos) << said;
    close(place.listening);
}

TEST(Ranks, OtherOptionsAreRefusedOnAllRanks) {
    RankPlace first;
    first.size = 2, first.key = randomKey(), first.timeout = std::chrono::seconds(30);
    first.options = {"train", "quick", "--epochs 3"};
    listenAt(first);
    auto second = first;
    second.rank = 1, second.listening = -1, second.options.back() = "--epochs 4";
    std::string said;
    std::thread leader([&] { said = refusal([&] { RankGroup ranks(first, "cpu"); }); });
    const auto other = refusal([&] { RankGroup ranks(second, "cpu"); });
    leader.join();
    EXPECT_EQ(other, said);
    EXPECT_NE(said.find("was given '--epochs 4', and rank 0 '--epochs 3'"), std::string::npos)
        << said;
}

// Parameters of a small stack, with one that is used twice and one that is never used.
struct Stack {
    Stack() {
        torch::manual_seed(3);
        for (const std::int64_t n : {7, 5, 3, 4})
            parameters.push_back(torch::randn({n, 6}).requires_grad_());
        unused = torch::zeros({2}).requires_grad_();
        parameters.push_back(unused);
    }
    torch::Tensor loss(const torch::Tensor& x) const {
        auto sum = torch::zeros({});
        for (std::size_t i = 0; i + 1 < parameters.size(); ++i)
            sum = sum + x.matmul(parameters[i].t()).tanh().pow(2).sum();
        return sum + x.matmul(parameters[1].t()).sum();  // a second use
    }
    std::vector<torch::Tensor> parameters;
    torch::Tensor unused;
};

// A backward pass within the backward pass, as activation checkpointing has it: parameters that two
// blocks share arrive twice.
struct Nested : torch::autograd::Function<Nested> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context, torch::Tensor x,
                                 torch::Tensor shared) {
        context->saved_data["x"] = x;
        context->saved_data["shared"] = shared;
        return (x * shared).sum();
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
        auto x = context->saved_data["x"].toTensor().detach().requires_grad_();
        const auto shared = context->saved_data["shared"].toTensor();
        const torch::AutoGradMode withGradients(true);
        (x * shared).sum().backward(gradients[0]);
        return {x.grad(), torch::Tensor()};
    }
};

TEST(GradientBuckets, SumTheGradientsOfAllRanks) {
    Stack alone;
    const auto input = torch::randn({8, 6});
    for (int step = 0; step < 4; ++step) alone.loss(input).backward();
    std::mutex mutex;
    std::vector<std::vector<torch::Tensor>> found(2);
    onGoodRanks(2, [&](RankGroup& ranks) {
        std::unique_lock lock(mutex);  // the generator is common
        const Stack own;
        lock.unlock();
        GradientBuckets buckets(own.parameters, ranks, {40, 100});
        const auto r = ranks.rank();
        std::vector<torch::Tensor> sums(own.parameters.size());
        for (int step = 0; step < 4; ++step) {
            buckets.zero();
            // Two passes a step; the first one starts nothing.
            buckets.beginPass(false);
            own.loss(input.slice(0, 4 * r, 4 * r + 2)).backward();
            buckets.beginPass(true);
            own.loss(input.slice(0, 4 * r + 2, 4 * r + 4)).backward();
            buckets.finish();
            EXPECT_FALSE(own.unused.grad().defined()) << "no rank has a gradient for it";
            for (std::size_t i = 0; i + 1 < own.parameters.size(); ++i) {
                ASSERT_TRUE(own.parameters[i].grad().defined());
                const auto sum = own.parameters[i].grad().clone();
                sums[i] = sums[i].defined() ? sums[i] + sum : sum;
            }
        }
        EXPECT_GT(buckets.bucketCount(), 3u) << "several are summed early";
        lock.lock();
        found[static_cast<std::size_t>(r)] = sums;
    });
    for (std::size_t i = 0; i + 1 < alone.parameters.size(); ++i) {
        EXPECT_TRUE(torch::equal(found[0][i], found[1][i]));
        EXPECT_TRUE(torch::allclose(found[0][i], alone.parameters[i].grad(), 1e-5, 1e-5)) << i;
    }
}

TEST(GradientBuckets, ParametersThatArriveTwiceAreSummedLast) {
    onGoodRanks(2, [&](RankGroup& ranks) {
        const auto shared = torch::ones({3}).requires_grad_(),
                   single = torch::ones({3}).requires_grad_();
        GradientBuckets buckets({single, shared}, ranks, {4, 4});
        for (int step = 0; step < 3; ++step) {
            buckets.zero();
            buckets.beginPass(true);
            const auto x = torch::full({3}, 1.0 + ranks.rank()).requires_grad_();
            const auto loss = Nested::apply(x * single, shared) + Nested::apply(x, shared);
            loss.backward();
            buckets.finish();
            // Each rank: 2 x for the shared one, x for the single one; summed over x = 1 and 2.
            EXPECT_TRUE(torch::equal(shared.grad(), torch::full({3}, 6.0F))) << step;
            EXPECT_TRUE(torch::equal(single.grad(), torch::full({3}, 3.0F))) << step;
        }
    });
}

TEST(GradientBuckets, ARankWithoutAnExampleAddsNothing) {
    onGoodRanks(3, [&](RankGroup& ranks) {
        const auto weight = torch::ones({4}).requires_grad_();
        GradientBuckets buckets({weight}, ranks, {4, 4});
        for (int step = 0; step < 3; ++step) {
            buckets.zero();
            if (ranks.rank() != 1) {
                buckets.beginPass(true);
                (weight * 2.0).sum().backward();
            }
            buckets.finish();
            EXPECT_TRUE(torch::equal(weight.grad(), torch::full({4}, 4.0F)));
        }
    });
}

TEST(GradientBuckets, AGradientAfterTheSumIsAnError) {
    const auto problems = onRanks(1, [](RankGroup& ranks) {
        const auto weight = torch::ones({4}).requires_grad_();
        GradientBuckets buckets({weight}, ranks, {4, 4});
        for (int step = 0; step < 2; ++step) {
            buckets.zero();
            buckets.beginPass(true);
            weight.sum().backward();
            if (step == 1) weight.sum().backward();  // the plan says one
            buckets.finish();
        }
    });
    EXPECT_NE(problems[0].find("arrived after it was summed"), std::string::npos) << problems[0];
}

TEST(Nccl, SaysWhyItIsNotThere) {
    const auto problems = onRanks(1, [](RankGroup& ranks) {
        makeNcclCommunicator(ranks.host(), "cuda:0", std::chrono::seconds(1), {});
    });
    if (torch::cuda::is_available()) GTEST_SKIP() << "it may be there";
    EXPECT_NE(problems[0].find("several GPUs need NCCL, which cannot be used: "), std::string::npos)
        << problems[0];
}

}  // namespace
}  // namespace relascope
