// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/export/export.h"

#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QPointer>
#include <QProgressDialog>
#include <QSaveFile>
#include <QSet>
#include <QTableView>
#include <QToolButton>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "question/question_words.h"
#include "types/text_format.h"
#include "widgets/export/picture_files.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

void say(QString* error, const QString& sentence) {
    if (error) *error = sentence;
}

QImage picture(QWidget& widget, double scale) {
    QImage image = emptyPicture(widget.size(), scale, widget.palette().color(QPalette::Base));
    widget.render(&image);
    return image;
}

/// Hides controls during its lifetime, as they are not part of a figure.
class WithoutControls : public QObject {
public:
    WithoutControls() { QCoreApplication::instance()->installEventFilter(this); }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        return event->type() == QEvent::Paint && isControl(watched);
    }

private:
    static bool isControl(const QObject* widget) {
        if (const auto* chip = qobject_cast<const Chip*>(widget)) return chip->isCheckable();
        return qobject_cast<const QAbstractButton*>(widget) ||
               qobject_cast<const QComboBox*>(widget) ||
               qobject_cast<const QAbstractSpinBox*>(widget) ||
               qobject_cast<const QLineEdit*>(widget) ||
               qobject_cast<const QAbstractSlider*>(widget) ||
               qobject_cast<const SegmentedControl*>(widget);
    }
};

/// The table that a view consists of, or nullptr.
QTableView* tableOf(QWidget& view) {
    if (auto* table = qobject_cast<QTableView*>(&view)) return table;
    for (auto* table : view.findChildren<QTableView*>())
        if (table->isVisible() &&
            2 * table->width() * table->height() > view.width() * view.height())
            return table;
    return nullptr;
}

/// All rows and columns of a table, including those scrolled out of view.
std::unique_ptr<QWidget> wholeTable(QWidget& view) {
    constexpr int mostRows = 400;
    QTableView* table = tableOf(view);
    if (!table || !table->model() || table->model()->rowCount() == 0) return nullptr;
    auto whole = std::make_unique<QTableView>();
    whole->setPalette(Theme::current().palette());
    whole->setModel(table->model());
    whole->setItemDelegate(table->itemDelegate());
    for (int c = 0; c < table->model()->columnCount(); ++c)
        if (auto* own = table->itemDelegateForColumn(c)) whole->setItemDelegateForColumn(c, own);
    whole->setFrameShape(QFrame::NoFrame);
    whole->setShowGrid(table->showGrid());
    whole->setSelectionMode(QAbstractItemView::NoSelection);
    whole->setFocusPolicy(Qt::NoFocus);
    whole->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    whole->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    whole->verticalHeader()->setVisible(!table->verticalHeader()->isHidden());
    whole->horizontalHeader()->setStretchLastSection(false);
    whole->horizontalHeader()->restoreState(table->horizontalHeader()->saveState());
    whole->horizontalHeader()->setStretchLastSection(false);
    const int rows = qMin(mostRows, table->model()->rowCount());
    int high = table->horizontalHeader()->height() + 2, wide = 2;
    for (int r = 0; r < rows; ++r) {
        whole->setRowHeight(r, table->rowHeight(r));
        high += table->isRowHidden(r) ? 0 : table->rowHeight(r);
        whole->setRowHidden(r, table->isRowHidden(r));
    }
    for (int c = 0; c < table->model()->columnCount(); ++c)
        if (!table->isColumnHidden(c)) wide += whole->columnWidth(c);
    if (whole->verticalHeader()->isVisible()) wide += table->verticalHeader()->width();
    whole->resize(wide, high);
    return whole;
}

}  // namespace

QString csvField(const QString& text) {
    return QString::fromStdString(relascope::csvField(text.toStdString()));
}

bool exportWidget(QWidget& widget, const QString& path, int dpi, QString* error) {
    if (dpi == 0) dpi = OriginScope::current().dpi;
    const QString ending = QFileInfo(path).suffix().toLower();
    if (ending != QLatin1String("png") && ending != QLatin1String("svg") &&
        ending != QLatin1String("pdf")) {
        say(error, QStringLiteral("%1: the file name must end in .png, .svg or .pdf").arg(path));
        return false;
    }
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly)) {
        say(error, QStringLiteral("%1: %2").arg(path, file.errorString()));
        return false;
    }
    const Paint paint = [&widget](QPainter& painter) { widget.render(&painter); };
    const QColor ground = widget.palette().color(QPalette::Base);
    bool drawn = false;
    if (ending == QLatin1String("svg"))
        drawn = writeSvg(paint, widget.rect(), widget.accessibleName(), ground, file);
    else if (ending == QLatin1String("pdf"))
        drawn = writePdf(paint, widget.rect(), widget.accessibleName(), ground, file);
    else
        drawn = savePng(picture(widget, qBound(24, dpi, 2400) / screenDpi), file);
    if (!drawn || !file.commit()) {
        say(error, QStringLiteral("%1: could not be written (%2)").arg(path, file.errorString()));
        return false;
    }
    return exportCaption(path, widget.accessibleName(), widget.accessibleDescription(), error);
}

QString captionFile(const QString& picture) {
    const QFileInfo file(picture);
    return file.dir().filePath(file.completeBaseName() + QStringLiteral(".txt"));
}

bool exportCaption(const QString& picture, const QString& title, const QString& text,
                   QString* error) {
    if (!FigureScope::paper()) return true;
    QStringList lines{title, text};
    lines.removeAll(QString());
    return lines.isEmpty() || exportCsv(lines.join(u'\n') + u'\n', captionFile(picture), error);
}

bool exportPainting(const Paint& paint, const QSize& size, const QString& title,
                    const QColor& ground, const QString& path, QString* error, int dpi) {
    if (dpi == 0) dpi = OriginScope::current().dpi;
    QSaveFile file(path);
    const QRect box(QPoint(0, 0), size);
    const QString ending = QFileInfo(path).suffix().toLower();
    const bool opened = file.open(QIODevice::WriteOnly);
    const bool drawn =
        opened && (ending == QLatin1String("svg")   ? writeSvg(paint, box, title, ground, file)
                   : ending == QLatin1String("png") ? writePng(paint, box, ground, dpi, file)
                                                    : writePdf(paint, box, title, ground, file));
    if (drawn && file.commit()) return true;
    say(error, QStringLiteral("%1: could not be written (%2)").arg(path, file.errorString()));
    return false;
}

bool exportCsv(const QString& text, const QString& path, QString* error) {
    QSaveFile file(path);
    const QByteArray bytes = text.toUtf8();
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit()) {
        say(error, QStringLiteral("%1: %2").arg(path, file.errorString()));
        return false;
    }
    return true;
}

ViewMenu::ViewMenu(QToolButton* button, QWidget* view, std::function<QString()> name,
                   std::function<QString()> csv)
    : QObject(button),
      m_button(button),
      m_view(view),
      m_menu(new QMenu(button)),
      m_name(std::move(name)),
      m_csv(std::move(csv)) {
    askPath = [this](const QString& title, const QString& suggested, const QString& filter) {
        return chooseSaveFile(m_button->window(), title, suggested, filter);
    };
    button->setMenu(m_menu);
    button->setPopupMode(QToolButton::InstantPopup);
    m_menu->setToolTipsVisible(true);
    connect(m_menu->addAction(icon("copy"), QStringLiteral("Copy")), &QAction::triggered, this,
            &ViewMenu::copy);
    addViewEntries();
    m_menu->addSeparator();
    const auto entry = [this](const char* text, const char* ending) {
        QAction* action = m_menu->addAction(QString::fromLatin1(text));
        const QString suffix = QString::fromLatin1(ending);
        connect(action, &QAction::triggered, this, [this, suffix] { save(suffix); });
        return action;
    };
    entry("PNG...", "png")->setIcon(icon("export"));
    entry("SVG...", "svg");
    entry("PDF...", "pdf");
    if (m_csv) entry("CSV...", "csv");
    m_beforePgfplots = paperAction();
    m_menu->addAction(m_beforePgfplots);
    QMenu* themes = m_menu->addMenu(QStringLiteral("Figure theme"));
    const auto* looks =
        addChoices(themes, {QStringLiteral("Light"), QStringLiteral("As the window")}, -1,
                   [](int entry) { figureStyle().light = entry == 0; });
    // Shared by all views: the menu of another view may have changed it.
    connect(m_menu, &QMenu::aboutToShow, this, [themes, looks] {
        looks->actions().at(figureStyle().light ? 0 : 1)->setChecked(true);
        themes->setEnabled(!figureStyle().paper);
    });
    static constexpr int resolutions[] = {96, 150, 300, 600};
    QStringList names;
    for (const int dpi : resolutions) names << QStringLiteral("%1 dpi").arg(dpi);
    addChoices(m_menu->addMenu(QStringLiteral("PNG resolution")), names,
               static_cast<int>(std::find(std::begin(resolutions), std::end(resolutions), m_dpi) -
                                std::begin(resolutions)),
               [this](int entry) { m_dpi = resolutions[entry]; });
}

void ViewMenu::addViewEntries() {
    QList<QAction*> entries;
    const auto add = [&](const QString& text, const QString& help, auto call) {
        auto* action = m_menu->addAction(text, this, call);
        action->setToolTip(help);
        action->setVisible(false);
        entries << action;
    };
    const auto copyText = [this](std::string (*words)(const View&)) {
        if (const auto view = described())
            QApplication::clipboard()->setText(QString::fromStdString(words(*view)));
    };
    add(QStringLiteral("Copy as command"),
        QStringLiteral("The command line that makes the same picture or table"), [copyText] {
            copyText([](const View& view) { return core::commandOf(view, "figure.svg"); });
        });
    add(QStringLiteral("Copy as Python"),
        QStringLiteral("The line of Python that gives the same numbers"),
        [copyText] { copyText(&core::pythonOf); });
    add(QStringLiteral("Save view..."),
        QStringLiteral("A small file that opens this view again, to be cited or sent"),
        [this] { saveView(false); });
    add(QStringLiteral("Save view with data..."),
        QStringLiteral("With what it shows beside it, so that it opens without the weights"),
        [this] { saveView(true); });
    connect(m_menu, &QMenu::aboutToShow, this, [this, entries] {
        const auto view = described();
        const bool saved = view && !view->printed;
        entries[0]->setVisible(view.has_value());
        entries[1]->setVisible(view && !core::pythonOf(*view).empty());
        entries[2]->setVisible(saved);
        // Studies and curves show nothing that could be kept beside them.
        entries[3]->setVisible(saved && !std::holds_alternative<std::monostate>(view->shown));
    });
}

void ViewMenu::addTo(QMenu* menu) {
    menu->addActions(m_menu->actions());
    // Which entries there are is known when they are shown.
    connect(menu, &QMenu::aboutToShow, m_menu, &QMenu::aboutToShow);
}

std::optional<View> ViewMenu::described() const {
    auto view = describe ? describe() : std::nullopt;
    if (!view) return view;
    if (view->printed) return view;
    view->paper = figureStyle().paper;
    view->dark = Theme::current().dark && !figureStyle().light && !view->paper;
    if (m_dpi != PictureOrigin().dpi) view->dpi = m_dpi;
    return view;
}

void ViewMenu::saveView(bool withData) {
    const auto view = described();
    if (!view) return;
    QString path =
        askPath(QStringLiteral("Save the view"), fileName() + QStringLiteral(".relaview"),
                QStringLiteral("Views (*.relaview)"));
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix() != QLatin1String("relaview")) path += QStringLiteral(".relaview");
    Q_EMIT viewSaving(*view, path, withData);
}

void ViewMenu::setViewFile(const QString& path) {
    const auto view = described();
    m_viewFile = view ? QFileInfo(path).fileName() : QString();
    m_viewLine = view ? QString::fromStdString(core::commandOf(*view)) : QString();
}

QString ViewMenu::viewFile() const {
    if (m_viewFile.isEmpty()) return {};
    const auto view = described();
    const bool same = view && QString::fromStdString(core::commandOf(*view)) == m_viewLine;
    return same ? m_viewFile : QString();
}

/// The content of a picture: its size and painting, including the caption unless it is for a paper.
struct ViewMenu::Drawing {
    QSize size;
    std::function<void(QPainter&)> paint;
    QString title, caption;
};

template <class Use>
bool ViewMenu::draw(Use use) {
    constexpr int margin = 16;
    const FigureScope scope(figure ? nullptr : m_view);
    const WithoutControls bare;
    const std::unique_ptr<QWidget> made = figure        ? figure()
                                          : paintVector ? nullptr
                                                        : wholeTable(*m_view);
    Drawing drawing;
    std::function<void(QPainter&)> paint;
    if (made) {
        drawing.size = made->size();
        paint = [&made](QPainter& painter) { made->render(&painter); };
    } else if (paintVector) {
        drawing.size = wholeSize ? wholeSize() : m_view->size();
        paint = paintVector;
    } else {
        drawing.size = m_view->size();
        paint = [this](QPainter& painter) { m_view->render(&painter); };
    }
    drawing.title = made ? made->accessibleName() : m_view->accessibleName();
    drawing.caption = caption                        ? caption()
                      : !figure                      ? subject()
                      : made && FigureScope::paper() ? made->accessibleDescription()
                                                     : QString();
    const QString text = FigureScope::paper() ? QString() : drawing.caption;
    const QSize figureSize = drawing.size;
    const QRect line(margin, figureSize.height() + 2, figureSize.width() - 2 * margin, 200);
    const int flags = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;
    if (!text.isEmpty())
        drawing.size.rheight() +=
            QFontMetrics(captionFont()).boundingRect(line, flags, text).height() + 14;
    drawing.paint = [&](QPainter& painter) {
        painter.fillRect(QRect(QPoint(0, 0), drawing.size), Theme::current().panel);
        painter.save();
        paint(painter);
        painter.restore();
        if (text.isEmpty()) return;
        painter.setFont(captionFont());
        painter.setPen(Theme::current().muted);
        painter.drawText(line, flags, text);
    };
    return use(drawing);
}

void ViewMenu::copy() {
    draw([](const Drawing& drawing) {
        QImage image = emptyPicture(drawing.size, 2.0, Theme::current().panel);
        QPainter painter(&image);
        drawing.paint(painter);
        painter.end();
        QApplication::clipboard()->setImage(image);
        return true;
    });
}

void ViewMenu::addPgfplots(std::function<QString()> source, const QString& text) {
    m_pgfplots = std::move(source);
    auto* action = new QAction(text, m_menu);
    m_menu->insertAction(m_beforePgfplots, action);
    connect(action, &QAction::triggered, this, [this] { save(QStringLiteral("tex")); });
}

QStringList ViewMenu::endings() const {
    QStringList all{QStringLiteral("png"), QStringLiteral("svg"), QStringLiteral("pdf")};
    if (m_pgfplots && !m_pgfplots().isEmpty()) all << QStringLiteral("tex");
    if (m_csv) all << QStringLiteral("csv");
    return all;
}

QString ViewMenu::subject() const {
    for (const QWidget* widget = m_view; widget; widget = widget->parentWidget())
        if (const QString of = widget->property(kFigureSubject).toString(); !of.isEmpty())
            return of;
    return {};
}

QString ViewMenu::fileName() const {
    const QString of = figureFileName({subject()});
    QString name = m_name ? figureFileName({m_name()}) : QString();
    if (!name.startsWith(of)) name = figureFileName({of, name});
    return name.isEmpty() ? QStringLiteral("figure") : name;
}

bool ViewMenu::write(const QString& path, QString* error) {
    const QString ending = QFileInfo(path).suffix().toLower();
    if (!endings().contains(ending)) {
        say(error, QStringLiteral("%1: the ending must be one of .%2")
                       .arg(path, endings().join(QStringLiteral(", ."))));
        return false;
    }
    if (ending == QLatin1String("csv")) return exportCsv(m_csv(), path, error);
    PictureOrigin origin = OriginScope::current();  // a command has no menu
    if (const auto view = described())
        origin = {QString::fromStdString(core::commandOf(*view)), viewFile()};
    const OriginScope scope(origin);
    if (ending == QLatin1String("tex")) {
        const FigureScope scope(m_view);  // the colours of the figure
        const QString source = m_pgfplots();
        if (source.isEmpty() && error)
            *error = QStringLiteral("%1: there is nothing to plot").arg(path);
        return !source.isEmpty() && exportCsv(source, path, error);
    }
    return draw([&](const Drawing& drawing) {
        return exportPainting(drawing.paint, drawing.size, drawing.title, Theme::current().panel,
                              path, error, m_dpi) &&
               exportCaption(path, drawing.title, drawing.caption, error);
    });
}

void ViewMenu::save(const QString& ending) {
    QString path =
        askPath(QStringLiteral("Save as %1").arg(ending.toUpper()), fileName() + u'.' + ending,
                QStringLiteral("%1 (*.%2)").arg(ending.toUpper(), ending));
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += u'.' + ending;
    const QString written = QFileInfo(path).suffix().toLower();
    if (written == QLatin1String("csv")) {
        if (auto make = background && prepareCsv ? prepareCsv() : nullptr) {
            const auto text = std::make_shared<QString>();
            return saveLater(
                path, [text, make] { *text = make(); },
                [text, path](QString* error) { return exportCsv(*text, path, error); });
        }
    } else if (auto prepare = background && prepareFigure ? prepareFigure() : nullptr) {
        return saveLater(path, prepare,
                         [this, path](QString* error) { return write(path, error); });
    }
    QString error;
    const bool done = write(path, &error);
    told(done, path, error);
}

void ViewMenu::told(bool written, const QString& path, const QString& error) {
    if (written)
        Q_EMIT saved(path);
    else
        Q_EMIT failed(error);
}

/// Writes a file, with progress if it takes a while. Cancel leaves no file; the work itself is not
/// interrupted.
void ViewMenu::saveLater(const QString& path, std::function<void()> work,
                         std::function<bool(QString* error)> finish) {
    QPointer<QProgressDialog> progress(
        new QProgressDialog(QStringLiteral("Writing %1").arg(QFileInfo(path).fileName()),
                            QStringLiteral("Cancel"), 0, 0, m_button->window()));
    progress->setWindowTitle(QStringLiteral("Export"));
    progress->setAttribute(Qt::WA_DeleteOnClose);
    progress->setMinimumDuration(400);
    progress->setWindowModality(Qt::WindowModal);
    const auto failure = std::make_shared<QString>();
    const auto safely = [work = std::move(work), failure] {
        try {
            work();
        } catch (const std::exception& error) {
            *failure = QString::fromLocal8Bit(error.what());
        }
    };
    background(safely, [this, path, progress, failure, finish = std::move(finish)] {
        const bool cancelled = !progress || progress->wasCanceled();
        if (progress) progress->deleteLater();
        if (cancelled) return;
        if (!failure->isEmpty())
            return told(false, path, QStringLiteral("%1: %2").arg(path, *failure));
        QString error;
        const bool done = finish(&error);
        told(done, path, error);
    });
}

QAction* paperAction() {
    static const QPointer<QAction> action = [] {
        auto* one = new QAction(QStringLiteral("For a paper"), qApp);
        one->setToolTip(QStringLiteral(
            "The panel alone, in one font, light, without what is chosen; the caption becomes a "
            "text file beside the picture"));
        one->setCheckable(true);
        QObject::connect(one, &QAction::toggled, one, [](bool on) { figureStyle().paper = on; });
        return one;
    }();
    return action;
}

QString figureFileName(const QStringList& parts) {
    QStringList names;
    for (const QString& part : parts) {
        QString name;
        for (const QChar c : part.simplified()) {
            const bool plain =
                (c.unicode() < 128 && c.isLetterOrNumber()) || c == u'.' || c == u'_' || c == u'-';
            if (plain)
                name += c;
            else if (!name.endsWith(u'-'))
                name += u'-';
        }
        while (name.startsWith(u'-') || name.startsWith(u'.')) name.remove(0, 1);
        while (name.endsWith(u'-') || name.endsWith(u'.')) name.chop(1);
        if (!name.isEmpty()) names << name.left(100);
    }
    return names.join(u'_');
}

QStringList exportAll(const QWidget& page, const QString& folder, QString* error) {
    QStringList written;
    QSet<QString> names;
    if (!QDir().mkpath(folder)) {
        say(error, QStringLiteral("%1: the folder could not be made").arg(folder));
        return written;
    }
    for (auto* menu : page.findChildren<ViewMenu*>()) {
        if (!menu->view()->isVisible() || menu->view() == &page) continue;
        QString name = menu->fileName();
        for (int k = 2; names.contains(name); ++k)
            name = menu->fileName() + u'_' + QString::number(k);
        names.insert(name);
        for (const QString& ending : menu->endings()) {
            if (ending == QLatin1String("svg")) continue;  // shows the same as the PDF
            const QString path = QDir(folder).filePath(name + u'.' + ending);
            if (!menu->write(path, error)) return written;
            written << path;
        }
        if (const QString text = captionFile(QDir(folder).filePath(name + QStringLiteral(".x")));
            figureStyle().paper && QFileInfo::exists(text))
            written << text;
    }
    if (written.isEmpty()) say(error, QStringLiteral("This page shows nothing to export yet."));
    return written;
}

}  // namespace relascope::widgets
