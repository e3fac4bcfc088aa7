// SPDX-License-Identifier: GPL-3.0-or-later
// The reader of the Mathematics Dataset's text files.
#include "datasets/readers/question_answer.h"

#include <gtest/gtest.h>

#include "datasets/registry.h"
#include "support/bytes_of.h"
#include "support/rooms.h"
#include "support/temporary_folder.h"

namespace relascope {
namespace {

using testing_support::writeBytes;

class QuestionFilesTest : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(m_folder.path()); }

    std::string write(const std::string& name, const std::string& text) {
        const std::filesystem::path path = m_folder / name;
        std::filesystem::create_directories(path.parent_path());
        writeBytes(path.string(), text);
        return path.string();
    }
    std::string reasonOf(const std::string& text) {
        const auto path = write("odd.txt", text);
        try {
            readQuestions(path);
        } catch (const FileError& error) {
            EXPECT_EQ(error.path(), path);
            return std::string(error.what()).substr(path.size());
        }
        return "";
    }
    // "Question 7 of easy?" with the answer 7.
    static std::string lines(const std::string& regime, int count) {
        std::string text;
        for (int i = 0; i < count; ++i)
            text += "Question " + std::to_string(i) + " of " + regime + "?\n" + std::to_string(i) +
                    '\n';
        return text;
    }
    DataOptions published(int easy = 40) {
        const std::string file = "/algebra__linear_1d.txt";
        write("train-easy" + file, lines("easy", easy));
        write("train-medium" + file, lines("medium", 40));
        write("train-hard" + file, lines("hard", 40));
        write("interpolate" + file, lines("interpolate", 15));
        DataOptions o;
        o.kind = "math", o.task = "algebra__linear_1d", o.path = m_folder.path();
        o.train_size = 30, o.validation_size = 12, o.test_size = 10;
        return o;
    }
    static mathematics::Problem problem(const DatasetPtr& data, std::int64_t index) {
        return dynamic_cast<const mathematics::QuestionData&>(*data).problem(index);
    }

    testing_support::TemporaryFolder m_folder{"questions"};
};

TEST_F(QuestionFilesTest, ReadsLinesOfAnySystem) {
    for (const auto& end : {std::string("\n"), std::string("\r\n")})
        for (const auto& last : {end, std::string()}) {
            const auto path = write("a.txt", "Solve 2*b = 4 for b." + end + "2" + end +
                                                 "Expand (x + 1)*x." + end + "x**2 + x" + last);
            const auto read = readQuestions(path);
            ASSERT_EQ(read->problems(), 2);
            EXPECT_EQ(read->problem(1), (mathematics::Problem{"Expand (x + 1)*x.", "x**2 + x"}));
            EXPECT_EQ(read->problem(0).answer, "2");
            EXPECT_EQ(readQuestions(path, 1)->problems(), 1);
        }
    const std::string question(160, 'x'), answer(30, '1');
    EXPECT_EQ(reasonOf(question + '\n' + answer + '\n'), "") << "the longest there may be";
}

TEST_F(QuestionFilesTest, RefusesWhatIsWrongByLine) {
    const auto expect = [&](const std::string& text, const std::string& message) {
        const auto reason = reasonOf(text);
        EXPECT_NE(reason.find(message), std::string::npos)
            << "'" << reason << "' lacks " << message;
    };
    expect("", "is empty");
    expect("One?\n1\nTwo?\n", "line 3: the last question has no answer");
    expect("One?\n1\n\n2\n", "line 3: the question is empty");
    expect("One?\n\n", "line 2: the answer is empty");
    expect(std::string(161, 'x') + "\n1\n", "line 1: the question has 161 characters");
    expect("One?\n" + std::string(31, '1') + "\n", "line 2: the answer has 31 characters");
    expect("One?\n1\nWhat is 3^2?\n9\n", "line 3: the question holds '^'");
    expect("One?\n\xc3\xa9\n", "line 2: the answer holds byte C3");
    expect("One; two?\n1\n", "holds ';'");
    expect(std::string("a\0b\n1\n", 6), "holds byte 00");
    expect(std::string(3u << 20, 'x'), "line 1: the question has");
    auto good = lines("flips", 3);
    for (std::size_t at = 0; at < good.size(); ++at)
        for (const char flip : {'\x01', '\x07', '\x80', '\xff'}) {
            good[at] ^= flip;
            EXPECT_NO_THROW(reasonOf(good)) << at;
            good[at] ^= flip;
        }
    EXPECT_THROW(readQuestions(m_folder / "none.txt"), FileError);
    const auto path = write("b.txt", lines("b", 3));
    EXPECT_THROW(readQuestions(path, 0, [](double) { return false; }), Cancelled);
    std::stop_source source;
    source.request_stop();
    EXPECT_THROW(readQuestions(path, 0, {}, source.get_token()), Cancelled);
}

TEST_F(QuestionFilesTest, MixesTheThreeDifficulties) {
    auto o = published();
    auto splits = openData(o);
    EXPECT_EQ(splits.names(), (std::vector<std::string>{"train", "validation", "interpolate"}));
    EXPECT_EQ(splits.validation->size(), 12);
    EXPECT_EQ(splits.train->size(), 30);
    EXPECT_EQ(problem(splits.validation, 4).question, "Question 1 of medium?");
    EXPECT_EQ(problem(splits.train, 0).question, "Question 4 of easy?");
    EXPECT_EQ(problem(splits.train, 29).question, "Question 13 of hard?");
    EXPECT_EQ(splits.find("interpolate")->size(), 10);
    EXPECT_EQ(problem(splits.find("interpolate"), 9).answer, "9");
    o.train_size = o.test_size = 0;
    splits = openData(o);
    EXPECT_EQ(splits.train->size(), 108);
    EXPECT_EQ(splits.find("interpolate")->size(), 15);
    o.validation_size = 0;
    EXPECT_EQ(openData(o).validation->size(), 6);
    // Of files that differ in length, what all of them have.
    o = published(10);
    o.train_size = 0;
    EXPECT_EQ(openData(o).train->size(), 3 * 10 - 12);
}

TEST_F(QuestionFilesTest, SaysWhatIsMissing) {
    auto o = published();
    o.train_size = 200;
    EXPECT_THROW(openData(o), OptionError);
    o.train_size = 0, o.validation_size = 120;
    EXPECT_THROW(openData(o), OptionError) << "nothing left to train on";
    o = published();
    o.test_size = 16;
    EXPECT_THROW(openData(o), OptionError);
    o = published();
    std::filesystem::remove(m_folder / "train-medium/algebra__linear_1d.txt");
    try {
        openData(o);
        FAIL();
    } catch (const FileError& error) {
        EXPECT_NE(std::string(error.what()).find("train-medium/algebra__linear_1d.txt"),
                  std::string::npos);
    }
    o.task = "polynomials__add";
    EXPECT_THROW(openData(o), FileError);
}

TEST_F(QuestionFilesTest, EvaluatesOnFilesAndFolders) {
    auto o = published();
    const auto folder = m_folder.path();
    EXPECT_EQ(openEvaluationData(folder, o, "")->size(), 15);
    EXPECT_EQ(openEvaluationData(folder, o, "interpolate")->size(), 15);
    EXPECT_EQ(openEvaluationData(folder, o, "validation")->size(), 12);
    EXPECT_EQ(openEvaluationData(m_folder / "train-hard/algebra__linear_1d.txt", o, "")->size(),
              40);
    EXPECT_THROW(openEvaluationData(folder, o, "hexos"), OptionError);
    try {
        openEvaluationData(folder, o, "extrapolate");
        FAIL();
    } catch (const OptionError& error) {
        EXPECT_NE(error.message().find("no extrapolation split"), std::string::npos);
    }
    // All in one file, as "train".
    std::filesystem::rename(m_folder / "train-easy", m_folder / "train");
    o.train_size = 28;
    EXPECT_EQ(problem(openData(o).train, 0).question, "Question 12 of easy?");
}

}  // namespace
}  // namespace relascope
