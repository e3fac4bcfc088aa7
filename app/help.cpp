// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include <QClipboard>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QGuiApplication>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QSettings>
#include <QTabBar>
#include <QVBoxLayout>
#include <QVersionNumber>

#include "app/cli/build_facts.h"
#include "app/controllers/controllers.h"
#include "app/example_run.h"
#include "app/help.h"
#include "app/main_window.h"
#include "app/pages/workbench_page.h"
#include "options/builtin_resources.h"
#include "widgets/bar/train_bar.h"
#include "widgets/curves/curve_panel.h"
#include "widgets/form/options_form.h"
#include "widgets/help/document_viewer.h"
#include "widgets/inspector/map_pane.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/lists/sidebar.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"
#include "widgets/tour/tour_overlay.h"

namespace relascope::app {

void copyText(const QString& text) {
    QGuiApplication::clipboard()->setText(text);
}

void showAbout(QWidget* parent) {
    struct Part {
        const char *name, *licence;
    };
    static constexpr Part parts[] = {
        {"Qt 6", "LGPL-3.0"},         {"QCustomPlot", "GPL-3.0-or-later"},
        {"LibTorch", "BSD-3-Clause"}, {"OpenCV", "Apache-2.0"},
        {"nlohmann JSON", "MIT"},     {"CLI11", "BSD-3-Clause"},
        {"libzip", "BSD-3-Clause"},   {"zlib", "Zlib"},
        {"libpng", "libpng-2.0"},     {"libjpeg-turbo", "BSD-3-Clause and IJG"},
        {"Inter", "OFL-1.1"},         {"JetBrains Mono", "OFL-1.1"},
    };
    QString rows;
    for (const auto& part : parts)
        rows += QString("<tr><td style='padding-right:24px'>%1</td><td>%2</td></tr>")
                    .arg(QLatin1String(part.name), QLatin1String(part.licence));

    const auto facts = cli::buildFacts(qVersion());
    auto* dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(QStringLiteral("About Relascope"));
    auto* column = widgets::columnOf(dialog, {24, 24, 24, 16}, 12);
    auto* picture = new QLabel(dialog);
    picture->setPixmap(widgets::applicationIcon().pixmap(64, 64));
    column->addWidget(picture);
    auto* title = new QLabel(QString::fromStdString("Relascope " + facts.version), dialog);
    title->setFont(widgets::titleFont());
    column->addWidget(title);
    auto* build = widgets::mutedLabel(
        QString::fromStdString("Commit " + commitText(facts) + "\nLibTorch " + facts.libtorch +
                               ", Qt " + facts.qt + ", " + facts.compiler + ", " + facts.build),
        dialog);
    build->setFont(widgets::smallFont());
    build->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(build);
    auto* text = new QLabel(
        QStringLiteral(
            "Trains relational Transformers and inspects them during training.<br>Free software "
            "under the GNU General Public License, version 3 or later. Built with:"),
        dialog);
    text->setWordWrap(true);
    column->addWidget(text);
    auto* table = new QLabel("<table cellspacing='2'>" + rows + "</table>", dialog);
    table->setFont(widgets::smallFont());
    table->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(table);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    column->addWidget(buttons);
    dialog->setMinimumWidth(440);
    dialog->open();
}

namespace {

constexpr const char* kFolder = ":/docs/";
constexpr const char* kIndex = "index.md";

QByteArray contents(const QString& name) {
    QFile file(QLatin1String(kFolder) + name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

std::vector<widgets::HelpDocument> documents() {
    const QString index = QString::fromUtf8(contents(QLatin1String(kIndex)));
    QStringList names{QLatin1String(kIndex)};
    static const QRegularExpression link(QStringLiteral("\\]\\(([a-z0-9-]+\\.md)\\)"));
    for (auto it = link.globalMatch(index); it.hasNext();) names << it.next().captured(1);
    // Documents missing in the index are shown, too.
    names << QDir(QLatin1String(kFolder))
                 .entryList({QStringLiteral("*.md")}, QDir::Files, QDir::Name);
    names.removeDuplicates();
    std::vector<widgets::HelpDocument> found;
    for (const QString& name : std::as_const(names))
        if (const QByteArray text = contents(name); !text.isEmpty())
            found.push_back({name, QString::fromUtf8(text)});
    return found;
}

namespace {

widgets::DocumentViewer* viewerOf(QWidget* parent) {
    if (auto* viewer =
            parent->findChild<widgets::DocumentViewer*>(QString(), Qt::FindDirectChildrenOnly))
        return viewer;
    auto* viewer = new widgets::DocumentViewer(parent);
    QHash<QString, QByteArray> pictures;
    const QDir folder{QLatin1String(kFolder)};
    for (const QString& name : folder.entryList({QStringLiteral("*.svg")}, QDir::Files))
        pictures.insert(name, contents(name));
    viewer->setPictures(pictures);
    viewer->setDocuments(documents());
    return viewer;
}

}  // namespace

widgets::DocumentViewer* showDocuments(QWidget* parent, const QString& link) {
    auto* viewer = viewerOf(parent);
    if (!link.isEmpty()) viewer->open(link);
    viewer->show();
    viewer->raise();
    viewer->activateWindow();
    return viewer;
}

namespace {

constexpr const char* kSeenKey = "news/version";

QString ownVersion() {
    return QString::fromLatin1(core::builtin::version());
}

/// Documents that the change log names become links with their titles.
QString withLinks(QString markdown) {
    for (const auto& document : documents()) {
        const QString title = widgets::markdownTitle(document.markdown);
        markdown.replace(
            QString("`resources/docs/%1`").arg(document.name),
            QString("[%1](%2)").arg(title.isEmpty() ? document.name : title, document.name));
    }
    return markdown;
}

widgets::DocumentViewer* show(MainWindow& window, const QString& news) {
    constexpr const char* name = "news.md";
    auto* viewer = viewerOf(&window);
    viewer->setDocument(
        {QLatin1String(name),
         QString("# What is new in Relascope %1\n\n").arg(ownVersion()) + withLinks(news)});
    return showDocuments(&window, QLatin1String(name));
}

}  // namespace

QString changelog() {
    QFile file(QStringLiteral(":/news/CHANGELOG.md"));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QString newsSince(const QString& changelog, const QString& seen, const QString& now) {
    static const QRegularExpression heading(QStringLiteral("^## +(.+?) *$"),
                                            QRegularExpression::MultilineOption);
    const auto versionOf = [](const QString& text) { return QVersionNumber::fromString(text); };
    const QVersionNumber last = versionOf(seen), current = versionOf(now);
    QString news;
    for (auto it = heading.globalMatch(changelog); it.hasNext();) {
        const auto match = it.next();
        const qsizetype end = it.hasNext() ? it.peekNext().capturedStart() : changelog.size();
        // "Unreleased" has no number: it is newer than the newest version.
        const QVersionNumber version = versionOf(match.captured(1));
        if (!version.isNull() && version > current) continue;
        if (!version.isNull() && !last.isNull() && version <= last) break;
        news += changelog.mid(match.capturedStart(), end - match.capturedStart());
        if (last.isNull()) break;
    }
    return news;
}

widgets::DocumentViewer* showNews(MainWindow& window) {
    const QString all = changelog();
    return show(window, all.mid(all.indexOf(QLatin1String("\n## ")) + 1));
}

widgets::DocumentViewer* showNewsAfterUpdate(MainWindow& window, bool firstStart) {
    QSettings settings;
    const QString seen = settings.value(QLatin1String(kSeenKey)).toString(), now = ownVersion();
    if (seen == now) return nullptr;
    settings.setValue(QLatin1String(kSeenKey), now);
    if (firstStart) return nullptr;
    const QString news = newsSince(changelog(), seen, now);
    return news.isEmpty() ? nullptr : show(window, news);
}

namespace {

constexpr const char* kShownKey = "tour/shown";

bool showsExample(MainWindow& window) {
    const auto& c = window.controllers();
    return c.selection.current().toStdString() == exampleRun(c.runs.folder().toStdString());
}
/// Whether the example run is shown, or will be once the runs are read. At the first start it is
/// still being copied.
bool beginsWithExample(MainWindow& window, bool firstStart) {
    const auto& c = window.controllers();
    const QDir runs(c.runs.folder());
    const QDir example(QString::fromStdString(exampleRun(c.runs.folder().toStdString())));
    return showsExample(window) || (c.selection.current().isEmpty() &&
                                    (example.exists() || (firstStart && runs.isEmpty())));
}

/// Shows of the example run an input whose upper figure is not among the three below, with the
/// upper one as i and one of them as j.
void showAbsentShape(MainWindow& window) {
    constexpr int sample = 3, upper = 2, below = 8;
    auto& c = window.controllers();
    if (!showsExample(window)) return;
    c.selection.setStep(std::nullopt);
    c.runInput.chooseSample(QStringLiteral("validation"), sample);
    widgets::InspectorView view;
    view.source = upper;
    view.target = below;
    c.selection.setView(view);
}

std::vector<widgets::TourStep> stepsOf(MainWindow& window, bool withExample) {
    const auto of = [](QWidget* widget) { return [widget] { return widget; }; };
    auto* workbench = window.workbench();
    auto* inspector = workbench->inspector();
    std::vector<widgets::TourStep> steps;
    const auto add = [&steps](const QString& title, const QString& text,
                              std::function<QWidget*()> target,
                              bool usable = false) -> widgets::TourStep& {
        return steps.emplace_back(
            widgets::TourStep{title, text, std::move(target), {}, {}, usable});
    };
    if (withExample) {
        auto& first = add(
            QStringLiteral("Make two shapes the same"),
            QString::fromUtf8(
                "This model says whether the shape above is among the three below. Here it is "
                "not; i and j are two different shapes. Press Make them the same, below the map: "
                "the relation of i and j becomes that of i with itself, and the answer turns from "
                "\u201Cabsent\u201D to \u201Coccurs\u201D. Undo, or Ctrl+Z, takes it back."),
            [inspector]() -> QWidget* {
                // The card must not cover the button; without a run there is none.
                return inspector->footer()->isVisible() ? inspector->footer()
                                                        : static_cast<QWidget*>(inspector);
            },
            true);
        first.prepare = [&window] { showAbsentShape(window); };
    }
    add(QStringLiteral("What does this relation do? Cut it."),
        QStringLiteral("Press X, or the button below the map, to take the relation out of the "
                       "model: the answer stands before and after, and B switches the maps. X "
                       "again brings it back. E lists the edits."),
        of(inspector), true);
    add(QStringLiteral("What the model sees"),
        QString::fromUtf8("Click a patch, a token or an object to choose i; Shift with a click "
                          "chooses j. The other objects are tinted by r\u1D62\u2C7C; the map shows "
                          "all i \u2190 j. F gives it the page, Escape returns."),
        of(inspector), true);
    add(QStringLiteral("Time"),
        QStringLiteral("Curves, and on their axis a mark for each step whose weights were kept. "
                       "Drag the cursor, or click a mark, to see the model as it was then; Live "
                       "follows the newest."),
        of(workbench->curves()), true);
    add(QStringLiteral("What did it learn?"),
        QStringLiteral("Twenty seconds of measuring become sentences: which relations and heads "
                       "the model needs, and what they tell. A click on a sentence shows the pair "
                       "that it is about."),
        of(workbench->learnButton()), true);
    add(QStringLiteral("Start, pause, stop"),
        QStringLiteral("Choose an experiment in the list or here, and press Start to train. Pause "
                       "with Space, make single steps with N; every run is saved as it trains. "
                       "Options opens those of the new run."),
        of(window.bar()));
    add(QStringLiteral("Runs and experiments"),
        QStringLiteral("Your runs stand on top; select several to compare their curves. Below are "
                       "the experiments of the papers."),
        of(window.sidebar()));
    add(QStringLiteral("Other pages"),
        QStringLiteral("Compare runs, plan a study over models and training sizes, browse data, or "
                       "open a checkpoint. F1 lists the keys, Ctrl+K finds every command, and Help "
                       "shows this tour again."),
        [&window]() -> QWidget* { return window.findChild<QTabBar*>(); });
    add(QStringLiteral("Relations in one picture"), widgets::RelationPrimer::text(), {}).picture =
        [](QWidget* parent) { return new widgets::RelationPrimer(parent); };
    return steps;
}

widgets::TourOverlay* showTour(MainWindow& window, bool firstStart) {
    if (auto* running = window.findChild<widgets::TourOverlay*>()) return running;
    window.showPage(PageId::Workbench);
    // Without a run the Workbench hides its panes, but the tour explains them.
    window.workbench()->showPanes(true);
    const bool withExample = beginsWithExample(window, firstStart);
    auto* tour = new widgets::TourOverlay(stepsOf(window, withExample), &window);
    // On the first start its maps come after the card.
    if (auto& c = window.controllers(); withExample && !window.workbench()->inspector()->result())
        QObject::connect(
            &c.runInput.feed(), &InspectorFeed::inspected, tour,
            [&window, tour] {
                if (tour->step() != 0) return;
                showAbsentShape(window);
                tour->arrange();
            },
            Qt::SingleShotConnection);
    QObject::connect(tour, &widgets::TourOverlay::ended, window.workbench(),
                     [page = window.workbench()] { page->showPanes(false); });
    return tour;
}

}  // namespace

widgets::TourOverlay* showTour(MainWindow& window) {
    return showTour(window, false);
}

widgets::TourOverlay* showTourOnFirstStart(MainWindow& window) {
    QSettings settings;
    if (settings.value(QLatin1String(kShownKey), false).toBool()) return nullptr;
    settings.setValue(QLatin1String(kShownKey), true);
    return showTour(window, true);
}

}  // namespace relascope::app
