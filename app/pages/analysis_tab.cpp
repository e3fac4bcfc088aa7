// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/analysis_tab.h"

#include <QApplication>
#include <QFileInfo>
#include <QFocusEvent>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>
#include <utility>

#include "app/command_log.h"
#include "app/pages/analysis_options.h"
#include "app/pages/control_row.h"
#include "app/pages/data_source.h"
#include "interventions/edit_words.h"
#include "question/question_fields.h"
#include "question/question_words.h"
#include "types/text_format.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/export/export.h"
#include "widgets/form/field_form.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

using core::AnalysisInput;

namespace {

constexpr int kTyping = 300, kDragging = 150;  // ms
constexpr int kSoon = 150, kAfterASecond = 1000;

QString text(const std::string& words) {
    return QString::fromStdString(words);
}

std::string pathOf(const std::optional<Subject>& subject) {
    return subject ? subject->model().path : std::string();
}

}  // namespace

AnalysisTab::AnalysisTab(const core::Analysis& analysis, const About& about, Looker& quick,
                         Measurements& measurements, QWidget* parent)
    : QWidget(parent),
      m_analysis(analysis),
      m_about(about),
      m_asking(analysis, quick, measurements),
      m_options(new widgets::DialogBody(this)) {
    auto* inside = m_options->inside();
    auto* rows = widgets::columnOf(inside);
    auto* bar = new widgets::Box(&widgets::Theme::panel, false, inside);
    auto* line = widgets::rowOf(bar, {16, 4, 16, 4}, 8);
    // The controls are made in the order in which Tab reaches them.
    if (std::any_of(analysis.fields.begin(), analysis.fields.end(),
                    [](const auto& field) { return field.above; })) {
        auto* first = new widgets::Box(&widgets::Theme::panel, false, inside);
        auto* over = widgets::rowOf(first, {16, 4, 16, 0}, 8);
        m_above = new AnalysisOptions(first);
        m_above->addFields(analysis, true);
        over->addWidget(m_above, 1);
        rows->addWidget(first);
    }
    m_run = new QPushButton(QStringLiteral("Measure"), bar);
    m_run->setProperty("compact", true);
    if (analysis.onDemand) {
        m_run->setProperty("primary", true);
        line->addWidget(m_run, 0, Qt::AlignTop);
        m_fold = new QPushButton(bar);
        m_fold->setProperty("compact", true);
        m_fold->setCheckable(true);
        m_fold->setToolTip(QStringLiteral("How it is measured"));
        line->addWidget(m_fold, 0, Qt::AlignTop);
    }
    auto* folded = new QWidget(bar);
    auto* lines = widgets::columnOf(folded);
    lines->setSpacing(6);
    line->addWidget(folded, 1);
    m_controls = new AnalysisOptions(folded);
    const bool apart = reads(AnalysisInput::Pair) || reads(AnalysisInput::Sentences);
    auto* inputs = apart ? new ControlRow(folded) : m_controls;
    m_inputs = new AnalysisInputs(analysis, about, quick, measurements, *inputs);
    if (apart) lines->addWidget(inputs);
    lines->addWidget(m_controls);
    m_controls->addFields(analysis);
    rows->addWidget(bar);
    rows->addWidget(widgets::horizontalLine(inside));
    m_strip = new JobStrip(this);
    m_view = widgets::makeAnalysisView(analysis, this);
    m_strip->follow(m_asking.task());
    m_view->menu()->describe = [this] { return described(); };
    if (analysis.onDemand) {
        m_strip->setDelay(kSoon);
        connect(m_fold, &QPushButton::toggled, m_controls, &QWidget::setVisible);
        connect(m_fold, &QPushButton::toggled, this, &AnalysisTab::updateButton);
        m_controls->hide();
    } else {
        m_view->addControl(m_run);
        m_run->hide();
    }
    m_options->setVisible(m_inputs->any() || !m_controls->isEmpty());
    // As high as its rows, unless the window is too low for them.
    m_options->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    auto* column = widgets::columnOf(this);
    column->addWidget(m_options);
    column->addWidget(m_strip);
    column->addWidget(m_view, 1);

    m_start.setSingleShot(true);
    connect(&m_start, &QTimer::timeout, this, [this] { run(); });
    connect(m_run, &QPushButton::clicked, this, [this] { run(); });
    for (auto* controls : {m_controls, m_above}) {
        if (!controls) continue;
        connect(controls, &AnalysisOptions::chosen, this, &AnalysisTab::choose);
        connect(controls, &AnalysisOptions::entered, m_run, &QPushButton::click);
    }
    connect(m_inputs, &AnalysisInputs::changed, this, &AnalysisTab::inputsChanged);
    connect(m_inputs, &AnalysisInputs::entered, m_run, &QPushButton::click);
    m_strip->installEventFilter(this);
    m_run->installEventFilter(this);
    connect(m_view, &widgets::AnalysisFrame::optionChosen, this,
            [this](const QString& name, const FieldValue& value) {
                choose(name.toStdString(), value);
                m_controls->setValues(m_values);
            });
    connect(&m_asking.task(), &LongTask::began, this, &AnalysisTab::updateButton);
    connect(&m_asking.task(), &LongTask::ended, this, [this] {
        m_running = false;
        describe();
    });
    connect(&m_asking, &Asking::reported, this, &AnalysisTab::show);
    connect(&m_asking, &Asking::costKnown, this, [this](const AnalysisCost& cost) {
        m_cost = cost;
        describe();
    });
    connect(&m_asking, &Asking::refused, this, &AnalysisTab::refuse);
    subjectChanged(std::nullopt);
}

/// What is asked above the button is about the data of a run, and is kept with its path.
void AnalysisTab::keepAbove(const std::string& before) {
    if (!before.empty()) m_ofPath[before] = above();
    for (const auto& field : m_analysis.fields)
        if (field.above) m_values.erase(field.spec.name);
    if (const auto kept = m_ofPath.find(pathOf(m_about.subject)); kept != m_ofPath.end())
        for (const auto& [name, value] : kept->second) take(name, value);
    m_above->setValues(m_values);
}

core::OptionValues AnalysisTab::above() const {
    core::OptionValues values;
    for (const auto& [name, value] : m_values)
        if (m_analysis.field(name)->above) values[name] = value;
    return values;
}

std::map<std::string, core::OptionValues> AnalysisTab::ofPaths() const {
    auto all = m_ofPath;
    if (const auto path = pathOf(m_about.subject); m_above && !path.empty()) all[path] = above();
    std::erase_if(all, [](const auto& one) { return one.second.empty(); });
    return all;
}

void AnalysisTab::setOfPaths(const std::map<std::string, core::OptionValues>& all) {
    m_ofPath = all;
    if (m_above) keepAbove({});
    optionsChanged();
}

void AnalysisTab::take(const std::string& name, FieldValue value) {
    const auto* field = m_analysis.field(name);
    if (!field) return;
    if (value == field->initial)
        m_values.erase(name);
    else
        m_values[name] = std::move(value);
}

void AnalysisTab::choose(const std::string& name, FieldValue value) {
    const auto before = m_values;
    take(name, std::move(value));
    if (m_values == before) return;
    Q_EMIT valuesChanged(text(name), before);
    optionsChanged();
}

void AnalysisTab::setValues(const core::OptionValues& values) {
    if (values == m_values) return;
    m_values.clear();
    for (const auto& [name, value] : values) take(name, value);
    const auto shown = m_values;
    m_controls->setValues(m_values);
    if (m_above) m_above->setValues(m_values);
    m_view->setOptions(shown);
    optionsChanged();
}

wire::Asked AnalysisTab::question() const {
    auto asked = questionOf(m_analysis, *m_about.subject);
    m_inputs->addTo(asked);
    for (const auto& field : m_analysis.fields)
        if (const auto at = m_values.find(field.spec.name); at != m_values.end())
            asked.set(at->first, at->second);
    return asked;
}

void AnalysisTab::optionsChanged() {
    m_refusal.clear();
    if (m_analysis.onDemand) {
        // A result stays until the next one.
        if (!m_asking.task().busy() && m_view->isEmpty()) describe();
        return updateButton();
    }
    m_read = false;
    if (isVisible()) m_start.start(kTyping);
}

// Maps belong to the inputs they were measured on; a table stays until the next one.
void AnalysisTab::inputsChanged() {
    m_refusal.clear();
    m_cost.reset();
    m_read = false;
    if (reads(AnalysisInput::Pair)) {
        m_asking.letGo();
        m_view->clear({});
    }
    describe();
    if (isVisible()) activate();
}

QString AnalysisTab::caption() const {
    const auto& subject = *m_about.subject;
    QStringList parts{subject.name};
    if (reads(AnalysisInput::Data))
        parts << (!m_inputs->file().isEmpty() ? QFileInfo(m_inputs->file()).fileName()
                  : split().isEmpty()         ? QStringLiteral("weights alone")
                                              : split());
    else if (reads(AnalysisInput::Pair))
        parts << QStringLiteral("A: ") + subject.sampleName
              << QStringLiteral("B: ") + m_inputs->nameOfSecond();
    else if (reads(AnalysisInput::Sentences))
        parts << (m_asked && m_asked->option("pairs")
                      ? QFileInfo(text(m_asked->text("pairs"))).fileName()
                      : QStringLiteral("twelve phenomena"));
    else if (reads(AnalysisInput::OwnPrompts))
        parts << QStringLiteral("rules in context");
    // The analysis has its own text, not that of the inspector.
    else if (!(reads(AnalysisInput::OwnText) && m_options->isVisibleTo(this)) &&
             !subject.sampleName.isEmpty())
        parts << subject.sampleName;
    if (subject.edits().anyEnabled())
        parts << QStringLiteral("edited: ") + text(core::wordsOf(subject.edits()));
    return parts.join(QStringLiteral(", "));
}

void AnalysisTab::subjectChanged(const std::optional<Subject>& before) {
    const auto& subject = m_about.subject;
    const bool anew = !stays(m_analysis, before, subject);
    // A run that trains may have kept more steps.
    const bool another =
        before && subject && before->model().checkpoint != subject->model().checkpoint;
    if (anew || (another && reads(AnalysisInput::KeptSteps))) m_read = false;
    if (pathOf(before) != pathOf(subject)) {
        if (m_above) keepAbove(pathOf(before));
        // Names of answers and positions belong to the model, and so do files where every input is
        // read as it is chosen: one of another model would refuse them all. A file to save would
        // be replaced by what another model gives.
        for (const auto& field : m_analysis.fields)
            if (!field.inRow || field.spec.name == "save" ||
                (field.spec.path && !m_analysis.onDemand))
                m_values.erase(field.spec.name);
        m_controls->setValues(m_values);
        m_view->setOptions(m_values);
        m_view->clear({});
    }
    if (auto* ofText = m_controls->ofText(); ofText && subject && subject->data)
        ofText->setVisible(subject->data->splits.front().isText);
    const bool known = subject && subject->data && !subject->data->splits.empty();
    const auto first = known ? subject->data->splits.front() : wire::OpenedSplit();
    for (auto* options : {m_above, m_controls})
        if (options) options->setWords(first.hypothesisWords, first.maskFacts);
    if (anew) {
        m_valid = false;
        m_refusal.clear();
        m_start.stop();
        m_inputs->subjectChanged();
        if (reads(AnalysisInput::OwnText)) m_options->setVisible(subject && readsOwnText(*subject));
        if (m_analysis.onDemand || !missing().isEmpty()) m_view->clear({});
        if (m_inputs->any())
            inputsChanged();
        else
            describe();
    }
    if (subject) {
        const widgets::AnalysisPlace place{subject->name, subject->asked.cell, subject->cellName,
                                           stepOf(subject->asked)};
        if (!m_view->setPlace(place)) {
            m_asking.letGo();
            m_valid = m_read = false;
            describe();
        } else if (m_shown && reads(AnalysisInput::KeptSteps)) {
            m_shown->cell = subject->asked.cell;  // read from what was measured
        }
    }
    // One that went on meanwhile.
    if (const auto* followed = m_asking.followed(); followed && !m_running) {
        prepare(*followed);
        m_running = true;
    }
    updateButton();
    if (isVisible()) activate();
}

bool AnalysisTab::recall() {
    return m_analysis.onDemand && !m_running && missing().isEmpty() &&
           m_asking.recall(question(), std::bind_front(&AnalysisTab::prepare, this));
}

void AnalysisTab::findKept() {
    if (m_running || recall() || !m_about.subject) return;
    std::vector<wire::Asked> questions{question()};
    if (m_analysis.field("seconds")) {
        questions.push_back(questions.front());
        questions.back().set("seconds", kQuickScan);
    }
    m_asking.findKept(std::move(questions), std::bind_front(&AnalysisTab::prepare, this));
}

void AnalysisTab::activate() {
    if (isVisible() && m_about.subject && (m_valid || !m_refusal.isEmpty()))
        m_asking.see(*m_about.subject);
    if (m_read || !missing().isEmpty()) return;
    if (m_view->isEmpty() && recall()) return;
    // B has another answer than A until the user chooses it. What is measured or shown keeps the B
    // that it was asked of.
    m_inputs->offerOther([this] { return !m_running && m_view->isEmpty(); });
    if (!m_analysis.onDemand) {
        m_read = true;
        return m_start.start(reads(AnalysisInput::KeptSteps) ? kDragging : 0);
    }
    if (m_running) return;  // it is not cancelled to estimate its cost
    if (!m_analysis.costText) {
        m_read = true;
        return findKept();
    }
    if (m_cost) return;
    m_strip->setDelay(kAfterASecond);  // a second is not worth a strip that comes and goes
    prepare(question());
    m_asking.findKept({*m_asked}, std::bind_front(&AnalysisTab::prepare, this), true);
}

void AnalysisTab::run() {
    m_start.stop();
    if (missing().isEmpty()) run(question());
}

void AnalysisTab::run(wire::Asked asked) {
    // Further steps are read after the requested ones have arrived.
    if (reads(AnalysisInput::KeptSteps) && m_asking.task().busy()) return;
    prepare(asked);
    if (m_analysis.onDemand) m_strip->setDelay(kSoon);
    const bool continued = reads(AnalysisInput::Data) && m_asking.continues(asked);
    if (m_valid && (reads(AnalysisInput::KeptSteps) || continued)) asked.known = m_view->shown();
    m_asking.run(asked, *m_about.subject);
    m_running = true;  // set here, as ending the previous run resets it
    updateButton();
}

void AnalysisTab::prepare(const wire::Asked& asked) {
    m_read = true;
    m_asked = asked;
    m_asked->known.reset();
    m_caption = caption();
}

void AnalysisTab::refuse(const QString& sentence) {
    m_refusal = sentence;
    m_viewFile.clear();
    // A result of these inputs stays beside an option that is refused.
    if (m_valid && !reads(AnalysisInput::KeptSteps))
        m_view->refuse(sentence);
    else
        m_view->clear(sentence);
    m_valid = m_valid && !m_view->isEmpty();
    if (m_fold) m_fold->setChecked(true);  // what is refused may be an option
    updateButton();
    if (isVisible() && m_about.subject) m_asking.see(*m_about.subject);
}

bool AnalysisTab::isUnfolded() const {
    return m_fold && m_fold->isChecked();
}
void AnalysisTab::setUnfolded(bool unfolded) {
    if (m_fold) m_fold->setChecked(unfolded);
}

void AnalysisTab::show(const Answer& result, bool finished) {
    m_valid = m_view->showResult(result);
    m_shown = m_asked;
    const auto view = m_shown ? viewOf(*m_shown) : std::nullopt;
    if (m_valid) {
        if (!m_analysis.onDemand) m_caption = caption();
        m_view->setCaption(m_caption);
        m_view->setCommand(view ? core::wordsOf(*view) : std::vector<std::string>());
        if (!m_viewFile.isEmpty())
            m_view->menu()->setViewFile(std::exchange(m_viewFile, QString()));
    } else {
        m_asking.letGo();
        m_read = false;
        if (isVisible()) activate();
    }
    updateButton();
    if (isVisible()) m_asking.see(*m_about.subject);
    if (finished && m_analysis.onDemand && view)
        commandLog().add(
            text(core::commandOf(*view)),
            QStringLiteral("%1 of %2").arg(text(m_analysis.title), m_about.subject->name));
}

/// What is shown as a view, with its answer.
std::optional<View> AnalysisTab::described() const {
    if (!m_shown || m_view->isEmpty()) return std::nullopt;
    auto view = viewOf(*m_shown);
    if (!view) return view;
    view->caption = m_view->menu()->caption().toStdString();
    view->shown = std::make_shared<const Answer>(m_view->shown());
    return view;
}

QString AnalysisTab::openView(const View& view, const QString& file) {
    const QString split = text(view.text("split"));
    if (!m_inputs->has(split))
        return QStringLiteral("its split is '%1', which these data do not have").arg(split);
    core::OptionValues values;
    for (const auto& option : view.options)
        if (m_analysis.field(option.name) && !reads(AnalysisInput::KeptSteps))
            values[option.name] = option.value;
    if (const auto* answer = view.option("answer"); answer && reads(AnalysisInput::KeptSteps))
        values["answer"] = *answer;
    setValues(values);
    if (QString why = m_inputs->take(view); !why.isEmpty()) return why;
    m_viewFile = file;
    widgets::paperAction()->setChecked(view.paper);
    if (view.dpi > 0) m_view->menu()->setDpi(view.dpi);
    if (!recall()) run();
    return {};
}

void AnalysisTab::showSaved(const Answer& answer, const QString& caption) {
    m_asking.letGo();
    m_shown.reset();
    m_valid = false;
    bool fits = true;
    try {
        if (m_analysis.check) m_analysis.check(answer);
    } catch (const Error&) {
        fits = false;
    }
    if (!fits || !m_view->showResult(answer))
        return m_view->clear(QStringLiteral("The saved result belongs to another analysis."));
    m_view->setCaption(caption);
}

bool AnalysisTab::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_run) {
        if (event->type() == QEvent::FocusIn)
            m_reason = static_cast<const QFocusEvent*>(event)->reason();
        return QWidget::eventFilter(watched, event);
    }
    auto* cancel = m_strip->cancelButton();
    if (event->type() == QEvent::Hide) m_returns = cancel->hasFocus();
    if (event->type() == QEvent::Show && m_passedTo && m_passedTo->hasFocus()) {
        m_passedTo = nullptr;
        cancel->setFocus(m_reason);
    }
    return QWidget::eventFilter(watched, event);
}

QString AnalysisTab::missing() const {
    const auto& subject = m_about.subject;
    const bool data = reads(AnalysisInput::Data);
    if (!subject)
        return m_about.whyNone.isEmpty() ? QStringLiteral("Open a run or a checkpoint first.")
                                         : m_about.whyNone + u'.';
    if (!subject->noModel.isEmpty())
        return m_analysis.acceptsCaptures ? QString() : subject->noModel + u'.';
    if (data && !subject->data && m_inputs->file().isEmpty() && !m_analysis.dataOptional)
        return QStringLiteral("A checkpoint has no data of its own: choose a file or folder %1.")
            .arg(m_fold ? QStringLiteral("under Options, Data") : QStringLiteral("above"));
    if (reads(AnalysisInput::Sentences) || reads(AnalysisInput::OwnPrompts)) {
        return readsOwnText(*subject)
                   ? QString()
                   : QStringLiteral("%1 are for language models: open one first.")
                         .arg(reads(AnalysisInput::Sentences) ? QStringLiteral("Minimal pairs")
                                                              : QStringLiteral("Rules in context"));
    }
    if (!data && !subject->asked.sample) return QStringLiteral("Choose a sample in the inspector.");
    if (reads(AnalysisInput::KeptSteps) && !subject->asked.cell)
        return QStringLiteral("Choose a map in the inspector.");
    return reads(AnalysisInput::Pair) ? m_inputs->whyNoPair() : QString();
}

void AnalysisTab::describe() {
    updateButton();
    if (!m_view->isEmpty()) return;
    QString sentence = missing();
    if (sentence.isEmpty()) sentence = m_refusal;
    if (sentence.isEmpty() && m_analysis.onDemand) {
        sentence = text(m_analysis.purpose);
        if (reads(AnalysisInput::Pair))
            sentence += QStringLiteral(" Parts of A (%1) are put into the pass of B (%2).")
                            .arg(m_about.subject->sampleName, m_inputs->nameOfSecond());
        QString cost = m_cost                ? text(m_analysis.costText(*m_cost, m_values))
                       : m_analysis.timeText ? text(m_analysis.timeText(m_values))
                                             : QString();
        if (!cost.isEmpty()) {
            cost[0] = cost[0].toUpper();
            sentence += u' ' + cost + u'.';
        }
    } else if (sentence.isEmpty() && m_read && !m_start.isActive() && !m_asking.task().busy()) {
        sentence = QStringLiteral("Not measured.");  // the analysis was cancelled
    }
    m_view->clear(sentence);
}

void AnalysisTab::updateButton() {
    const bool measuring = m_running && m_asking.task().busy();
    const bool continues = !measuring && m_about.subject && m_asking.continues(question());
    bool nothing = false;  // a list of choices in which nothing is chosen
    for (const auto& field : m_analysis.fields) {
        const auto at = m_values.find(field.spec.name);
        const auto* words = std::get_if<std::vector<std::string>>(
            at == m_values.end() ? &field.initial : &at->second);
        nothing =
            nothing || (field.inRow && !field.spec.choices.empty() && words && words->empty());
    }
    // Enabled also after a refusal, as its cause may be gone.
    const bool can = missing().isEmpty() && !measuring && !nothing;
    const bool passes = !can && m_run->hasFocus();
    m_run->setEnabled(can);
    // Cancel has the focus while the run button is disabled. Afterwards the button gets it back,
    // unless the user has moved the focus.
    if (passes) m_passedTo = QApplication::focusWidget();
    if (can && (m_returns || (m_passedTo && m_passedTo->hasFocus()))) m_run->setFocus(m_reason);
    if (can) m_passedTo = nullptr, m_returns = false;
    m_run->setText(continues ? QStringLiteral("Continue") : QStringLiteral("Measure"));
    const auto folded = m_values.size() - above().size();
    if (m_fold)
        m_fold->setText(folded == 0 ? QStringLiteral("Options")
                                    : QStringLiteral("Options (%1 set)").arg(folded));
    m_run->setToolTip(continues ? QStringLiteral("Measure what is missing") : QString());
    // Quick analyses have the run button only after they were cancelled.
    if (!m_analysis.onDemand)
        m_run->setVisible(!measuring && (continues || (m_read && m_view->isEmpty() &&
                                                       m_refusal.isEmpty() && m_run->isEnabled())));
}

}  // namespace relascope::app
