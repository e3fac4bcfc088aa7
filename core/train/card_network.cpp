// SPDX-License-Identifier: GPL-3.0-or-later
#include "train/card_network.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <functional>
#include <future>
#include <latch>
#include <random>

#include "data/batches.h"
#include "model/blocks/parameters.h"
#include "train/optimizer.h"

namespace relascope::core {
namespace {

constexpr std::int64_t kBatch = 32, kChannels = 32, kHidden = 64;
constexpr int kMoved = 2;                     // largest shift in pixels, in each direction
constexpr std::int64_t kMostEpochFactor = 4;  // multiple of the requested epochs

struct CardNetworkImpl : ModelImpl {
    CardNetworkImpl(const CardPictures& cards, std::int64_t embedding, at::Generator generator)
        : m_generator(std::move(generator)) {
        const auto pooled = [](std::int64_t side) { return (side - 4) / 4; };
        const std::int64_t flat =
            kChannels * pooled(pooled(cards.height)) * pooled(pooled(cards.width));
        add("conv1", {kChannels, 3, 5, 5});
        add("conv2", {kChannels, kChannels, 5, 5});
        add("hidden", {kHidden, flat});
        add("embedding", {embedding, kHidden});
        add("attributes", {cards.attributes * cards.values, embedding});
    }

    /// pictures [b, 3, h, w] -> [b, embedding].
    torch::Tensor embed(torch::Tensor x) {
        for (const char* name : {"conv1", "conv2"})
            // Max-pooling before relu gives the same result with a sixteenth of the work.
            x = torch::relu(torch::max_pool2d(torch::conv2d(x, weight(name), bias(name)), {4, 4}));
        x = torch::relu(linear("hidden", x.flatten(1)));
        return torch::tanh(linear("embedding", x));
    }
    /// -> [b, attributes * values], before the sigmoid.
    torch::Tensor forward(const ModelInput& pictures) override {
        return linear("attributes", embed(pictures.x));
    }

private:
    // Glorot-uniform, biases 0, from its own generator, so that a run that trains meanwhile is not
    // affected.
    void add(const std::string& name, std::vector<std::int64_t> sizes) {
        const std::int64_t field = sizes.size() == 4 ? sizes[2] * sizes[3] : 1;
        const double bound = std::sqrt(6.0 / static_cast<double>((sizes[0] + sizes[1]) * field));
        register_parameter(name + "_weight", newParameter(sizes, [&](torch::Tensor& t) {
                               t.uniform_(-bound, bound, m_generator);
                           }));
        register_parameter(name + "_bias", newConstant({sizes[0]}, 0.0));
    }
    torch::Tensor weight(const std::string& name) { return parameters_[name + "_weight"]; }
    torch::Tensor bias(const std::string& name) { return parameters_[name + "_bias"]; }
    torch::Tensor linear(const std::string& name, const torch::Tensor& x) {
        return torch::addmm(bias(name), x, weight(name).t());
    }

    at::Generator m_generator;
};

// Ink on paper: white is 0. [cards, 3, h, w].
torch::Tensor inkOf(const CardPictures& cards) {
    const auto count = static_cast<std::int64_t>(cards.answers.size()) / cards.attributes;
    const auto bytes = torch::tensor(torch::ArrayRef<std::uint8_t>(cards.pixels))
                           .view({count, cards.height, cards.width, 3});
    return (1.0 - bytes.permute({0, 3, 1, 2}).to(torch::kFloat) / 255.0).contiguous();
}

// [cards, attributes * values]: 1 for the value that each attribute has.
torch::Tensor targetsOf(const CardPictures& cards) {
    const auto answers =
        torch::tensor(torch::ArrayRef<int>(cards.answers)).view({-1, cards.attributes});
    return torch::one_hot(answers.to(torch::kLong), cards.values).flatten(1).to(torch::kFloat);
}

struct Examples {
    torch::Tensor pictures, targets;
};

// Cards drawn with replacement, each shifted a little; the edge pixels are repeated into the
// uncovered area.
Examples drawn(const CardPictures& cards, const CardNetworkOptions& options) {
    std::mt19937_64 random(options.seed ^ 0x6361726473534554ULL);
    const auto below = [&random](std::uint64_t n) {
        return static_cast<std::int64_t>(
            static_cast<std::uint64_t>((static_cast<unsigned __int128>(random()) * n) >> 64));
    };
    const auto ink = inkOf(cards), targets = targetsOf(cards);
    const auto wide = torch::replication_pad2d(ink, {kMoved, kMoved, kMoved, kMoved});
    std::vector<torch::Tensor> pictures, answers;
    for (std::int64_t i = 0; i < options.examples; ++i) {
        const auto card = below(static_cast<std::uint64_t>(ink.size(0)));
        const auto down = below(2 * kMoved + 1), along = below(2 * kMoved + 1);
        pictures.push_back(wide[card].narrow(1, down, cards.height).narrow(2, along, cards.width));
        answers.push_back(targets[card]);
    }
    return {torch::stack(pictures), torch::stack(answers)};
}

// The table that the network gives now.
CardTable tableOf(CardNetworkImpl& network, const CardPictures& cards, std::int64_t epochs) {
    const torch::NoGradGuard noGrad;
    const auto ink = inkOf(cards);
    const auto vectors = network.embed(ink).contiguous();
    const auto correct =
        network.forward(ink)
            .view({-1, cards.attributes, cards.values})
            .argmax(2)
            .eq(targetsOf(cards).view({-1, cards.attributes, cards.values}).argmax(2))
            .sum()
            .item<std::int64_t>();
    const auto* values = vectors.const_data_ptr<float>();
    return {vectors.size(1),
            {values, values + vectors.numel()},
            static_cast<double>(correct) / static_cast<double>(cards.answers.size()),
            epochs};
}

CardTable trained(const CardPictures& cards, const CardNetworkOptions& options,
                  const ProgressCallback& progress, const std::stop_token& stop) {
    const auto network = std::make_shared<CardNetworkImpl>(
        cards, options.embedding, at::make_generator<at::CPUGeneratorImpl>(options.seed));
    const auto examples = drawn(cards, options);
    TrainOptions adam;
    adam.beta2 = 0.999;
    adam.learning_rate = 2e-3;  // with batches of 32, half the epochs that 1e-3 takes with 64
    Optimizer optimizer(*network, adam);
    CardTable table;
    for (std::int64_t epoch = 0; epoch < kMostEpochFactor * options.epochs; ++epoch) {
        const auto order = torch::tensor(shuffledOrder(options.examples, options.seed, epoch));
        for (std::int64_t at = 0; at < options.examples; at += kBatch) {
            const double fraction =
                (static_cast<double>(epoch) +
                 static_cast<double>(at) / static_cast<double>(options.examples)) /
                static_cast<double>(options.epochs);
            if (stop.stop_requested() || (progress && !progress(std::min(fraction, 0.999))))
                throw Cancelled();
            const auto rows = order.slice(0, at, at + kBatch);
            optimizer.zeroGradients();
            torch::binary_cross_entropy_with_logits(
                network->forward(examples.pictures.index_select(0, rows)),
                examples.targets.index_select(0, rows))
                .backward();
            optimizer.step(adam.learning_rate);
        }
        if (epoch + 1 < options.epochs) continue;
        table = tableOf(*network, cards, epoch + 1);
        if (table.accuracy == 1.0) return table;
    }
    throw OptionError("data.embedding",
                      std::to_string(options.embedding) +
                          " values per card are not enough: after " + std::to_string(table.epochs) +
                          " epochs the card network recognises only " +
                          std::to_string(static_cast<int>(100.0 * table.accuracy)) +
                          " % of the attributes; use a larger data.embedding or another data.seed");
}

// Runs `work` in a thread that uses no further threads. torch keeps the number of threads for each
// thread, but new threads start with the number that was set last, which is therefore restored.
CardTable onOneThread(const std::function<CardTable()>& work) {
    const int threads = at::get_num_threads();
    std::latch set(1);
    auto table = std::async(std::launch::async, [&] {
        at::get_num_threads();  // initialises the number of threads of this thread before it is
                                // changed
        at::set_num_threads(1);
        set.count_down();
        return work();
    });
    set.wait();
    at::set_num_threads(threads);
    return table.get();
}

}  // namespace

CardTable trainCardNetwork(const CardPictures& cards, const CardNetworkOptions& options,
                           const ProgressCallback& progress, std::stop_token stop) {
    return onOneThread([&] { return trained(cards, options, progress, stop); });
}

}  // namespace relascope::core
