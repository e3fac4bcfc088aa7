// SPDX-License-Identifier: GPL-3.0-or-later
// A language model that learns a handful of words in a moment; private to the tests of the window.
#pragma once

#include <QFile>
#include <QTextStream>
#include <cstdlib>

#include "support/rooms.h"
#include "tests/app/window_fixture.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/source/text_input.h"
#include "widgets/source/text_outcome.h"
#include "widgets/text/text_field.h"

namespace relascope {

class LanguageTest : public WindowTest {
protected:
    static constexpr int kContext = 24;

    void SetUp() override {
        ::setenv("XDG_CACHE_HOME", (folder.path() + "/cache").toUtf8().constData(), 1);
        QString text;
        for (int k = 0; k < 300; ++k)
            text += QStringLiteral("the cat sat on the mat and the dog saw the cat number %1. ")
                        .arg(k % 10);
        textFile = writeText(QStringLiteral("cats.txt"), text);
        WindowTest::SetUp();
        c().runs.setFolder(folder.path() + "/runs");
    }
    void TearDown() override {
        WindowTest::TearDown();
        ::unsetenv("XDG_CACHE_HOME");
    }
    QString writeText(const QString& name, const QString& text) {
        const QString path = folder.path() + u'/' + name;
        QFile file(path);
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(text.toUtf8());
        return path;
    }
    RunOptions tinyText(std::int64_t steps) const {
        RunOptions o = presetOptions("text");
        auto& m = o.model;
        for (const auto& [key, value] : std::initializer_list<std::pair<const char*, std::int64_t>>{
                 {"vocab_size", 64},
                 {"max_block_size", kContext},
                 {"d_model", 16},
                 {"dff", 16},
                 {"n_layers", 2},
                 {"n_heads_sa", 1},
                 {"n_heads_ra", 1},
                 {"n_relations", 2},
                 {"n_symbols", 8},
                 {"symbol_heads", 1}})
            m.set(key, value);
        o.data.path = textFile.toStdString();
        o.data.context = kContext, o.data.validation_size = 4;
        o.data.pinned_text = "the cat saw the dog", o.data.prompt = "the ";
        o.data.sample_tokens = 8;
        o.train.batch_size = 2, o.train.steps = steps, o.train.warmup_steps = 2;
        o.train.evaluate_every = 5, o.train.checkpoint_every = 10, o.train.device = "cpu";
        return o;
    }
    void chooseText(std::int64_t steps = 100000) {
        c().selection.setPreset(QStringLiteral("text"));
        c().experiment.choosePreset(QStringLiteral("text"));
        const RunOptions tiny = tinyText(steps);
        for (const auto& field : RunOptions::fieldTable())
            c().experiment.set(QString::fromStdString(field.spec.name), field.get(tiny));
        ASSERT_EQ(c().experiment.disabledReason(), "");
    }
    /// Trains a tiny language model to its end; its folder.
    QString finishedText(std::int64_t steps = 20, bool keepsWeights = true) {
        chooseText(steps);
        if (!keepsWeights) c().experiment.set("train.keep_mib", std::int64_t{0});
        return trained();
    }
    /// Trains what the form says to its end; its folder.
    QString trained() {
        QString path;
        const auto connection = QObject::connect(&c().training, &TrainingController::runBegan,
                                                 window.get(), [&](const QString& p) { path = p; });
        c().experiment.start();
        EXPECT_TRUE(waitUntil([&] { return !path.isEmpty() && !c().training.busy(); }, 60000));
        QObject::disconnect(connection);
        return path;
    }
    SourcePane* source() { return inspector()->sourcePane(); }
    /// The text that the inspector shows.
    static std::string shown(const RelationInspector* of) {
        std::string text;
        if (of->result())
            for (const auto& word : of->result()->sample.source.labels) text += word;
        return text;
    }
    bool shows(const std::string& text) {
        return waitUntil([&] { return shown(inspector()) == text; });
    }
    void type(SourcePane* pane, const QString& text) {
        auto* input = pane->textInput();
        if (!input->isOpen()) QTest::mouseClick(input->typeButton(), Qt::LeftButton);
        input->field()->setFocus();
        input->field()->selectAll();
        QTest::keyClick(input->field(), Qt::Key_Backspace);
        QTest::keyClicks(input->field(), text);
    }

    QString textFile;
};

}  // namespace relascope
