// SPDX-License-Identifier: GPL-3.0-or-later
// The options form: parsing, refusal at the field, live fields, focus.
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "model/architecture.h"
#include "support/rooms.h"
#include "types/run_options.h"
#include "widgets/form/field_row.h"
#include "widgets/form/options_form.h"
#include "widgets/theme/controls.h"

using namespace relascope;

namespace {

FieldSpec spec(FieldKind kind, double low = -1e18, double high = 1e18) {
    FieldSpec s{"f", "F", "Help.", kind, low, high};
    s.choices = {"one", "two"};
    return s;
}
template <class T>
T value(const QString& text, const FieldSpec& s) {
    QString problem;
    return std::get<T>(parseField(text, s, &problem).value());
}
QString problem(const QString& text, const FieldSpec& s) {
    QString sentence;
    EXPECT_FALSE(parseField(text, s, &sentence)) << text.toStdString();
    return sentence;
}

struct Form {
    RunOptions options, preset;
    OptionsForm form;
    Form() {
        form.resize(280, 720);
        form.setStates(options.states(preset));
        form.show();
        QCoreApplication::processEvents();
    }
    QLineEdit* edit(const char* key) {
        QWidget* editor = form.row(key)->editor();
        auto* line = qobject_cast<QLineEdit*>(editor);
        return line ? line : editor->findChild<QLineEdit*>();
    }
    void type(const char* key, const QString& text) {
        edit(key)->selectAll();
        QTest::keyClicks(edit(key), text);
    }
};

}  // namespace

TEST(FieldText, WritesAndReadsBack) {
    EXPECT_EQ(fieldText(1e-3), "1e-3");
    EXPECT_EQ(fieldText(0.1), "0.1");
    EXPECT_EQ(fieldText(0.0), "0");
    EXPECT_EQ(fieldText(1e-8), "1e-8");
    EXPECT_EQ(fieldText(std::vector<std::int64_t>{0, 1}), "0, 1");
    EXPECT_EQ(fieldText(true), "on");
    EXPECT_EQ(value<double>("1e-3", spec(FieldKind::Real)), 1e-3);
    EXPECT_EQ(value<double>(" 5E-4 ", spec(FieldKind::Real)), 5e-4);
    EXPECT_EQ(value<std::int64_t>("25,000", spec(FieldKind::Integer)), 25000);
    EXPECT_EQ(value<std::int64_t>("1e3", spec(FieldKind::Integer)), 1000);
    EXPECT_EQ(value<std::int64_t>("9007199254740992", spec(FieldKind::Integer)), 9007199254740992);
    EXPECT_EQ(value<std::vector<std::int64_t>>("0, 1 2", spec(FieldKind::IntegerList)),
              (std::vector<std::int64_t>{0, 1, 2}));
    EXPECT_FALSE(value<bool>("off", spec(FieldKind::Boolean)));
}

TEST(FieldText, RefusesWithTheBound) {
    EXPECT_EQ(problem("", spec(FieldKind::Integer)), "must be an integer");
    EXPECT_EQ(problem("two", spec(FieldKind::Integer)), "'two' is not an integer");
    EXPECT_EQ(problem("1.5", spec(FieldKind::Integer)), "'1.5' is not an integer");
    EXPECT_EQ(problem("0", spec(FieldKind::Integer, 1)), "0 is below 1");
    EXPECT_EQ(problem("", spec(FieldKind::Real)), "must be a number, such as 1e-3");
    for (const char* text : {"nan", "inf", "much"})
        EXPECT_TRUE(problem(text, spec(FieldKind::Real)).contains("is not a number; write 0.001"));
    EXPECT_EQ(problem("", spec(FieldKind::IntegerList)), "must be integers separated by commas");
    EXPECT_EQ(problem("0, x", spec(FieldKind::IntegerList)), "'x' is not an integer");
    EXPECT_TRUE(problem("three", spec(FieldKind::Choice)).contains("unknown value 'three'"));
    EXPECT_EQ(problem("2", spec(FieldKind::Real, 0, 0.99)), "2 is above 0.99");
}

TEST(OptionsForm, TypingSignalsValidValuesOnly) {
    Form f;
    QSignalSpy changed(&f.form, &OptionsForm::valueChanged),
        validity(&f.form, &OptionsForm::validityChanged);
    f.type("train.learning_rate", "5e-4");
    ASSERT_GE(changed.count(), 1);
    EXPECT_EQ(changed.last()[0].toString(), "train.learning_rate");
    EXPECT_EQ(std::get<double>(changed.last()[1].value<FieldValue>()), 5e-4);
    EXPECT_TRUE(f.form.row("train.learning_rate")->changed());
    f.type("model.d_model", "0");
    EXPECT_FALSE(f.form.valid());
    EXPECT_TRUE(f.form.row("model.d_model")->problem().contains("1"));
    EXPECT_EQ(validity.last()[0].toBool(), false);
    f.type("model.d_model", "64");
    EXPECT_TRUE(f.form.valid());
    EXPECT_EQ(std::get<std::int64_t>(changed.last()[1].value<FieldValue>()), 64);
}

TEST(OptionsForm, NewStatesKeepFocusAndTheTextBeingTyped) {
    Form f;
    f.form.activateWindow();
    f.edit("train.learning_rate")->setFocus();
    QObject::connect(&f.form, &OptionsForm::valueChanged, &f.form,
                     [&](const QString& key, const FieldValue& v) {
                         RunOptions::field(key.toStdString()).set(f.options, v);
                         f.form.setStates(f.options.states(f.preset));
                     });
    f.type("train.learning_rate", "0.0020");
    EXPECT_EQ(f.edit("train.learning_rate")->text(), "0.0020");
    EXPECT_EQ(f.options.train.learning_rate, 0.002);
    EXPECT_TRUE(f.form.isAncestorOf(QApplication::focusWidget()));
}

TEST(OptionsForm, AnAutomaticZeroIsShownAsItsValue) {
    Form f;
    QLineEdit* line = f.edit("model.n_relations");
    EXPECT_EQ(line->text(), "");
    EXPECT_EQ(line->placeholderText(), "automatic (1)");
    QSignalSpy changed(&f.form, &OptionsForm::valueChanged);
    f.type("model.n_relations", "3");
    EXPECT_EQ(changed.count(), 1);
    line->selectAll();
    QTest::keyClick(line, Qt::Key_Backspace);
    ASSERT_EQ(changed.count(), 2);
    EXPECT_EQ(changed.last()[1].value<FieldValue>(), FieldValue(std::int64_t{0}));
    EXPECT_TRUE(f.form.valid());
    f.options.model.set("n_heads_ra", 5);
    f.form.setStates(f.options.states(f.preset));
    EXPECT_EQ(line->placeholderText(), "automatic (5)");
    EXPECT_EQ(f.edit("train.learning_rate")->placeholderText(), "");
}

TEST(OptionsForm, ArrowsTicksAndChoices) {
    Form f;
    QSignalSpy changed(&f.form, &OptionsForm::valueChanged);
    QTest::keyClick(f.form.row("model.n_layers")->editor(), Qt::Key_Up);
    EXPECT_EQ(std::get<std::int64_t>(changed.last()[1].value<FieldValue>()), 3);
    auto* check = qobject_cast<QCheckBox*>(f.form.row("model.symmetric_rels")->editor());
    QTest::mouseClick(check, Qt::LeftButton, {}, QPoint(8, check->height() / 2));
    EXPECT_EQ(std::get<bool>(changed.last()[1].value<FieldValue>()), false);
    QTest::keyClick(f.form.row("model.activation")->editor(), Qt::Key_Up);
    EXPECT_EQ(std::get<std::string>(changed.last()[1].value<FieldValue>()), "silu");
}

TEST(OptionsForm, WhileRunningOnlyLiveFieldsCanChange) {
    Form f;
    f.form.setRunning(true);
    EXPECT_TRUE(f.form.row("train.learning_rate")->editor()->isEnabled());
    EXPECT_FALSE(f.form.row("model.d_model")->editor()->isEnabled());
    EXPECT_TRUE(f.form.row("model.d_model")->editor()->toolTip().contains("Stop the run"));
    f.form.setRunning(false);
    EXPECT_TRUE(f.form.row("model.d_model")->editor()->isEnabled());
}

// Typing 5e-4 must not train at 5 on the way.
TEST(OptionsForm, ALiveFieldCountsOnEnterAndOnLeaving) {
    Form f;
    f.form.setRunning(true);
    QSignalSpy changed(&f.form, &OptionsForm::valueChanged);
    const char* key = "train.learning_rate";
    FieldRow* row = f.form.row(key);
    f.type(key, "5e-4");
    EXPECT_EQ(changed.count(), 0);
    EXPECT_TRUE(row->pending());
    QTest::keyClick(f.edit(key), Qt::Key_Return);
    ASSERT_EQ(changed.count(), 1);
    EXPECT_EQ(std::get<double>(changed.last()[1].value<FieldValue>()), 5e-4);
    EXPECT_FALSE(row->pending());

    f.type(key, "0.002");
    QTest::keyClick(f.edit(key), Qt::Key_Escape);
    EXPECT_EQ(f.edit(key)->text(), "5e-4");
    EXPECT_FALSE(row->pending());
    QTest::keyClick(f.edit(key), Qt::Key_Return);
    EXPECT_EQ(changed.count(), 1);

    // Leaving counts, a menu over the field does not.
    f.type(key, "0.002");
    QFocusEvent menu(QEvent::FocusOut, Qt::PopupFocusReason),
        tab(QEvent::FocusOut, Qt::TabFocusReason);
    QCoreApplication::sendEvent(f.edit(key), &menu);
    EXPECT_EQ(changed.count(), 1);
    EXPECT_EQ(f.edit(key)->text(), "0.002");
    QCoreApplication::sendEvent(f.edit(key), &tab);
    ASSERT_EQ(changed.count(), 2);
    EXPECT_EQ(std::get<double>(changed.last()[1].value<FieldValue>()), 0.002);

    // What is refused neither counts nor stays.
    for (const char* bad : {"0", "-1", "5e"}) {
        f.type(key, bad);
        QTest::keyClick(f.edit(key), Qt::Key_Return);
        EXPECT_FALSE(row->problem().isEmpty()) << bad;
    }
    EXPECT_EQ(changed.count(), 2);
    QTest::keyClick(f.edit(key), Qt::Key_Escape);
    EXPECT_TRUE(row->valid());
    EXPECT_EQ(f.edit(key)->text(), "2e-3");

    // The arrows count once they rest.
    QTest::keyClick(f.form.row("train.evaluate_every")->editor(), Qt::Key_Up);
    QTest::keyClick(f.form.row("train.evaluate_every")->editor(), Qt::Key_Up);
    EXPECT_EQ(changed.count(), 2);
    ASSERT_TRUE(QTest::qWaitFor([&] { return changed.count() == 3; }));
    EXPECT_EQ(std::get<std::int64_t>(changed.last()[1].value<FieldValue>()), 2);
}

TEST(OptionsForm, ZeroIsNoLearningRate) {
    Form f;
    f.type("train.learning_rate", "0");
    EXPECT_FALSE(f.form.valid());
    EXPECT_EQ(f.form.row("train.learning_rate")->problem(), "must be greater than 0");
    f.type("train.weight_decay", "0");
    EXPECT_TRUE(f.form.row("train.weight_decay")->valid());
}

TEST(OptionsForm, SaysWhatIsChangedAndResets) {
    Form f;
    QSignalSpy reset(&f.form, &OptionsForm::resetRequested);
    EXPECT_EQ(f.form.changedText(), "");
    f.type("train.epochs", "7");
    EXPECT_EQ(f.form.changedText(), "Changed: Epochs");
    ASSERT_TRUE(f.form.resetButton()->isVisibleTo(&f.form));
    QTest::mouseClick(f.form.resetButton(), Qt::LeftButton);
    EXPECT_EQ(reset.count(), 1);
}

TEST(OptionsForm, HidesWhatDoesNotApplyAndAdvancedFields) {
    Form f;
    EXPECT_FALSE(f.form.row("model.rope")->isVisibleTo(&f.form));
    EXPECT_TRUE(f.form.row("model.symmetric_rels")->isVisibleTo(&f.form));
    f.options.model.setArchitecture("VisionTransformer");
    f.form.setStates(f.options.states(f.preset));
    EXPECT_FALSE(f.form.row("model.symmetric_rels")->isVisibleTo(&f.form));
    f.form.setProblems({{"model.rope", "needs an even width"}});
    EXPECT_TRUE(f.form.row("model.rope")->isVisibleTo(&f.form));
    EXPECT_FALSE(f.form.valid());
    f.form.setProblems({});
    EXPECT_TRUE(f.form.valid());
}

TEST(OptionsForm, ChoicesAreReadableAndWhole) {
    Form f;
    int combos = 0;
    for (const auto* combo : f.form.findChildren<QComboBox*>()) {
        if (!combo->isVisible()) continue;
        ++combos;
        for (int k = 0; k < combo->count(); ++k)
            EXPECT_LE(combo->fontMetrics().horizontalAdvance(combo->itemText(k)),
                      combo->width() - 24)
                << combo->itemText(k).toStdString();
    }
    EXPECT_GT(combos, 2);
    auto* models = qobject_cast<QComboBox*>(f.form.row("model.architecture")->editor());
    ASSERT_NE(models, nullptr);
    EXPECT_EQ(models->currentText(), "Vision Dual Attention Transformer");
    EXPECT_EQ(models->currentData().toString(), "VisionDualAttnTransformer") << "as in files";
    for (const auto& name : ModelOptions::architectures())
        EXPECT_NE(architectureInfo(name).title, name == "PrediNet" ? "" : name);
}

TEST(OptionsForm, LabelsAreWholeAlsoOfChangedFields) {
    Form f;
    int labels = 0;
    for (const auto* row : f.form.findChildren<FieldRow*>()) {
        const auto* label = row->findChild<ElidedLabel*>();
        if (label->maximumWidth() == QWIDGETSIZE_MAX) continue;  // on a line of its own
        ++labels;
        QFont bold = label->font();
        bold.setWeight(QFont::DemiBold);
        EXPECT_LE(QFontMetrics(bold).horizontalAdvance(label->text()), label->maximumWidth())
            << label->text().toStdString();
    }
    EXPECT_GT(labels, 30);
}

// As the experiment does: each value goes into the options, and these come back into the form,
// while the editor still says what was chosen.
TEST(OptionsForm, GoesThroughAllArchitecturesWithTheKeyboard) {
    Form f;
    QObject::connect(&f.form, &OptionsForm::valueChanged, &f.form,
                     [&f](const QString& key, const FieldValue& value) {
                         RunOptions::field(key.toStdString()).set(f.options, value);
                         f.form.setStates(f.options.states(f.preset));
                     });
    auto* models = qobject_cast<QComboBox*>(f.form.row("model.architecture")->editor());
    ASSERT_NE(models, nullptr);
    models->setFocus();
    for (int i = 1; i < models->count(); ++i) {
        QTest::keyClick(models, Qt::Key_Down);
        ASSERT_EQ(f.form.row("model.architecture")->editor(), models) << "the same editor";
        EXPECT_EQ(models->currentIndex(), i);
        EXPECT_EQ(models->currentData().toString().toStdString(), f.options.model.architecture());
        for (const auto& state : f.options.states(f.preset)) {
            EXPECT_EQ(state.value == state.preset || !state.applies,
                      state.key != "model.architecture")
                << f.options.model.architecture() << " " << state.key << " counts as changed";
            const auto* row = f.form.row(QString::fromStdString(state.key));
            const auto* combo = qobject_cast<QComboBox*>(row->editor());
            if (!combo || !state.applies) continue;
            EXPECT_EQ(static_cast<std::size_t>(combo->count()), state.spec.choices.size());
            EXPECT_EQ(combo->currentData().toString().toStdString(),
                      std::get<std::string>(state.value))
                << f.options.model.architecture() << " " << state.key;
        }
    }
}

TEST(OptionsForm, ResetsToThePresetAndCollapses) {
    Form f;
    f.type("train.epochs", "7");
    EXPECT_TRUE(f.form.row("train.epochs")->changed());
    f.form.row("train.epochs")->resetToPreset();
    EXPECT_FALSE(f.form.row("train.epochs")->changed());
    EXPECT_EQ(f.edit("train.epochs")->text(), "50");
    f.form.setCollapsed(true);
    EXPECT_EQ(f.form.width(), 28);
    f.form.setStates({});
    EXPECT_TRUE(f.form.valid());
}
