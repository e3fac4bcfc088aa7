// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/duel_page.h"

#include <QComboBox>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMimeData>
#include <QPainter>
#include <QPushButton>
#include <QRandomGenerator>
#include <QSplitter>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "analysis/duel.h"
#include "app/controllers/controllers.h"
#include "app/pages/analysis_tab.h"
#include "app/pages/data_source.h"
#include "interventions/edit_json.h"
#include "interventions/edit_words.h"
#include "run/run_folder.h"
#include "widgets/analysis/duel_view.h"
#include "widgets/analysis/measure_frame.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/inspector/sample_chooser.h"
#include "widgets/inspector/source_pane.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"
#include "wire/host.h"

namespace relascope::app {
namespace {

const QString kSecondMissing =
    QStringLiteral("Choose a second run, step or checkpoint: drag it here.");
const QString kBothMissing = QStringLiteral(
    "Choose two runs, steps or checkpoints to compare: drag them here, pin what the "
    "Workbench shows as A, or choose two runs on Compare and press Enter.");

MapKind kindOf(const std::string& name, bool head) {
    return !head                                          ? MapKind::Relation
           : name.find("relational") != std::string::npos ? MapKind::RelationalAttention
                                                          : MapKind::SensoryAttention;
}

/// A result in which one map stands in the place of another.
std::shared_ptr<const ProbeResult> withMapAt(const ProbeResult& result, const widgets::MapId& from,
                                             const widgets::MapId& to) {
    auto changed = std::make_shared<ProbeResult>(result);
    const auto* map = result.find(from.kind, from.layer, from.index);
    if (!map) return changed;
    auto moved = *map;
    moved.values = map->all(), moved.source = nullptr;  // a source knows maps by their index
    moved.kind = to.kind, moved.layer = to.layer, moved.index = to.index;
    auto& maps = changed->maps;
    const auto place = [](const RelationMap& one) {
        return std::tuple(one.kind, one.layer, one.index);
    };
    const auto at = std::lower_bound(
        maps.begin(), maps.end(), moved,
        [&](const RelationMap& a, const RelationMap& b) { return place(a) < place(b); });
    if (at != maps.end() && place(*at) == place(moved))
        *at = std::move(moved);
    else
        maps.insert(at, std::move(moved));
    return changed;
}

/// The run folder of a file in it that a file manager gives, or the path itself.
QString subjectPath(const QString& path) {
    const QFileInfo info(path);
    return info.fileName() == QLatin1String("run.json") ? info.absolutePath()
                                                        : info.absoluteFilePath();
}

}  // namespace

// A and B
// -------------------------------------------------------------------------------------------------

SubjectSlot::SubjectSlot(const QString& letter, Controllers& controllers, QWidget* parent)
    : QWidget(parent),
      m_letter(letter),
      m_c(controllers),
      m_button(new QPushButton(this)),
      m_menu(new QMenu(this)),
      m_steps(new QComboBox(this)) {
    auto* row = widgets::rowOf(this, {12, 4, 8, 4}, 8);
    auto* name = new QLabel(letter, this);
    name->setFont(widgets::headFont());
    m_button->setFont(widgets::smallFont());
    m_button->setProperty("compact", true);
    m_button->setMenu(m_menu);
    m_button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_button->setAccessibleName(QStringLiteral("Subject %1").arg(letter));
    m_button->setFocusPolicy(Qt::TabFocus);
    m_steps->setFont(widgets::smallFont());
    m_steps->setAccessibleName(QStringLiteral("Step of %1").arg(letter));
    m_steps->setMinimumWidth(96);
    row->addWidget(name);
    row->addWidget(m_button, 1);
    row->addWidget(m_steps);
    connect(m_menu, &QMenu::aboutToShow, this, &SubjectSlot::fillMenu);
    connect(m_steps, &QComboBox::activated, this, [this](int at) {
        if (!m_subject) return;
        auto next = *m_subject;
        next.step.reset();
        if (const auto step = m_steps->itemData(at); step.isValid()) next.step = step.toLongLong();
        Q_EMIT chosen(next);
    });
    const auto fill = [this](const QString& path) {
        if (m_subject && m_subject->path == path) fillSteps();
    };
    connect(&m_c.runs.records(), &RunRecords::loaded, this, fill);
    connect(&m_c.runs.records(), &RunRecords::capturesChanged, this, fill);
    setSubject(std::nullopt);
}

void SubjectSlot::setSubject(const std::optional<DuelSubject>& subject) {
    m_subject = subject;
    m_button->setText(text());
    m_button->setToolTip(subject ? subject->path : QStringLiteral("Choose what is compared"));
    m_button->setAccessibleDescription(text());
    if (subject && core::isRunFolder(subject->path.toStdString()))
        m_c.runs.records().load({subject->path});
    fillSteps();
}

QString SubjectSlot::text() const {
    if (!m_subject) return QStringLiteral("Choose...");
    auto plain = *m_subject;
    plain.step.reset();  // the box next to the button shows it
    return plain.name();
}

void SubjectSlot::fillSteps() {
    m_steps->clear();
    const bool run = m_subject && core::isRunFolder(m_subject->path.toStdString());
    m_steps->setVisible(run);
    if (!run) return;
    m_steps->addItem(QStringLiteral("newest"));
    auto kept = m_c.runs.records().kept(m_subject->path);
    if (m_subject->step && !std::binary_search(kept.begin(), kept.end(), *m_subject->step)) {
        kept.push_back(*m_subject->step);
        std::sort(kept.begin(), kept.end());
    }
    for (const auto step : kept)
        m_steps->addItem(QStringLiteral("step %1").arg(widgets::groupedNumber(step)),
                         static_cast<qlonglong>(step));
    if (m_subject->step)
        m_steps->setCurrentIndex(m_steps->findData(static_cast<qlonglong>(*m_subject->step)));
}

void SubjectSlot::fillMenu() {
    m_menu->clear();
    m_menu->addAction(QStringLiteral("What the Workbench shows"), this,
                      &SubjectSlot::workbenchChosen);
    m_menu->addAction(QStringLiteral("Exchange A and B"), this, &SubjectSlot::otherSideChosen);
    m_menu->addSeparator();
    for (const auto& row : m_c.runs.rows()) {
        const QString path = QString::fromStdString(row.info.path);
        m_menu->addAction(m_c.runs.name(path), this, [this, path] {
            Q_EMIT chosen(DuelSubject{path, std::nullopt, {}});
        });
    }
    m_menu->addSeparator();
    m_menu->addAction(QStringLiteral("Open a run or checkpoint..."), this, [this] {
        const QString path =
            QFileDialog::getExistingDirectory(this, QStringLiteral("Subject %1").arg(m_letter));
        if (!path.isEmpty()) Q_EMIT chosen(DuelSubject{path, std::nullopt, {}});
    });
}

void SubjectSlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), widgets::Theme::current().panel);
}

// The page
// -------------------------------------------------------------------------------------------------

DuelPage::DuelPage(Controllers& controllers)
    : m_c(controllers),
      m_slots{new SubjectSlot(QStringLiteral("A"), controllers, this),
              new SubjectSlot(QStringLiteral("B"), controllers, this)},
      m_strip(new JobStrip(this)),
      m_error(new ErrorStrip(this)),
      m_stack(new QStackedWidget(this)),
      m_empty(new widgets::EmptyState(kBothMissing, {}, this)),
      m_splitter(new QSplitter(Qt::Vertical, this)),
      m_inspector(new widgets::RelationInspector(this)),
      m_measure(new MeasureWindow({&core::duelAnalysis()}, controllers.history)) {
    setAccessibleName(QStringLiteral("Duel"));
    setAcceptDrops(true);
    m_inspector->setAccessibleName(QStringLiteral("Maps of A and B"));
    m_inspector->setBackground(backgroundOn(*new JobQueue(this)));
    m_inspector->mapPane()->setThree(true);
    m_splitter->setHandleWidth(1);
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(m_inspector);
    m_splitter->addWidget(m_measure);
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 2);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_splitter);
    auto* head = new QWidget(this);
    auto* both = widgets::rowOf(head, {}, 1);
    for (auto* slot : m_slots) both->addWidget(slot, 1);
    auto* column = widgets::columnOf(this);
    column->addWidget(head);
    column->addWidget(widgets::horizontalLine(this));
    column->addWidget(m_strip);
    column->addWidget(m_error);
    column->addWidget(m_stack, 1);

    m_strip->follow(m_probes.task());
    connect(&m_probes, &DuelProbes::subjectsChanged, this, &DuelPage::subjectsChanged);
    connect(&m_probes, &DuelProbes::dataRead, this, [this] {
        offerSamples();
        subjectsChanged();
    });
    connect(&m_probes, &DuelProbes::answered, this, [this](const widgets::Inspected& both) {
        const auto place = m_place;
        show(both);
        if (place) showPartners(place->kind, place->layer, place->index);
    });
    connect(&m_probes, &DuelProbes::refused, m_error, &ErrorStrip::setSentence);
    for (std::size_t side = 0; side < 2; ++side) {
        connect(m_slots[side], &SubjectSlot::chosen, this,
                [this, side](const auto& subject) { setSubject(side, subject); });
        connect(m_slots[side], &SubjectSlot::workbenchChosen, this,
                [this, side] { setSubject(side, shownOnWorkbench()); });
        connect(m_slots[side], &SubjectSlot::otherSideChosen, this, [this] {
            auto a = m_probes.subject(0), b = m_probes.subject(1);
            setSubject(0, std::move(b)), setSubject(1, std::move(a));
        });
    }
    // The inspector takes drops for itself, elsewhere pictures.
    connect(m_inspector, &widgets::RelationInspector::imageDropped, this, &DuelPage::take);
    m_inspector->sourcePane()->setTyping(false);  // both read an example of A's data
    auto* samples = m_inspector->sourcePane()->samples();
    samples->setLabels({});
    connect(samples, &widgets::SampleChooser::sampleRequested, this,
            [this](const QString& split, qint64 index) {
                m_probes.chooseExample(split.toStdString(), index);
                offerSamples();
            });
    connect(samples, &widgets::SampleChooser::randomSampleRequested, this,
            [this](const QString& split) {
                const auto& data = m_probes.data();
                if (!data) return;
                const auto size = data->at(split.toStdString()).info.size;
                m_probes.chooseExample(split.toStdString(),
                                       QRandomGenerator::global()->bounded(
                                           static_cast<quint64>(std::max<qint64>(1, size))));
                offerSamples();
            });
    connect(m_measure, &MeasureWindow::exampleRequested, this,
            [this](const QString& split, qint64 example, const MapCell& cell) {
                auto next = m_inspector->view();
                next.source = cell.i;
                m_inspector->setView(next);
                m_probes.chooseExample(split.toStdString(), example);
                offerSamples();
            });
    connect(m_measure, &MeasureWindow::mapRequested, this, &DuelPage::showPartners);
    connect(m_inspector, &widgets::RelationInspector::viewChanged, this,
            [this](const widgets::InspectorView& view) {
                if (m_place && !(*m_place == widgets::MapId{view.kind, view.layer, view.index}))
                    show(m_inspected);
            });
    subjectsChanged();
}

DuelPage::~DuelPage() = default;

AnalysisTab* DuelPage::tab() const {
    return m_measure->tab(core::duelAnalysis().name);
}

void DuelPage::setSubject(std::size_t side, std::optional<DuelSubject> subject) {
    m_error->setSentence({});
    m_probes.setSubject(side, std::move(subject));
}

void DuelPage::take(const QString& path) {
    setSubject(m_probes.subject(0) ? 1 : 0, DuelSubject{subjectPath(path), std::nullopt, {}});
}

std::optional<DuelSubject> DuelPage::shownOnWorkbench() const {
    const QString run = m_c.selection.current();
    if (run.isEmpty()) return std::nullopt;
    return DuelSubject{run, m_c.selection.step(), enabledEdits(m_c.runEdits.list())};
}

void DuelPage::subjectsChanged() {
    for (std::size_t side = 0; side < 2; ++side) m_slots[side]->setSubject(m_probes.subject(side));
    const auto &a = m_probes.subject(0), &b = m_probes.subject(1);
    m_empty->setSentence(a || b ? kSecondMissing : kBothMissing);
    m_stack->setCurrentIndex(m_probes.complete() ? 1 : 0);
    if (!m_probes.complete()) return m_measure->setSubject(std::nullopt);
    MeasuredSubject subject;
    subject.path = a->path.toStdString();
    if (a->step) subject.checkpoint = std::to_string(*a->step);
    subject.name = QStringLiteral("A: %1, B: %2").arg(a->name(), b->name());
    subject.data = m_probes.data();
    subject.edits = a->edits;
    m_measure->setSubject(std::move(subject));
    auto values = tab()->values();
    values["other"] = b->path.toStdString();
    values["other_checkpoint"] = b->step ? std::to_string(*b->step) : std::string();
    values["other_edit"] = editsOfB(*b);
    tab()->setValues(values);
}

std::vector<std::string> DuelPage::editsOfB(const DuelSubject& b) {
    const auto list = enabledEdits(b.edits);
    const bool inWords = std::all_of(list.edits.begin(), list.edits.end(), [](const Edit& edit) {
        return edit.values.numbers.size() < 2 && !edit.reference && edit.textPart.empty() &&
               edit.input.empty();
    });
    // Another machine has no such file.
    if (inWords || wire::farPathOf(b.path.toStdString())) {
        std::vector<std::string> words;
        for (const auto& edit : list.edits) words.push_back(core::wordsOf(edit));
        return words;
    }
    if (!(m_written == list)) {
        m_editFile = m_editFolder.filePath(QStringLiteral("b-%1.json").arg(++m_editFiles));
        core::writeEdits(list, m_editFile.toStdString());
        m_written = list;
    }
    return {m_editFile.toStdString()};
}

void DuelPage::offerSamples() {
    const auto& data = m_probes.data();
    if (!data) return;
    QStringList names;
    std::vector<qint64> sizes;
    for (const auto& split : data->splits) {
        names << QString::fromStdString(split.name);
        sizes.push_back(split.info.size);
    }
    auto* samples = m_inspector->sourcePane()->samples();
    samples->setSplits(names, sizes);
    samples->setSample(QString::fromStdString(m_probes.split()), m_probes.example());
}

void DuelPage::showPartners(MapKind kind, int layer, int index) {
    const auto* view = qobject_cast<const widgets::DuelView*>(tab()->view());
    if (!m_inspected.result) return;
    for (const auto& partner : view->result().partners) {
        if (partner.layerA < 0 || partner.layerB != layer || partner.indexB != index ||
            kindOf(partner.b, partner.heads) != kind)
            continue;
        auto matched = m_inspected;
        const widgets::MapId from{kindOf(partner.a, partner.heads),
                                  static_cast<int>(partner.layerA),
                                  static_cast<int>(partner.indexA)};
        m_place = {kind, layer, index};
        matched.pinned.result = withMapAt(*matched.pinned.result, from, *m_place);
        matched.pinned.name += QStringLiteral(", %1, correlation %2")
                                   .arg(QString::fromStdString(partner.a),
                                        widgets::signedNumber(partner.correlation, 2));
        m_inspector->setInspected(matched);
    }
    m_inspector->showMap(kind, layer, index);
}

void DuelPage::show(const widgets::Inspected& inspected) {
    m_error->setSentence({});
    m_inspected = inspected;
    m_place.reset();
    m_inspector->setInspected(inspected);
    if (std::exchange(m_first, false)) {
        auto view = m_inspector->view();
        view.beside = true;
        m_inspector->setView(view);
    }
}

void DuelPage::dragEnterEvent(QDragEnterEvent* event) {
    for (const QUrl& url : event->mimeData()->urls())
        if (url.isLocalFile()) return event->acceptProposedAction();
}

void DuelPage::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    for (const QUrl& url : event->mimeData()->urls()) {
        if (!url.isLocalFile()) continue;
        // On a slot: that one; elsewhere what is missing, or B.
        const auto at = event->position().toPoint();
        const auto on = [&](const SubjectSlot* slot) {
            return slot->geometry().contains(slot->parentWidget()->mapFrom(this, at));
        };
        const QString path = url.toLocalFile();
        if (on(m_slots[0]) || on(m_slots[1]))
            setSubject(on(m_slots[0]) ? 0 : 1, DuelSubject{subjectPath(path), std::nullopt, {}});
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
