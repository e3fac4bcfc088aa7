// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/duel_page.h"

#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMimeData>
#include <QPushButton>
#include <QRandomGenerator>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "analysis/analysis.h"
#include "app/controllers/controllers.h"
#include "app/controllers/typed_text.h"
#include "app/opener.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/checkpoint_details.h"
#include "app/pages/data_source.h"
#include "app/pages/first_view.h"
#include "app/pages/subject_slot.h"
#include "app/run_export.h"
#include "run/run_folder.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/analysis/answer_view.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/source/input_chooser.h"
#include "widgets/source/text_input.h"
#include "widgets/source/text_outcome.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"
#include "wire/host.h"

namespace relascope::app {
namespace {

const QString kSecondMissing =
    QStringLiteral("Choose a second run, step or checkpoint in the menus above, or drag it here.");
const QString kBothMissing = QStringLiteral(
    "Choose two runs, steps or checkpoints to compare: in the menus above, or drag them here, pin "
    "what the Workbench shows as A, or check two runs on Compare and press Duel.");

/// Minimum heights of the page in px, wide and narrow, below which it scrolls so that maps and
/// tables stay visible. Below the width kNarrowDuel the small maps are under the three large ones.
constexpr int kLowestDuel = 640, kLowestNarrowDuel = 1180, kNarrowDuel = 1000;

/// The run folder if a file manager gives a file in it, otherwise the path itself.
QString subjectPath(const QString& path) {
    const QFileInfo info(path);
    return info.fileName() == QLatin1String("run.json") ? info.absolutePath()
                                                        : info.absoluteFilePath();
}

/// The run of a subject, or the run that its checkpoint lies in; empty if there is none.
QString runOf(const wire::Asked& subject) {
    const auto& path = subject.subjects[0].path;
    return core::isRunFolder(path) ? placeOf(subject)
                                   : QString::fromStdString(core::runOfWeights(path));
}

}  // namespace

DuelPage::DuelPage(Controllers& controllers, RunExport& fetches)
    : m_c(controllers),
      m_fetches(fetches),
      m_slots{new SubjectSlot(QStringLiteral("A"), controllers, this),
              new SubjectSlot(QStringLiteral("B"), controllers, this)},
      m_strip(new JobStrip(this)),
      m_error(new ErrorStrip(this)),
      m_again(m_error->addButton(QStringLiteral("Try again"))),
      m_stack(new QStackedWidget(this)),
      m_empty(new widgets::EmptyState(kBothMissing, {}, this)),
      m_splitter(new QSplitter(Qt::Vertical, this)),
      m_inspector(new widgets::RelationInspector(this)),
      m_linked(new QToolButton(this)),
      m_below(new QStackedWidget(this)),
      m_measure(new AnalysisWindow(core::analysesOf(core::AnalysisPage::Duel), controllers.history,
                                   controllers.measurements)),
      m_apart(new widgets::EmptyState({}, {}, this)) {
    setAccessibleName(QStringLiteral("Duel"));
    setAcceptDrops(true);
    m_inspector->setAccessibleName(QStringLiteral("Maps of A and B"));
    m_inspector->setBackground(backgroundOn(*new JobQueue(this)));
    m_inspector->setThree();
    m_inspector->setDescribe([this] { return describe(1); });
    m_inspector->setEmptyState(
        QStringLiteral("The maps of A and B appear here when both have answered."), {});
    m_linked->setCheckable(true);
    m_linked->setChecked(true);
    m_linked->setText(QStringLiteral("Linked"));
    m_linked->setToolTip(
        QStringLiteral("A shows the map and the cell of B. Off: A stays as it is, the controls are "
                       "those of B, and a click on a map chooses i and j of that one."));
    connect(m_linked, &QToolButton::toggled, m_inspector, &widgets::RelationInspector::setLinked);
    m_measure->setEditsNote(QStringLiteral("With the edits of A"));
    m_splitter->setHandleWidth(1);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(m_inspector);
    m_below->addWidget(m_measure);
    m_below->addWidget(m_apart);
    widgets::paintOnPanelColour(m_below);
    m_splitter->addWidget(m_below);
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 2);
    m_splitter->setSizes({3000, 2000});  // in these shares, until they are changed
    m_stack->addWidget(m_empty);
    m_splitter->setMinimumHeight(kLowestDuel);
    m_stack->addWidget(new widgets::ScrollingPage(m_splitter, this));
    auto* head = new QWidget(this);
    auto* both = widgets::rowOf(head, {}, 1);
    both->addWidget(m_slots[0], 1);
    both->addWidget(m_linked);
    both->addWidget(m_slots[1], 1);
    setTabOrder(m_slots[0]->steps(), m_linked);
    auto* column = widgets::columnOf(this);
    column->addWidget(head);
    column->addWidget(widgets::horizontalLine(this));
    column->addWidget(m_strip);
    for (std::size_t side = 0; side < 2; ++side) {
        auto *strip = new JobStrip(this), *opening = new JobStrip(this);
        strip->follow(m_feeds.task(side));
        opening->follow(m_feeds.opening(side));
        column->addWidget(strip);
        column->addWidget(opening);
        connect(strip, &JobStrip::cancelled, this, [this, side] {
            refuse(QStringLiteral("The maps of %1 were cancelled.")
                       .arg(QChar(side == 0 ? u'A' : u'B')));
        });
    }
    column->addWidget(m_error);
    column->addWidget(m_stack, 1);

    m_strip->follow(m_feeds.task());
    connect(&m_feeds, &DuelFeeds::subjectsChanged, this, &DuelPage::subjectsChanged);
    connect(&m_feeds, &DuelFeeds::dataRead, this, [this] {
        offerSamples();
        subjectsChanged();
    });
    connect(&m_feeds, &DuelFeeds::answered, this, &DuelPage::show);
    connect(&m_feeds, &DuelFeeds::refused, this, &DuelPage::refuse);
    connect(&m_feeds, &DuelFeeds::notOpened, m_error, &ErrorStrip::setSentence);
    connect(m_again, &QPushButton::clicked, this, [this] {
        if (!m_feeds.complete()) return;
        for (std::size_t side = 0; side < 2; ++side)
            if (const QString host = m_feeds.host(side); !m_c.hosts.isUsable(host))
                m_c.hosts.refresh(host);
        again();
    });
    connect(&m_c.hosts, &HostsController::found, this, &DuelPage::again);
    connect(m_apart, &widgets::EmptyState::activated, this, &DuelPage::fetchApart);
    connect(&m_fetches.task(), &LongTask::began, this, &DuelPage::describeApart);
    connect(&m_fetches.task(), &LongTask::ended, this, &DuelPage::describeApart);
    for (std::size_t side = 0; side < 2; ++side) {
        connect(m_slots[side], &SubjectSlot::chosen, this,
                [this, side](const auto& subject) { setSubject(side, subject); });
        connect(m_slots[side], &SubjectSlot::workbenchChosen, this,
                [this, side] { setSubject(side, shownOnWorkbench()); });
        connect(m_slots[side], &SubjectSlot::farChosen, this, [this, side](const QString& path) {
            m_error->setSentence({});
            m_feeds.openFar(side, path);
        });
        connect(m_slots[side], &SubjectSlot::againChosen, this, [this, side] {
            m_error->setSentence({});
            m_feeds.readAgain(side);
            subjectsChanged();
        });
        connect(m_slots[side], &SubjectSlot::otherSideChosen, this, [this] {
            auto a = m_feeds.subject(0), b = m_feeds.subject(1);
            setSubject(0, std::move(b)), setSubject(1, std::move(a));
        });
    }
    // The inspector takes drops for itself.
    connect(m_inspector, &widgets::RelationInspector::imageDropped, this, &DuelPage::take);
    connectInputs();
    auto* samples = m_inspector->sourcePane()->samples();
    samples->setLabels({});
    connect(samples, &widgets::SampleChooser::sampleRequested, this,
            [this](const QString& split, qint64 index) {
                m_feeds.chooseExample(split.toStdString(), index);
                offerSamples();
            });
    connect(samples, &widgets::SampleChooser::randomSampleRequested, this,
            [this](const QString& split) {
                const auto& data = m_feeds.data();
                if (!data) return;
                const auto size = data->at(split.toStdString()).info.size;
                m_feeds.chooseExample(split.toStdString(),
                                      QRandomGenerator::global()->bounded(
                                          static_cast<quint64>(std::max<qint64>(1, size))));
                offerSamples();
            });
    connect(m_measure, &AnalysisWindow::exampleRequested, this,
            [this](const QString& split, qint64 example, const MapCell& cell) {
                auto next = m_inspector->view();
                next.source = cell.i;
                m_inspector->setView(next);
                m_feeds.chooseExample(split.toStdString(), example);
                offerSamples();
            });
    connect(m_measure, &AnalysisWindow::mapRequested, this, &DuelPage::showPartners);
    subjectsChanged();
}

DuelPage::~DuelPage() = default;

std::optional<View> DuelPage::describe(std::size_t side) const {
    const auto shown = m_feeds.shown(side);
    return shown ? viewOf(*shown) : std::nullopt;
}

AnalysisTab* DuelPage::tab() const {
    return m_measure->tab("duel");
}

void DuelPage::refuse(const QString& sentence) {
    m_error->setSentence(sentence);
    m_again->setVisible(m_feeds.complete());
    m_inspector->mapPane()->setOutdated(true, false);  // the map shown is for the previous request
}

void DuelPage::setSubject(std::size_t side, std::optional<wire::Asked> subject) {
    m_error->setSentence({});
    m_again->hide();
    m_feeds.setSubject(side, std::move(subject));
}

/// Connects the inputs of the user, which both sides read instead of an example.
void DuelPage::connectInputs() {
    auto* source = m_inspector->sourcePane();
    connect(source->textInput(), &widgets::TextInput::textTyped, &m_feeds, &DuelFeeds::chooseText);
    connect(&m_feeds, &DuelFeeds::textProblem, source->textInput(),
            &widgets::TextInput::setProblem);
    // The typed text, without the tokens that a tokenizer adds around it.
    connect(source->textInput(), &widgets::TextInput::opened, this, [this, source] {
        if (const auto& own = m_feeds.own(); own && own->option("text"))
            source->textInput()->setText(QString::fromStdString(own->text("text")));
    });
    auto* inputs = source->inputs();
    connect(inputs, &widgets::InputChooser::chosen, this,
            [this](const std::vector<Option>& input) { m_feeds.choose(inputAs(input)); });
    connect(inputs, &widgets::InputChooser::imageRequested, this, [this] {
        const QString path =
            QFileDialog::getOpenFileName(window(), QStringLiteral("Inspect image"), {},
                                         QStringLiteral("Images (*.png *.jpg *.jpeg)"));
        if (!path.isEmpty()) take(path);
    });
}

void DuelPage::take(const QString& path) {
    if (isPicture(path)) {
        if (!m_feeds.complete())
            return m_error->setSentence(
                QStringLiteral("%1: choose A and B first; then both read the picture.")
                    .arg(QFileInfo(path).fileName()));
        return m_feeds.choose(inputAs({{"image", path.toStdString()}}));
    }
    setSubject(m_feeds.subject(0) ? 1 : 0, weightsAt(subjectPath(path), std::nullopt));
}

std::optional<wire::Asked> DuelPage::shownOnWorkbench() const {
    const QString run = m_c.selection.current();
    if (run.isEmpty()) return std::nullopt;
    return weightsAt(run, m_c.selection.step(), enabledEdits(m_c.runEdits.list()));
}

void DuelPage::subjectsChanged() {
    for (std::size_t side = 0; side < 2; ++side) m_slots[side]->setSubject(m_feeds.subject(side));
    m_inspector->setPartner(std::nullopt);  // the partner belonged to other subjects
    std::array<QString, 2> paths;
    for (std::size_t side = 0; side < 2; ++side)
        if (const auto& subject = m_feeds.subject(side)) paths[side] = placeOf(*subject);
    // Maps of another step stay dimmed until the next ones; those of another model do not.
    if (paths != m_paths) {
        m_first = m_first || paths[1] != m_paths[1];
        m_paths = paths;
        m_inspector->setResult(nullptr);
        m_inspector->setSubText({});
        m_inspector->sourcePane()->outcome()->clear();
    }
    if (!m_feeds.answer(0) || !m_feeds.answer(1)) m_inspector->mapPane()->setOutdated(true);
    const auto &a = m_feeds.subject(0), &b = m_feeds.subject(1);
    m_empty->setSentence(a || b ? kSecondMissing : kBothMissing);
    m_stack->setCurrentIndex(m_feeds.complete() ? 1 : 0);
    describeApart();
    m_below->setCurrentIndex(areApart() ? 1 : 0);
    if (!m_feeds.complete() || areApart()) return m_measure->setSubject(std::nullopt);
    Subject subject;
    subject.asked = *a;
    subject.asked.subjects.push_back(b->subjects[0]);
    subject.asked.edits.push_back(b->edits[0]);
    subject.name = QStringLiteral("A: %1, B: %2").arg(titleOf(*a), titleOf(*b));
    subject.setData(m_feeds.data());
    m_measure->setSubject(std::move(subject));
}

bool DuelPage::areApart() const {
    return m_feeds.complete() && m_feeds.host(0) != m_feeds.host(1);
}

void DuelPage::describeApart() {
    if (!areApart()) return;
    const QString a = m_feeds.host(0), b = m_feeds.host(1);
    const QString here = QStringLiteral("this computer");
    auto sentence =
        QStringLiteral("A is on %1, B on %2: to be measured, both must be on this computer.")
            .arg(a.isEmpty() ? here : a, b.isEmpty() ? here : b);
    bool fetched = true, copied = true;
    for (std::size_t side = 0; side < 2; ++side) {
        const auto& subject = *m_feeds.subject(side);
        if (m_feeds.host(side).isEmpty()) continue;
        const QString letter(side == 0 ? u'A' : u'B'), run = runOf(subject);
        if (run.isEmpty()) {
            fetched = false;
            sentence += QStringLiteral(
                            " %1 is a checkpoint outside of a run, which is not fetched: copy it "
                            "to this computer, and open the copy.")
                            .arg(letter);
            continue;
        }
        copied = copied && QFileInfo::exists(m_c.runs.placeOfCopy(run));
        const auto& data = m_feeds.data();
        if (!data || data->data.run != run.toStdString()) continue;
        const auto file = QString::fromStdString(data->data.options.path);
        if (!file.isEmpty() && !QFileInfo::exists(file))
            sentence +=
                QStringLiteral(" The data of %1 are needed here, too: copy %2.").arg(letter, file);
    }
    m_apart->setSentence(sentence);
    m_apart->setButtonText(!fetched ? QString()
                           : copied ? QStringLiteral("Use the copy on this computer")
                                    : QStringLiteral("Fetch to this computer"));
    m_apart->button()->setEnabled(m_fetches.disabledReason().isEmpty());
    m_apart->button()->setToolTip(m_fetches.disabledReason());
}

void DuelPage::fetchApart() {
    for (std::size_t side = 0; side < 2 && areApart(); ++side) {
        const auto& subject = *m_feeds.subject(side);
        if (m_feeds.host(side).isEmpty()) continue;
        const QString run = runOf(subject);
        // A checkpoint without a run was chosen since then; describeApart() says what to do.
        if (run.isEmpty()) return;
        const QString copy = m_c.runs.placeOfCopy(run);
        if (QFileInfo::exists(copy))
            chooseCopy(run, copy);
        else
            return m_fetches.fetch(run, copy, [this, run, copy] {
                if (chooseCopy(run, copy)) fetchApart();  // the other subject
            });
    }
}

bool DuelPage::chooseCopy(const QString& run, const QString& copy) {
    bool chosen = false;
    for (std::size_t side = 0; side < 2; ++side) {
        auto next = m_feeds.subject(side);
        if (!next || runOf(*next) != run) continue;
        next->subjects[0].path = (copy + placeOf(*next).mid(run.size())).toStdString();
        setSubject(side, next);
        chosen = true;
    }
    return chosen;
}

void DuelPage::again() {
    if (m_feeds.answer(0) && m_feeds.answer(1)) return;
    m_error->setSentence({});
    m_inspector->mapPane()->setOutdated(true);
    m_feeds.again();
}

void DuelPage::offerSamples() {
    const auto& data = m_feeds.data();
    auto* source = m_inspector->sourcePane();
    QStringList names;
    std::vector<qint64> sizes;
    for (const auto& split : data ? data->splits : std::vector<wire::OpenedSplit>()) {
        names << QString::fromStdString(split.name);
        sizes.push_back(split.info.size);
    }
    source->samples()->setSplits(names, sizes);
    if (data)
        source->samples()->setSample(QString::fromStdString(m_feeds.split()), m_feeds.example());
    source->setInputs(data ? widgets::InputOffer() : m_feeds.offer());
    // A text that is being typed is read by the new A, too.
    const auto& own = m_feeds.own();
    const bool typed = own && own->option("text") && !(*own == firstInput(m_feeds.offer()));
    if (!typed) source->textInput()->setOpen(false);
}

void DuelPage::showPartners(MapKind kind, int layer, int index) {
    const auto* view = qobject_cast<const widgets::AnswerView*>(tab()->view());
    m_inspector->showMap(kind, layer, index);
    const auto* partners = view->answer().find("partners");
    if (!partners) return;
    const auto number = [&](const char* column, std::size_t row) {
        return static_cast<int>(indexOf(partners->numbers(column)[row]));
    };
    for (std::size_t row = 0; row < partners->links.size(); ++row) {
        const auto& link = partners->links[row];
        if (number("layer_a", row) < 0 || link.layer != layer || link.index != index ||
            link.kind != kind)
            continue;
        m_inspector->setPartner(
            widgets::MapId{widgets::kindOfMap(partners->texts("a")[row], number("heads", row) > 0),
                           number("layer_a", row), number("index_a", row)},
            QStringLiteral(", correlation %1")
                .arg(widgets::signedNumber(partners->numbers("correlation")[row], 2)));
    }
}

void DuelPage::show(const widgets::Inspected& inspected) {
    m_error->setSentence(m_feeds.problems());
    m_again->hide();
    const auto& b = *m_feeds.subject(1);
    auto both = inspected;
    both.pinned.view = describe(0);
    if (b.edits[0].anyEnabled()) both.words = wordsOfList(b.edits[0]);
    const bool run = core::isRunFolder(b.subjects[0].path);
    m_inspector->setFigureRun(checkpointTitles({placeOf(b)}).front(), run);
    m_inspector->setInspected(both);
    if (std::exchange(m_first, false)) {
        auto view = firstView(*inspected.result);
        view.beside = true;
        m_inspector->setView(view);
    }
    const auto& result = *inspected.result;
    // Checkpoints have no step; an input of the user is not in the chooser.
    QStringList words;
    if (run) words << QStringLiteral("step %1").arg(widgets::groupedNumber(result.step));
    if (m_feeds.own() || !run) words << QString::fromStdString(result.sample.origin);
    m_inspector->setSubText(words.join(QStringLiteral(" \u00B7 ")));
    auto* source = m_inspector->sourcePane();
    if (m_feeds.data())
        source->samples()->setSample(QString::fromStdString(m_feeds.split()), m_feeds.example());
    if (const auto& own = m_feeds.own()) source->inputs()->showInput(*own, result.sample);
    if (!isOneText(result.sample)) return source->outcome()->clear();
    showNextTokens(*source->outcome(), result, inspected.pinned.result.get());
}

void DuelPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const bool narrow = width() < kNarrowDuel;
    if (std::exchange(m_narrow, narrow) == narrow) return;
    m_inspector->setCompact(narrow);
    m_inspector->setThree();
    m_splitter->setMinimumHeight(narrow ? kLowestNarrowDuel : kLowestDuel);
}

void DuelPage::dragEnterEvent(QDragEnterEvent* event) {
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile()) return event->acceptProposedAction();
}

void DuelPage::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    for (const QUrl& url : event->mimeData()->urls()) {
        if (!url.isLocalFile()) continue;
        // Dropped on a slot: that subject; elsewhere the subject that is missing, or B.
        const auto at = event->position().toPoint();
        const auto on = [&](const SubjectSlot* slot) {
            return slot->geometry().contains(slot->parentWidget()->mapFrom(this, at));
        };
        const QString path = url.toLocalFile();
        if (on(m_slots[0]) || on(m_slots[1]))
            setSubject(on(m_slots[0]) ? 0 : 1, weightsAt(subjectPath(path), std::nullopt));
        else
            take(path);
    }
}

QByteArray DuelPage::panesState() const {
    return m_splitter->saveState();
}
void DuelPage::restorePanes(const QByteArray& state) {
    m_splitter->restoreState(state);
}

}  // namespace relascope::app
