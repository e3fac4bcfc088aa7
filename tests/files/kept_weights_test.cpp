// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/kept_weights.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "checkpoint/checkpoint.h"
#include "support/bytes_of.h"
#include "support/kept_values.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using namespace testing_support;
namespace fs = std::filesystem;
constexpr std::uint64_t kLarge = 1ull << 40;

std::vector<std::int64_t> stepsOf(const std::string& run) {
    std::vector<std::int64_t> steps;
    for (const auto& kept : KeptWeights(run).steps()) steps.push_back(kept.step);
    return steps;
}

void fill(const std::string& run, KeptForm form, std::int64_t from, std::int64_t to) {
    KeptRing ring(run, kLarge);
    for (auto step = from; step <= to; ++step)
        ASSERT_TRUE(ring.add(step, form, keptValues(step, form)));
}

std::string bytesOfFile(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(KeptWeights, ComeBackInEveryForm) {
    for (const auto form : {KeptForm::Float32, KeptForm::BFloat16, KeptForm::Xor}) {
        TemporaryFolder run("kept-forms");
        fill(run.path(), form, 0, 39);
        const KeptWeights kept(run.path());
        EXPECT_TRUE(kept.problems().empty());
        ASSERT_EQ(kept.steps().size(), 40U);
        int alone = 0;
        for (const auto& step : kept.steps()) {
            EXPECT_EQ(step.form, form);
            EXPECT_EQ(step.bytes, fs::file_size(keptFilePath(keptFolder(run.path()), step.step)));
            alone += step.base < 0 ? 1 : 0;
            EXPECT_TRUE(equalValues(readKeptValues(keptFolder(run.path()), step.step),
                                    keptValues(step.step, form)));
        }
        EXPECT_EQ(alone, form == KeptForm::Xor ? 3 : 40) << "one of sixteen";
    }
}

TEST(KeptWeights, AreASourceOfFloat32) {
    for (const auto form : {KeptForm::Float32, KeptForm::BFloat16, KeptForm::Xor}) {
        TemporaryFolder run("kept-source");
        fill(run.path(), form, 0, 5);
        const auto source = KeptWeights(run.path()).load(5);
        const auto values = keptValues(5, form);
        EXPECT_EQ(source->tensors().size(), values.tensors.size() + 1);
        const auto* weight = source->find("block.weight");
        ASSERT_TRUE(weight && source->find("block.tied"));
        EXPECT_EQ(source->find("block.tied")->sameAs, "block.weight");
        EXPECT_EQ(source->find("block.steps")->dtype, "I64");
        EXPECT_EQ(weight->dtype, "F32");
        EXPECT_EQ(weight->shape, (std::vector<std::int64_t>{24, 24}));
        std::vector<std::uint8_t> all(weight->bytes), part(400), expected;
        source->read(*weight, all);
        source->readPart(*source->find("block.tied"), 1000, part);
        EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + 1000));
        const auto& stored = values.tensors.back().bytes;
        if (form == KeptForm::Float32)
            expected = stored;
        else
            for (std::size_t i = 0; i < stored.size(); i += 2)
                expected.insert(expected.end(), {0, 0, stored[i], stored[i + 1]});
        EXPECT_EQ(all, expected);
        EXPECT_THROW(source->readPart(*weight, all.size() - 4, part), FileError);
    }
}

TEST(KeptWeights, TheNearestIsFound) {
    TemporaryFolder run("kept-nearest");
    EXPECT_EQ(KeptWeights(run.path()).nearest(3), nullptr);
    KeptRing ring(run.path(), kLarge);
    for (const std::int64_t step : {0, 4, 10, 96})
        ring.add(step, KeptForm::Float32, keptValues(step, KeptForm::Float32));
    const KeptWeights kept(run.path());
    for (const auto& [wanted, found] :
         {std::pair{0, 0}, {2, 0}, {3, 4}, {7, 4}, {8, 10}, {53, 10}, {54, 96}, {100000, 96}})
        EXPECT_EQ(kept.nearest(wanted)->step, found) << wanted;
    EXPECT_EQ(kept.find(4)->step, 4);
    EXPECT_EQ(kept.find(5), nullptr);
    EXPECT_THROW(kept.load(5), FileError);
}

// In every form: the budget holds, whatever was asked for stays, and all that stays is unchanged.
TEST(KeptRing, DropsTheLeastMissedSteps) {
    for (const auto form : {KeptForm::Float32, KeptForm::BFloat16, KeptForm::Xor}) {
        TemporaryFolder run("kept-budget");
        const std::uint64_t budget = form == KeptForm::Float32    ? 40'000
                                     : form == KeptForm::BFloat16 ? 25'000
                                                                  : 20'000;
        KeptRing ring(run.path(), budget, [](std::int64_t step) { return step != 7; });
        for (std::int64_t step = 0; step < 60; ++step) {
            ASSERT_TRUE(ring.add(step, form, keptValues(step, form)));
            if (step == 5) markKeptStep(run.path(), 5, true);
            EXPECT_LE(ring.bytes(), budget);
        }
        const KeptWeights kept(run.path());
        EXPECT_TRUE(kept.problems().empty());
        EXPECT_LT(kept.steps().size(), 30U);
        EXPECT_GT(kept.steps().size(), 7U);
        EXPECT_EQ(kept.steps().front().step, 0);
        EXPECT_EQ(kept.steps().back().step, 59);
        EXPECT_TRUE(kept.find(5) && kept.find(5)->marked);
        EXPECT_TRUE(kept.find(7));
        std::uint64_t bytes = 0;
        for (const auto& step : kept.steps()) {
            bytes += step.bytes;
            EXPECT_TRUE(equalValues(readKeptValues(keptFolder(run.path()), step.step),
                                    keptValues(step.step, form)));
        }
        EXPECT_EQ(bytes, ring.bytes());
    }
}

TEST(KeptRing, KeepsNoMoreThanMayBeDropped) {
    TemporaryFolder run("kept-full");
    KeptRing ring(run.path(), 10'000, [](std::int64_t) { return false; });
    std::int64_t step = 0;
    while (ring.add(step, KeptForm::Float32, keptValues(step, KeptForm::Float32))) ++step;
    EXPECT_EQ(stepsOf(run.path()).size(), static_cast<std::size_t>(step));
    EXPECT_GT(step, 1);
    EXPECT_LE(ring.bytes(), 10'000U);
}

TEST(KeptRing, LeavesRoomOnTheDisk) {
    TemporaryFolder run("kept-reserve");
    KeptRing ring(run.path(), kLarge);
    EXPECT_THROW(
        ring.add(0, KeptForm::Float32, keptValues(0, KeptForm::Float32), std::uint64_t{1} << 62),
        DiskFull);
    EXPECT_TRUE(fs::is_empty(keptFolder(run.path())));
}

TEST(KeptRing, GoesOnFromWhatIsThere) {
    TemporaryFolder run("kept-resumed");
    fill(run.path(), KeptForm::Xor, 0, 20);
    std::ofstream(keptFolder(run.path()) + "/step-21.safetensors.tmp-1-2") << "half";
    std::ofstream(keptFolder(run.path()) + "/step-18.marked") << "";
    dropKeptAfter(run.path(), 17);
    EXPECT_EQ(stepsOf(run.path()).back(), 17);
    EXPECT_EQ(std::distance(fs::directory_iterator(keptFolder(run.path())), {}), 18);
    fill(run.path(), KeptForm::Xor, 10, 24);  // those up to 17 stay
    const KeptWeights kept(run.path());
    EXPECT_EQ(kept.steps().size(), 25U);
    EXPECT_EQ(kept.find(18)->base, -1);
    EXPECT_EQ(kept.find(19)->base, 18);
    for (std::int64_t step = 0; step <= 24; ++step)
        EXPECT_TRUE(equalValues(readKeptValues(keptFolder(run.path()), step),
                                keptValues(step, KeptForm::Xor)));
    TemporaryFolder other("kept-copied");
    copyKept(run.path(), other.path(), 19);
    EXPECT_EQ(stepsOf(other.path()).size(), 20U);
    EXPECT_TRUE(
        equalValues(readKeptValues(keptFolder(other.path()), 19), keptValues(19, KeptForm::Xor)));
}

// Killed at any moment, also while a step is dropped and the one after it is written again.
TEST(KeptRing, CanBeReadAfterAKill) {
    std::mt19937 random(7);
    for (int round = 0; round < 12; ++round) {
        TemporaryFolder run("kept-kill");
        const auto child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            KeptRing ring(run.path(), 20'000);
            for (std::int64_t step = 0;; ++step)
                ring.add(step, KeptForm::Xor, keptValues(step, KeptForm::Xor));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 150));
        ::kill(child, SIGKILL);
        ASSERT_EQ(::waitpid(child, nullptr, 0), child);
        const KeptWeights kept(run.path());
        EXPECT_TRUE(kept.problems().empty());
        for (const auto& step : kept.steps())
            EXPECT_TRUE(equalValues(readKeptValues(keptFolder(run.path()), step.step),
                                    keptValues(step.step, KeptForm::Xor)));
    }
}

// Each in a file of its own, with a sentence that names the file, the field and its value.
class HostileKept : public testing::Test {
protected:
    void SetUp() override { fill(m_run.path(), KeptForm::Xor, 0, 3); }

    /// Writes step 3 with other metadata or entries.
    template <class Change>
    void rewrite(Change change) {
        const auto base = keptValues(2, KeptForm::Xor);
        auto packed = packWeights(3, KeptForm::Xor, keptValues(3, KeptForm::Xor), 2, &base);
        change(packed);
        writePacked(m_path, packed);
    }
    void expectProblem(const std::string& words, bool inTheHeader = true) {
        const KeptWeights kept(m_run.path());
        EXPECT_EQ(kept.problems().size(), inTheHeader ? 1U : 0U) << words;
        try {
            const auto source = kept.load(3);
            std::vector<std::uint8_t> out(source->find("block.weight")->bytes);
            source->read(*source->find("block.weight"), out);
            ADD_FAILURE() << "accepted: " << words;
        } catch (const FileError& error) {
            const std::string text = error.what();
            EXPECT_NE(text.find(words), std::string::npos) << text;
            EXPECT_NE(text.find("step-3.safetensors"), std::string::npos) << text;
        }
    }

    TemporaryFolder m_run{"kept-hostile"};
    std::string m_path = keptFilePath(keptFolder(m_run.path()), 3);
};

TEST_F(HostileKept, Metadata) {
    const auto with = [&](const char* key, const char* value, const std::string& words) {
        rewrite([&](PackedWeights& packed) { packed.metadata[key] = value; });
        expectProblem(words);
    };
    with("kept", "2", "metadata 'kept' is 2; this version reads format 1");
    with("step", "4", "metadata 'step' is 4, but its name says 3");
    with("step", "-3", "metadata 'step' is '-3', not a whole number");
    with("step", "99999999999999999999", "metadata 'step' is '99999999999999999999'");
    with("form", "f8", "metadata 'form' is 'f8'; float32, bfloat16 and xor are known");
    with("form", "float16", "metadata 'form' is 'float16'");
    with("base", "3", "metadata 'base' is 3, not a step before 3");
    with("base", "1000", "metadata 'base' is 1000, not a step before 3");
    with("crc32", "4294967296", "metadata 'crc32' is '4294967296'");
    with("shape/block.weight", "24,24,", "the shape '24,24,' is not one");
    with("shape/block.weight", "24,-1", "the shape '24,-1' is not one");
    with("shape/block.weight", "4294967296,4294967296,4", "is not one");
    with("shape/block.weight", "100000,100000", "compressed bytes can hold");
    with("shape/block.steps", "4", "'block.steps' is I64, not the compressed bytes");
    rewrite([](PackedWeights& packed) { packed.metadata.erase("crc32"); });
    expectProblem("lacks the metadata 'crc32'");
}

TEST_F(HostileKept, Values) {
    const auto with = [&](const char* key, const char* value, const std::string& words) {
        rewrite([&](PackedWeights& packed) { packed.metadata[key] = value; });
        expectProblem(words, false);
    };
    with("crc32", "1", "metadata 'crc32' is 1, but the weights have");
    with("base_crc32", "1", "it is not the base that this file was made from");
    with("base", "1", "it is not the base that this file was made from");
    with("shape/block.weight", "24,25", "'block.weight' is not the same in its base, step 2");
    rewrite([](PackedWeights& packed) { packed.data.back()[20] ^= 0xff; });
    expectProblem("", false);
    rewrite([](PackedWeights& packed) {
        packed.data.pop_back();
        packed.entries.pop_back();
    });
    EXPECT_THROW(readKeptValues(keptFolder(m_run.path()), 3), FileError);
}

TEST_F(HostileKept, Files) {
    const std::string whole = bytesOfFile(m_path);
    for (const std::size_t cut :
         {std::size_t{0}, std::size_t{7}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
        writeBytes(m_path, whole.substr(0, cut));
        expectProblem("");
    }
    writeBytes(m_path, le(1ull << 62, 8) + whole.substr(8));
    expectProblem("header");
    writeBytes(m_path, whole);
    fs::remove(keptFilePath(keptFolder(m_run.path()), 1));
    EXPECT_EQ(stepsOf(m_run.path()), std::vector<std::int64_t>{0});
    EXPECT_EQ(KeptWeights(m_run.path()).problems().size(), 2U);
    EXPECT_THROW(KeptWeights(m_run.path()).load(3), FileError);
    // A base of another form.
    writePacked(keptFilePath(keptFolder(m_run.path()), 1),
                packWeights(1, KeptForm::BFloat16, keptValues(1, KeptForm::BFloat16)));
    try {
        (void)KeptWeights(m_run.path()).load(2);
        ADD_FAILURE();
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("whose form is bfloat16, not xor"),
                  std::string::npos);
    }
    // Names that are not those of kept weights.
    for (const char* name : {"step-.safetensors", "step-007.safetensors", "step--1.safetensors",
                             "step-99999999999999999999.safetensors", "step-1.safetensors.bak"})
        EXPECT_EQ(keptFileStep(name), -1) << name;
}

TEST_F(HostileKept, AChainHasAnEnd) {
    TemporaryFolder run("kept-long");
    fs::create_directories(keptFolder(run.path()));
    auto before = keptValues(0, KeptForm::Xor);
    for (std::int64_t step = 0; step <= 16; ++step) {
        const auto values = keptValues(step, KeptForm::Xor);
        writePacked(keptFilePath(keptFolder(run.path()), step),
                    packWeights(step, KeptForm::Xor, values, step - 1, step ? &before : nullptr));
        before = values;
    }
    EXPECT_TRUE(KeptWeights(run.path()).load(15));
    EXPECT_THROW(KeptWeights(run.path()).load(16), FileError);
}

}  // namespace
}  // namespace relascope
