// SPDX-License-Identifier: GPL-3.0-or-later
// Edits in training: taken up between two steps, part of the run's state to the last bit, and in
// force wherever the run's model is measured.
#include <gtest/gtest.h>

#include <torch/types.h>

#include <filesystem>
#include <fstream>

#include "analysis/open_model.h"
#include "checkpoint/kept_weights.h"
#include "checkpoint/tensor_io.h"
#include "data/text.h"
#include "files/atomic_file.h"
#include "interventions/edit_values.h"
#include "interventions/edit_words.h"
#include "interventions/edited_run.h"
#include "probe/probe.h"
#include "run/captures.h"
#include "run/run_folder.h"
#include "run/run_lines.h"
#include "support/edits.h"
#include "support/rooms.h"
#include "support/tiny_run.h"
#include "support/tiny_tasks.h"
#include "support/trained.h"
#include "train/branch.h"
#include "train/checkpoints.h"
#include "train/execute_run.h"

namespace relascope {
namespace {

using testing_support::edit;
using testing_support::listOf;
using namespace testing_support;

AxisSelection place(std::int64_t at) {
    return {{at}, {}, {}};
}

/// One edit of every kind that training has, by name.
std::vector<std::pair<std::string, Edit>> kinds() {
    const std::string relations = "blocks.0.rel.hook_r", pattern = "blocks.0.attn.hook_pattern",
                      scores = "blocks.0.attn.hook_attn_scores", values = "blocks.0.attn.hook_v";
    std::vector<std::pair<std::string, Edit>> all;
    const auto add = [&](const char* name, Edit e) -> Edit& {
        return all.emplace_back(name, std::move(e)).second;
    };
    add("Zero", edit(EditOp::Zero, relations, {{"relation", place(0)}}));
    add("Scale", edit(EditOp::Scale, relations, {{"relation", place(0)}})).factor = 0.3;
    add("Set", edit(EditOp::Set, relations, {{"i", place(4)}, {"j", place(1)}})).values = {{},
                                                                                           {1.5}};
    add("Add", edit(EditOp::Add, relations)).values = {{}, {0.1}};
    add("Mean", edit(EditOp::Mean, values, {{"head", place(0)}})).values = {{}, {0.2}};
    add("Uniform", edit(EditOp::Uniform, pattern, {{"head", place(0)}}));
    add("Mask", edit(EditOp::Mask, scores, {{"i", place(3)}, {"j", place(1)}}));
    auto& swap = add("Swap", edit(EditOp::Swap, values));
    swap.axis = "position", swap.first = 1, swap.second = 2;
    add("Resample", edit(EditOp::Resample, relations, {{"relation", place(0)}})).shift = 3;
    return all;
}

EditChoice choose(const EditList& list) {
    return [list](const std::vector<PointInfo>&) { return list; };
}

/// Sets edits after that training step.
auto editAfter(Control& control, std::int64_t step, EditList list) {
    return [&control, step, list](const TrainEvent& event, std::stop_source&) {
        const auto* point = std::get_if<MetricPoint>(&event);
        if (point && point->split == Split::Train && point->step == step)
            control.setInterventions(list);
    };
}

class EditedTraining : public testing::Test {
protected:
    EditedTraining() {
        m_options = tinyOptions();
        m_options.model.set("n_layers", 2), m_options.model.set("dropout_rate", 0.1);
        m_options.train.epochs = 2;  // 12 steps
        m_options.train.evaluate_every = 5, m_options.train.capture_every = 6;
        m_data = tinyData();
    }
    void useText() {
        makeDirectories(m_home.path());
        std::string text;
        for (int i = 0; i < 400; ++i)
            text += i % 3 == 0 ? "the cat sat on the mat. " : "a dog ran to the cat. ";
        writeTextFile(m_home / "text.txt", text);
        m_options = presetOptions("text", "dat");
        auto& m = m_options.model;
        m.set("d_model", 16), m.set("dff", 32), m.set("n_layers", 2), m.set("n_heads_sa", 2),
            m.set("n_heads_ra", 2), m.set("n_relations", 4), m.set("n_symbols", 6),
            m.set("symbol_heads", 2), m.set("max_block_size", 16), m.set("dropout_rate", 0.1);
        m_options.data.path = m_home / "text.txt";
        m_options.data.context = 16, m_options.data.validation_size = 4;
        m_options.data.pinned_text = "the cat", m_options.data.prompt = "the ";
        m_options.data.sample_tokens = 20;  // more than the context
        auto& t = m_options.train;
        t.batch_size = 4, t.steps = 12, t.evaluate_every = 5, t.capture_every = 6;
        t.warmup_steps = 2, t.learning_rate = 1e-2, t.device = "cpu";
        m_data = openText(m_options.data);
    }
    RunFolder folder(const std::string& name) {
        const auto path = m_home / name;
        return isRunFolder(path) ? RunFolder::open(path) : RunFolder::create(path, m_options);
    }
    Trained run(const std::string& name,
                std::function<void(const TrainEvent&, std::stop_source&)> watch = {},
                const EditChoice& edits = {}) {
        auto opened = folder(name);
        return trainIn(opened, m_control, m_data, std::move(watch), edits);
    }
    std::string path(const std::string& name) const { return m_home / name; }
    void expectSameRun(const std::string& a, const std::string& b) const {
        EXPECT_EQ(losses(path(a)), losses(path(b))) << a << " and " << b;
        const auto weights = [&](const std::string& name) {
            return readTensors(path(name) + "/checkpoints/step-12/model.safetensors");
        };
        const auto first = weights(a), second = weights(b);
        ASSERT_FALSE(first.empty());
        for (const auto& [name, tensor] : first)
            EXPECT_TRUE(torch::equal(tensor, second.at(name))) << b << ": " << name;
    }
    /// Edits set at step 5: in one go, by resuming at 5, and interrupted at 8.
    void expectResumesBitForBit(const EditList& list) {
        run("plain");
        const auto whole = run("whole", editAfter(m_control, 5, list));
        ASSERT_EQ(whole.result.info.state, RunState::Done) << whole.result.info.message;
        EXPECT_EQ(readRunInfo(path("whole")).edits, list);
        EXPECT_NE(losses(path("whole")), losses(path("plain"))) << "the edit changes nothing";
        run("five", stopAfter(5));
        run("five", {}, choose(list));
        expectSameRun("whole", "five");
        run("eight", [&](const TrainEvent& event, std::stop_source& stop) {
            editAfter(m_control, 5, list)(event, stop);
            stopAfter(8)(event, stop);
        });
        EXPECT_EQ(checkpointState(path("eight") + "/checkpoints/step-8").edits, list);
        run("eight");
        expectSameRun("whole", "eight");
    }

    TemporaryFolder m_home{"training-edits"};
    RunOptions m_options;
    DataSplits m_data;
    Control m_control;
};

class EditKinds : public EditedTraining,
                  public testing::WithParamInterface<std::pair<std::string, Edit>> {};

TEST_P(EditKinds, OfImagesResumeBitForBit) {
    expectResumesBitForBit(listOf({GetParam().second}));
}

TEST_P(EditKinds, OfTextResumeBitForBit) {
    useText();
    expectResumesBitForBit(listOf({GetParam().second}));
}

INSTANTIATE_TEST_SUITE_P(Training, EditKinds, testing::ValuesIn(kinds()),
                         [](const auto& info) { return info.param.first; });

TEST_F(EditedTraining, WithAccumulationAndCheckpointingAreTheSame) {
    useText();
    m_options.train.tokens_per_step = 128;  // two batches a step
    std::vector<Edit> edits;
    for (const auto& [name, e] : kinds())
        if (e.op == EditOp::Resample || e.op == EditOp::Scale || e.op == EditOp::Mask)
            edits.push_back(e);
    run("usual", {}, choose(listOf(edits)));
    m_options.train.activation_checkpointing = true;
    run("checkpointed", {}, choose(listOf(edits)));
    const auto usual = losses(path("usual")), checkpointed = losses(path("checkpointed"));
    ASSERT_EQ(usual.size(), checkpointed.size());
    for (std::size_t i = 0; i < usual.size(); ++i) EXPECT_NEAR(usual[i], checkpointed[i], 1e-5);
}

TEST_F(EditedTraining, NoneKeepTheBitsOfARunWithout) {
    run("plain");
    run("empty", editAfter(m_control, 5, {}));
    expectSameRun("plain", "empty");
    auto disabled = listOf({kinds()[0].second});
    disabled.edits[0].enabled = false;
    run("disabled", {}, choose(disabled));
    expectSameRun("plain", "disabled");
    EXPECT_FALSE(hasKeptCheckpoint(path("disabled"), 0));
    EXPECT_EQ(readTextFile(path("plain") + "/run.json", 1 << 20).find("\"edits\""),
              std::string::npos);
}

TEST_F(EditedTraining, AreEndedByAnEmptyList) {
    const auto list = listOf({kinds()[0].second});
    run("ends", stopAfter(5), choose(list));
    EXPECT_EQ(readRunInfo(path("ends")).edits, list);
    run("ends", {}, choose({}));
    EXPECT_TRUE(readRunInfo(path("ends")).edits.edits.empty());
    EXPECT_EQ(editsAfterStep(path("ends"), 4), list);
    EXPECT_TRUE(editsAfterStep(path("ends"), 5).edits.empty());
    EXPECT_TRUE(checkpointState(path("ends") + "/checkpoints/step-12").edits.edits.empty());
}

TEST_F(EditedTraining, LeaveALineAMarkACheckpointAndKeptWeights) {
    const auto list = listOf({kinds()[0].second, kinds()[1].second});
    const auto trained = run("run", editAfter(m_control, 5, list));
    const std::string words =
        "edits in training from here on: layer 1 relation 1 zero; layer 1 relation 1 scale 0.3";
    const auto isMark = [&](const Note& note) {
        return note.level == Note::Level::Edit && note.step == 5 && note.text == words &&
               note.edits && *note.edits == list;
    };
    std::int64_t live = 0, read = 0;
    for (const auto& event : trained.events)
        if (const auto* note = std::get_if<Note>(&event)) live += isMark(*note);
    for (const auto& note : readEvents(path("run"))) read += isMark(note);
    EXPECT_EQ(live, 1);
    EXPECT_EQ(read, 1);
    EXPECT_TRUE(hasKeptCheckpoint(path("run"), 5));
    const KeptWeights kept(path("run"));
    ASSERT_NE(kept.find(5), nullptr);
    EXPECT_TRUE(kept.find(5)->marked);
    const auto lines = readTextFile(path("run") + "/events.jsonl", 1 << 20);
    EXPECT_NE(lines.find("\"kind\":\"edits\",\"edits\":[{\"op\":\"zero\""), std::string::npos)
        << lines;
    // A branch there has them from its first step on, and says so once it trains.
    branchRun(path("run"), 5, path("branch"));
    EXPECT_EQ(readRunInfo(path("branch")).edits, list);
    EXPECT_TRUE(editsAfterStep(path("branch"), 12).edits.empty());
    run("branch");
    expectSameRun("run", "branch");
    EXPECT_EQ(editsAfterStep(path("branch"), 12), list);
}

TEST_F(EditedTraining, AreAppliedWhereTheRunIsOpened) {
    for (const auto& [name, e] : kinds()) {
        const auto list = listOf({e});
        const auto last = run(name, {}, choose(list)).result.lastValidation;
        OpenedModel opened(path(name), "last", "cpu");
        EXPECT_EQ(opened.trainingEdits(), list);
        const auto with = opened.evaluate(m_data.validation, 7);
        EXPECT_NEAR(with.loss, last.value("loss"), 1e-5) << name;
        // The same part scaled by 1 on top changes nothing.
        auto neutral = edit(EditOp::Scale, "blocks.1.hook_resid_post");
        const auto effect = opened.effect(m_data.validation, 7, {listOf({neutral}), {}});
        EXPECT_NEAR(effect.changes[0].base, with.loss, 1e-5) << name;
        EXPECT_NEAR(effect.changes[0].change, 0.0, 1e-6) << name;
        const auto shown = opened.probe(m_data.validation->sample(3), {}).probabilities;
        opened.leaveOutTrainingEdits();
        EXPECT_NE(opened.evaluate(m_data.validation, 7).loss, with.loss) << name;
        const bool rests = e.op == EditOp::Resample;  // the sample is of no known split
        EXPECT_EQ(opened.probe(m_data.validation->sample(3), {}).probabilities == shown, rests);
    }
    // Kept weights have those of their step.
    EXPECT_EQ(OpenedModel(path("Zero"), "1", "cpu").trainingEdits(), listOf({kinds()[0].second}));
}

TEST_F(EditedTraining, AreInCapturesAndSamples) {
    useText();
    const auto trained = run("run", {}, choose(listOf({kinds()[0].second})));
    ASSERT_EQ(trained.result.info.state, RunState::Done) << trained.result.info.message;
    const auto capture = loadCapture(path("run") + "/captures", 12, 0);
    const auto* map = capture.find(MapKind::Relation, 0, 0);
    ASSERT_NE(map, nullptr);
    const auto values = map->all();
    EXPECT_EQ(std::count(values.begin(), values.end(), 0.0F),
              static_cast<std::ptrdiff_t>(values.size()));
}

TEST_F(EditedTraining, ResampleTakesTheExampleOfTheSplitWhereTheSampleIsOfOne) {
    const auto list = listOf({kinds().back().second});
    run("run", {}, choose(list));
    const auto capture = loadCapture(path("run") + "/captures", 12, 1);
    OpenedModel opened(path("run"), "last", "cpu");
    opened.leaveOutTrainingEdits();
    const auto relation = [](const ProbeResult& result) {
        return result.find(MapKind::Relation, 0, 0)->all();
    };
    const auto other = opened.probe(m_data.validation->sample(1 + 3), {});
    const auto captured = relation(capture), expected = relation(other);
    ASSERT_EQ(captured.size(), expected.size());
    for (std::size_t i = 0; i < captured.size(); ++i) EXPECT_NEAR(captured[i], expected[i], 1e-5);
}

TEST_F(EditedTraining, RestWhereAnInputLacksTheirPlaces) {
    useText();
    auto set = edit(EditOp::Set, "blocks.0.hook_resid_pre", {{"dim", place(2)}});
    set.values.shape = {16};
    std::vector<double> numbers;
    for (int i = 0; i < 16; ++i) numbers.push_back(0.1 * i);
    set.values.numbers = numbers;
    const auto trained = run("run", {}, choose(listOf({set})));
    EXPECT_EQ(trained.result.info.state, RunState::Done) << trained.result.info.message;
    for (const auto& note : trained.notes()) EXPECT_EQ(note.find("no sample"), std::string::npos);
    EXPECT_EQ(captureSteps(path("run") + "/captures").back(), 12);
}

TEST_F(EditedTraining, OfSequencesAreInTheirDecoding) {
    m_options = tinySpellingOptions();
    m_data = tinySpelling();
    m_options.train.steps = 12, m_options.train.epochs = 1;
    const auto zero = edit(EditOp::Zero, "decoder.0.hook_mlp_out");
    const auto trained = run("run", {}, choose(listOf({zero})));
    ASSERT_EQ(trained.result.info.state, RunState::Done) << trained.result.info.message;
    const auto values = OpenedModel(path("run"), "last", "cpu").evaluate(m_data.validation, 16);
    for (const auto& [name, value] : values.values)
        if (name == std::string("sequence_accuracy")) {
            EXPECT_EQ(value, trained.result.lastValidation.value("sequence_accuracy"));
        }
}

TEST_F(EditedTraining, ThatDoNotFitBecomeAWarning) {
    auto unknown = edit(EditOp::Zero, "blocks.0.rel.hook_q", {{"relation", place(0)}});
    const auto trained = run("run", editAfter(m_control, 5, listOf({unknown})));
    EXPECT_EQ(trained.result.info.state, RunState::Done);
    std::string all;
    for (const auto& note : trained.notes()) all += note + "\n";
    EXPECT_NE(all.find("edits not applied to training: edits[0].relation: "
                       "blocks.0.rel.hook_q has no such axis"),
              std::string::npos)
        << all;
    run("plain");
    expectSameRun("plain", "run");
}

TEST_F(EditedTraining, ThatDoNotFitAreRefusedBeforeTheRun) {
    const DataOpener open = [&](const RunOptions&, std::stop_token) { return m_data; };
    const auto refused = [&](Edit e, const std::string& sentence) {
        RunRequest request{path("refused"), m_options, 0, false, choose(listOf({std::move(e)}))};
        try {
            executeRun(request, open, m_control, [](const TrainEvent&) {}, {});
            ADD_FAILURE() << sentence;
        } catch (const OptionError& error) {
            EXPECT_NE(std::string(error.what()).find(sentence), std::string::npos) << error.what();
        }
        EXPECT_FALSE(std::filesystem::exists(path("refused")));
    };
    refused(edit(EditOp::Zero, "blocks.7.rel.hook_r"), "edits[0].at: ");
    refused(edit(EditOp::Clean, "blocks.0.rel.hook_r"),
            "edits[0].op: clean is for single inputs, not for training");
    refused(edit(EditOp::Mean, "blocks.0.rel.hook_r"),
            "edits[0].values: are missing: in training a mean needs its values");
    auto whole = kinds().back().second;
    whole.shift = 32;
    refused(whole, "edits[0].shift: 32 gives every example of a batch of 16 itself");
    run("done");
    try {
        run("done", {}, choose(listOf({kinds()[0].second})));
        ADD_FAILURE();
    } catch (const OptionError& error) {
        EXPECT_NE(std::string(error.what()).find("the run is at step 12 of 12"), std::string::npos);
    }
    useText();
    refused(edit(EditOp::Zero, "blocks.0.hook_resid_pre", {{"position", place(-1)}}),
            "edits[0].position: counts from the end");
}

TEST_F(EditedTraining, OfTheInspectorAreInTheAnswersResultAlone) {
    run("plain");
    std::vector<ProbeAnswer> answers;
    const auto list = listOf({kinds()[0].second});
    auto wrong = list;
    wrong.edits[0].point = "blocks.9.rel.hook_r";
    const auto sample = m_data.validation->sample(1);
    run("run", [&](const TrainEvent& event, std::stop_source&) {
        if (const auto* answer = std::get_if<ProbeAnswer>(&event)) {
            answers.push_back(*answer);
            if (answer->request == 1) m_control.probe(2, sample, list);
            if (answer->request == 2) m_control.probe(3, sample, wrong);
        }
        const auto* point = std::get_if<MetricPoint>(&event);
        if (point && point->split == Split::Train && point->step == 3) m_control.probe(1, sample);
    });
    expectSameRun("plain", "run");
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_EQ(answers[0].base, nullptr);
    ASSERT_NE(answers[1].base, nullptr);
    const auto relation = [](const ProbeResult& result) {
        return result.find(MapKind::Relation, 0, 0)->all();
    };
    EXPECT_EQ(answers[1].base->step, answers[1].result.step);
    EXPECT_NE(relation(*answers[1].base), relation(answers[1].result));
    EXPECT_EQ(relation(answers[1].result),
              std::vector<float>(relation(answers[1].result).size(), 0.0F));
    EXPECT_NE(answers[2].error.find("edits[0].at"), std::string::npos) << answers[2].error;
}

TEST_F(EditedTraining, AnswersSayWhatTheMeansOfTheInspectorAre) {
    std::vector<ProbeAnswer> answers;
    auto mean = edit(EditOp::Mean, "blocks.0.attn.hook_z");
    run("run", [&](const TrainEvent& event, std::stop_source&) {
        if (const auto* answer = std::get_if<ProbeAnswer>(&event)) answers.push_back(*answer);
        const auto* point = std::get_if<MetricPoint>(&event);
        if (point && point->split == Split::Train && point->step == 3)
            m_control.probe(1, m_data.validation->sample(1), listOf({mean}));
    });
    ASSERT_EQ(answers.size(), 1U);
    ASSERT_EQ(answers[0].means.size(), 1U) << answers[0].error;
    const auto& taken = answers[0].means.at(0);
    EXPECT_EQ(taken.examples, 96) << "there are no more";
    EXPECT_GT(taken.standardError, 0.0);
    EXPECT_EQ(taken.over, "position");
    // With these values training takes the mean.
    const auto given = core::withValues(listOf({mean}), answers[0].means);
    const auto trained = run("given", {}, choose(given));
    EXPECT_EQ(trained.result.info.state, RunState::Done) << trained.result.info.message;
}

TEST_F(EditedTraining, AreBelowThoseOfTheInspector) {
    std::vector<ProbeAnswer> answers;
    auto set = edit(EditOp::Set, "blocks.1.rel.hook_r");
    set.values = {{}, {2.0}};
    const auto mine = listOf({set});
    auto resample = edit(EditOp::Resample, "blocks.0.attn.hook_z");
    resample.shift = 3;
    run(
        "run",
        [&](const TrainEvent& event, std::stop_source&) {
            if (const auto* answer = std::get_if<ProbeAnswer>(&event)) answers.push_back(*answer);
            const auto* point = std::get_if<MetricPoint>(&event);
            if (point && point->split == Split::Train && point->step == 3)
                m_control.probe(1, m_data.validation->sample(1), mine);
        },
        choose(listOf({kinds()[0].second, resample})));
    ASSERT_EQ(answers.size(), 1U);
    ASSERT_NE(answers[0].base, nullptr) << answers[0].error;
    const auto first = [](const ProbeResult& result, int layer) {
        return result.find(MapKind::Relation, layer, 0)->all()[1];
    };
    EXPECT_EQ(first(*answers[0].base, 0), 0.0F);
    EXPECT_EQ(first(answers[0].result, 0), 0.0F);
    EXPECT_NE(first(*answers[0].base, 1), 2.0F);
    EXPECT_EQ(first(answers[0].result, 1), 2.0F);
}

}  // namespace
}  // namespace relascope
