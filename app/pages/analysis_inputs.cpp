// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/analysis_inputs.h"

#include <QComboBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <algorithm>
#include <limits>
#include <utility>

#include "app/controllers/measurements.h"
#include "app/pages/control_row.h"
#include "question/question_fields.h"
#include "widgets/form/field_form.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

using core::AnalysisInput;

AnalysisInputs::AnalysisInputs(const core::Analysis& analysis, const About& about, Looker& quick,
                               Measurements& measurements, ControlRow& row)
    : QObject(&row),
      m_analysis(analysis),
      m_about(about),
      m_quick(quick),
      m_measurements(measurements) {
    if (analysis.input == AnalysisInput::Sentences) addPairs(row);
    if (analysis.input == AnalysisInput::Data) {
        m_split = choiceBox(QStringLiteral("Split"), &row);
        row.add(QStringLiteral("Split"), m_split);
        row.addGap();
        addData(row);
    }
    if (analysis.input == AnalysisInput::Pair) addSecond(row);
    if (m_split) connect(m_split, &QComboBox::currentTextChanged, this, &AnalysisInputs::choose);
}

// A line for a path beside a button that asks for one. `take` gets a path that was typed or chosen.
QLineEdit* AnalysisInputs::addPath(ControlRow& row, const PathField& of,
                                   const std::function<QString(QWidget*, const QString&)>& ask,
                                   const std::function<void(const QString&)>& take) {
    auto* line = new QLineEdit(&row);
    line->setPlaceholderText(of.empty);
    line->setToolTip(of.help);
    line->setMinimumWidth(260);
    auto* choose = new QPushButton(of.button, &row);
    choose->setProperty("compact", true);
    choose->setAccessibleName(of.action);
    row.add(of.title, line);
    row.add(choose);
    connect(choose, &QPushButton::clicked, this, [line, ask, take] {
        const QString path = ask(line->window(), line->text());
        if (path.isEmpty()) return;
        line->setText(path);
        take(path);
    });
    connect(line, &QLineEdit::editingFinished, this, [line, take] {
        if (line->isModified()) take(line->text().trimmed());
        line->setModified(false);
    });
    connect(line, &QLineEdit::returnPressed, this, &AnalysisInputs::entered);
    return line;
}

void AnalysisInputs::addPairs(ControlRow& row) {
    const PathField field{
        QStringLiteral("Pairs"), QStringLiteral("Twelve phenomena of this program"),
        QStringLiteral("JSON lines with sentence_good and sentence_bad, as BLiMP, or a folder "
                       "of them; empty: twelve phenomena of this program"),
        QStringLiteral("File\u2026"), QStringLiteral("Choose a file of minimal pairs")};
    m_pairs = addPath(
        row, field,
        [](QWidget* parent, const QString& before) {
            return QFileDialog::getOpenFileName(
                parent, QStringLiteral("A file of minimal pairs"), before,
                QStringLiteral("JSON lines (*.jsonl *.json *.gz);;All files (*)"));
        },
        [this](const QString&) { Q_EMIT changed(); });
}

// Checkpoints have no data of their own.
void AnalysisInputs::addData(ControlRow& row) {
    const PathField field{
        QStringLiteral("Data"), QStringLiteral("choose or type one"),
        QStringLiteral("Of images: a folder with one folder of pictures for each class, a folder "
                       "of pictures with masks, or a .npz file; of text: a text file"),
        QStringLiteral("Choose\u2026"), QStringLiteral("Choose data to measure on")};
    m_data = addPath(
        row, field,
        [this](QWidget* parent, const QString& before) {
            const QString title = QStringLiteral("Data to measure on");
            if (readsText()) return QFileDialog::getOpenFileName(parent, title, before);
            return widgets::chooseFileOrFolder(
                parent, title, before, QStringLiteral("NumPy archives (*.npz);;All files (*)"),
                QStringLiteral("The folder that is listed, with its pictures"));
        },
        [this](const QString& path) { chooseData(path); });
    row.addGap();
    m_dataBox = m_data->parentWidget();
    connect(&m_measurements, &Measurements::dataChosen, this, [this](const std::string& model) {
        if (model != path()) return;
        m_data->setText(m_measurements.dataOf(model));
        Q_EMIT changed();
    });
}

// One choice is that of all analyses of the checkpoint.
void AnalysisInputs::chooseData(const QString& file) {
    m_measurements.setDataOf(path(), file);
}

std::string AnalysisInputs::path() const {
    return m_about.subject ? m_about.subject->model().path : std::string();
}

bool AnalysisInputs::readsText() const {
    return m_about.subject && readsOwnText(*m_about.subject);
}

QString AnalysisInputs::file() const {
    const auto& subject = m_about.subject;
    return m_data && subject && !subject->data ? m_data->text().trimmed() : QString();
}

void AnalysisInputs::addSecond(ControlRow& row) {
    m_clean = new widgets::ElidedLabel({}, &row);
    m_clean->setFont(widgets::smallFont());
    m_clean->setMinimumWidth(120);
    m_split = choiceBox(QStringLiteral("Split of B"), &row);
    m_example = numberBox(QStringLiteral("Second sample"), 0, 0, &row);
    m_other = new QPushButton(&row);
    m_other->setProperty("compact", true);
    m_other->setIcon(widgets::icon("close"));
    m_other->setLayoutDirection(Qt::RightToLeft);
    m_other->hide();
    row.add(QStringLiteral("Clean (A)"), m_clean);
    row.addGap();
    row.add(QStringLiteral("corrupted (B)"), m_split);
    row.add(m_example);
    row.add(m_other);
    row.addGap();
    connect(m_example, &QSpinBox::valueChanged, this, [this] {
        m_chosen = true;
        choose();
    });
    connect(m_other, &QPushButton::clicked, this, [this] { setSecond(std::nullopt, {}); });
}

void AnalysisInputs::choose() {
    fitExamples();
    Q_EMIT changed();
}

/// The chosen split of the subject's data; null: they are not known.
const wire::OpenedSplit* AnalysisInputs::data() const {
    const auto& subject = m_about.subject;
    return subject && subject->data ? subject->data->find(split().toStdString()) : nullptr;
}

void AnalysisInputs::fitExamples() {
    if (!m_example) return;
    const auto* data = this->data();
    const QSignalBlocker quiet(m_example);
    m_example->setMaximum(static_cast<int>(
        std::min<std::int64_t>(data ? data->info.size - 1 : 0, std::numeric_limits<int>::max())));
    // Not the first example, which the inspector shows at first.
    if (m_untouched && m_example->maximum() > 0) {
        m_untouched = false;
        m_example->setValue(1);
    }
    m_example->setEnabled(m_split->count() > 0);
}

void AnalysisInputs::subjectChanged() {
    m_offers = true;
    const auto& subject = m_about.subject;
    if (m_split) {
        const QSignalBlocker quiet(m_split);
        const QString before =
            m_split->count() > 0 ? split() : QString::fromStdString(m_analysis.split);
        m_split->clear();
        if (subject && subject->data)
            for (const auto& one : subject->data->splits)
                m_split->addItem(QString::fromStdString(one.name));
        m_split->setEnabled(m_split->count() > 0);
        m_split->setCurrentIndex(std::max(0, m_split->findText(before)));
    }
    if (m_dataBox) {
        m_dataBox->setVisible(subject && !subject->data);
        m_data->setText(m_measurements.dataOf(path()));
    }
    if (m_clean) {
        m_clean->setText(subject ? subject->sampleName : QString());
        m_clean->setAccessibleName(QStringLiteral("Clean input: %1").arg(m_clean->text()));
    }
    fitExamples();
}

QString AnalysisInputs::split() const {
    return m_split ? m_split->currentText() : QString();
}

bool AnalysisInputs::has(const QString& split) const {
    return !m_split || split.isEmpty() || m_split->count() == 0 || m_split->findText(split) >= 0;
}

QString AnalysisInputs::take(const View& view) {
    const auto said = [&view](const char* name) { return QString::fromStdString(view.text(name)); };
    if (m_split)
        if (const int at = m_split->findText(said("split")); at >= 0) m_split->setCurrentIndex(at);
    if (m_pairs) m_pairs->setText(said("pairs"));
    if (m_data) chooseData(said(readsText() ? "text" : "data"));
    const QString corrupt = said("corrupt"), sample = QStringLiteral("sample:");
    if (!m_example || !corrupt.startsWith(sample)) return {};
    const qint64 number = corrupt.mid(sample.size()).toLongLong();
    if (number > m_example->maximum())
        return QStringLiteral("its second sample is %1, and there are %2")
            .arg(number)
            .arg(m_example->maximum() + 1);
    setSecond(std::nullopt, {});
    m_example->setValue(static_cast<int>(number));
    return {};
}

void AnalysisInputs::addTo(wire::Asked& asked) const {
    if (m_pairs && !m_pairs->text().trimmed().isEmpty())
        asked.set("pairs", m_pairs->text().trimmed().toStdString());
    auto split = this->split().toStdString();
    if (const auto path = file().toStdString(); !path.empty()) {
        asked.set(readsText() ? "text" : "data", path);
        std::erase_if(asked.options, [](const Option& option) { return option.name == "split"; });
    }
    if (!m_example) {
        if (!split.empty() && asked.option("split")) asked.set("split", split);
        return;
    }
    const auto ofA = m_about.subject->asked.text("split");
    if (m_second) {
        asked.second = m_second;
        const auto& read = m_second->source;
        std::string typed;
        if (read.text)
            for (const auto& piece : read.labels) typed += piece;
        if (!typed.empty()) asked.set("corrupt", "text:" + typed);
        if (!ofA.empty()) split = ofA;
    } else {
        asked.set("corrupt", "sample:" + std::to_string(m_example->value()));
        // If the examples are of two splits, A has no words and is sent as it is.
        if (!ofA.empty() && split != ofA)
            std::erase_if(asked.options,
                          [](const Option& option) { return option.name == "clean"; });
    }
    if (!split.empty()) asked.set("split", split);
}

void AnalysisInputs::setSecond(std::optional<ProbeSample> sample, const QString& name) {
    m_second = std::move(sample);
    m_secondName = m_second ? name : QString();
    m_other->setText(m_secondName);
    m_other->setAccessibleName(QStringLiteral("B is %1; remove it").arg(m_secondName));
    m_other->setVisible(m_second.has_value());
    m_split->setVisible(!m_second);
    m_example->setVisible(!m_second);
    choose();
}

QString AnalysisInputs::whyNoPair() const {
    if (!m_second && m_split->count() == 0)
        return QStringLiteral("Choose a second input: drop it in the inspector with Shift.");
    const auto& asked = m_about.subject->asked;
    // All windows of a text have the length of the first.
    const auto* windows = asked.option("sample") ? nullptr : data();
    const auto& b = m_second                     ? *m_second
                    : windows && windows->isText ? windows->first.sample
                                                 : *asked.sample;
    const auto countA = asked.sample->source.tokens.size(), countB = b.source.tokens.size();
    if (countA == countB) return {};
    return QStringLiteral("Patching needs two inputs of one length; A has %1 tokens, B %2.")
        .arg(countA)
        .arg(countB);
}

QString AnalysisInputs::nameOfSecond() const {
    return m_second ? m_secondName : QStringLiteral("%1 %2").arg(split()).arg(m_example->value());
}

namespace {

// Near the border between two answers every share of the way from B to A is large: of so many
// examples with another answer, the one that the model is surest of becomes B.
constexpr int kOtherAnswers = 6;

/// The index of that example, searched from behind `from`; nullopt: there is none.
std::optional<std::int64_t> otherAnswer(Engine& models, const Looker::Progress& progress,
                                        const Model& model, wire::Example from,
                                        std::int64_t label) {
    std::optional<std::int64_t> best;
    float least = 1.0F;
    for (int n = 0; n < kOtherAnswers; ++n) {
        wire::LabelSearch found;
        do
            found = wire::findLabel(models.session, from, label == 0 ? 1 : 0, true, found.searched,
                                    progress);
        while (!found.index && !found.all);
        if (!found.index || (best && *found.index <= from.index)) break;  // once around
        from.index = *found.index;
        wire::Asked asked(
            Question{core::kInspectView, {model}, {{"sample", from.index}, {"split", from.split}}});
        asked.data = from.data;
        const auto probed = wire::probeOnce(models.session, asked, progress);
        const auto& answers = probed->probabilities;
        const auto at = static_cast<std::size_t>(label);
        if (best && (at >= answers.size() || answers[at] >= least)) continue;
        best = from.index;
        if (at < answers.size()) least = answers[at];
    }
    return best;
}

}  // namespace

void AnalysisInputs::offerOther(std::function<bool()> wanted) {
    const auto& subject = m_about.subject;
    if (!m_example || m_second || m_chosen || !std::exchange(m_offers, false)) return;
    const auto* data = this->data();
    if (!data || !subject->asked.sample || data->labels().size() < 2) return;
    const auto label = subject->asked.sample->label;
    if (label < 0) return;
    m_quick.use(subject->model());
    m_quick.post(
        this,
        [from = wire::Example{subject->data->data, data->name, data->info.size - 1}, label,
         model = subject->model()](Engine& models, const Looker::Progress& progress) {
            return otherAnswer(models, progress, model, from, label);
        },
        [this, wanted = std::move(wanted), split = split(), path = subject->model().path,
         label](const std::optional<std::int64_t>& found) {
            const auto& now = m_about.subject;
            if (!found || m_chosen || !wanted() || split != this->split() || !now ||
                now->model().path != path || !now->asked.sample ||
                now->asked.sample->label != label)
                return;
            const QSignalBlocker quiet(m_example);
            m_example->setValue(static_cast<int>(*found));
            choose();
        });
}

}  // namespace relascope::app
