// SPDX-License-Identifier: GPL-3.0-or-later
// Views as files: pictures at a chosen resolution, vector drawings, tables, and the clipboard.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <functional>
#include <memory>
#include <optional>

#include "types/view.h"

class QAction;
class QColor;
class QImage;
class QMenu;
class QPainter;
class QSize;
class QToolButton;
class QWidget;

namespace relascope::widgets {

/// What pictures say of themselves: in the text of a PNG, the description of an SVG and the
/// metadata of a PDF.
struct PictureOrigin {
    QString command;  ///< the line that draws it; empty: there is none
    QString view;     ///< name of the view file that it was drawn from; may be empty
    int dpi = 300;    ///< resolution of a PNG for which no other is given
};

/// During its lifetime pictures are written with this origin.
class OriginScope {
public:
    explicit OriginScope(PictureOrigin origin);
    ~OriginScope();
    OriginScope(const OriginScope&) = delete;
    OriginScope& operator=(const OriginScope&) = delete;
    static const PictureOrigin& current();

private:
    PictureOrigin m_before;
};

/// Writes the widget to `path`, by its suffix as .png (at `dpi`; 96 is the size on the screen, 0
/// stands for that of the OriginScope),
/// .svg or .pdf (both as shapes and text). The file is written atomically. For a paper, the
/// accessible name and description of the widget become the caption file. Returns false with a
/// message in `error` on failure.
bool exportWidget(QWidget& widget, const QString& path, int dpi, QString* error);
/// Writes what `paint` draws, which gets a painter in pixels of `size`, as exportWidget() does.
/// `dpi` applies to .png; 0: that of the OriginScope.
bool exportPainting(const std::function<void(QPainter&)>& paint, const QSize& size,
                    const QString& title, const QColor& ground, const QString& path, QString* error,
                    int dpi = 0);
/// For a paper (FigureScope::paper()), writes the caption of a picture beside it; else it does
/// nothing. `text` may be empty.
bool exportCaption(const QString& picture, const QString& title, const QString& text,
                   QString* error);
/// "a/relation.txt" for "a/relation.pdf".
QString captionFile(const QString& picture);
/// Writes a table or source text atomically.
bool exportCsv(const QString& text, const QString& path, QString* error);

/// A cell of a CSV table, in quotes where it needs them.
QString csvField(const QString& text);

/// The entry "For a paper" of all menus that write pictures: figureStyle().paper. One for the
/// program, which needs a QApplication.
QAction* paperAction();
/// A file name without its ending from parts ("quick-dat-s0", "layer 2"), without characters that
/// are special in file systems and shells: "quick-dat-s0_layer-2". Empty parts are left out.
QString figureFileName(const QStringList& parts);

/// Property of a page or panel: the subject of its views ("gpt2", "occurs-study"), used in file
/// names and captions.
inline constexpr char kFigureSubject[] = "figureSubject";

/// The "..." menu of a view: Copy, PNG, SVG, PDF and, with a table, CSV. Views are written as
/// figures: without controls, in the light theme unless the user chose otherwise, and with a
/// caption below, or for a paper beside them (FigureStyle). Owned by the button.
class ViewMenu : public QObject {
    Q_OBJECT
public:
    /// `name` returns the suggested file name ("relation-3"); `csv` returns the table, or is empty.
    ViewMenu(QToolButton* button, QWidget* view, std::function<QString()> name,
             std::function<QString()> csv = {});

    QWidget* view() const { return m_view; }
    /// Draws the view if rendering the widget would give pixels (plots) or unwanted parts. Empty:
    /// the widget is rendered without its controls, a table with all rows.
    std::function<void(QPainter&)> paintVector;
    /// The size that paintVector draws at. Empty: the size of the view.
    std::function<QSize()> wholeSize;
    /// Creates a widget to be drawn instead of the view; null if there is nothing to draw. Its
    /// accessible name and description are its caption for a paper.
    std::function<std::unique_ptr<QWidget>()> figure;
    /// Returns the slow part of writing a file, which is run off the window's thread with progress:
    /// before a figure is drawn, or to make the text of a table in place of `csv`. Used if
    /// `background` is set; an empty function means that nothing is slow.
    std::function<std::function<void()>()> prepareFigure;
    std::function<std::function<QString()>()> prepareCsv;
    /// Runs `work` on another thread, then `done` on this one.
    std::function<void(std::function<void()> work, std::function<void()> done)> background;
    /// Caption below the figure: run, step, sample. Empty: the subject of the page, unless the
    /// figure contains a caption.
    std::function<QString()> caption;
    /// Source for LaTeX, empty if there is nothing to plot; call addPgfplots() to list it, as the
    /// entry `text`.
    void addPgfplots(std::function<QString()> source,
                     const QString& text = QStringLiteral("pgfplots (LaTeX)..."));
    /// The view as a command, with what it shows; nullopt where it cannot be said as one at the
    /// moment. Set: the menu has entries that copy it, and, where View says so, that save it as a
    /// file.
    std::function<std::optional<View>()> describe;
    /// As `describe`, with what the menu says of pictures.
    std::optional<View> described() const;
    /// The view file that was opened or saved last, as long as the view is the same.
    void setViewFile(const QString& path);
    /// Its name, for pictures; empty where what is shown is another view by now.
    QString viewFile() const;
    /// Asks for a path and emits viewSaving().
    void saveView(bool withData);
    /// The menu, to which entries can be added above or below the standard ones.
    QMenu* menu() const { return m_menu; }
    /// Adds the entries to the menu of a view that has its own.
    void addTo(QMenu* menu);
    /// Asks for a path; replaced in tests. Arguments: title, suggested name, filter.
    std::function<QString(const QString&, const QString&, const QString&)> askPath;
    int dpi() const { return m_dpi; }
    void setDpi(int dpi) { m_dpi = dpi; }
    /// Asks for a path and saves; `ending` is one of endings().
    void save(const QString& ending);
    /// Writes the format given by the suffix of the path.
    bool write(const QString& path, QString* error);
    /// "png", "svg", "pdf" and, if available, "tex" and "csv".
    QStringList endings() const;
    /// The suggested file name without suffix.
    QString fileName() const;

Q_SIGNALS:
    void saved(const QString& path);
    void failed(const QString& sentence);
    /// The view is to be written to `path`, perhaps with what it shows beside it; setViewFile()
    /// follows once it is.
    void viewSaving(const relascope::View& view, const QString& path, bool withData);

private:
    struct Drawing;
    void addViewEntries();
    /// Calls `use` with the content to draw, in the theme of figures.
    template <class Use>
    bool draw(Use use);
    void saveLater(const QString& path, std::function<void()> work,
                   std::function<bool(QString* error)> finish);
    void told(bool written, const QString& path, const QString& error);
    void copy();
    QString subject() const;
    QToolButton* m_button;
    QWidget* m_view;
    QMenu* m_menu;
    std::function<QString()> m_name;
    std::function<QString()> m_csv;
    std::function<QString()> m_pgfplots;
    QAction* m_beforePgfplots = nullptr;
    int m_dpi = OriginScope::current().dpi;
    QString m_viewFile, m_viewLine;  ///< name and command of the view saved or opened
};

/// Writes every visible view of a page to a folder, each as .pdf and .png and, if available, .tex
/// and .csv; for a paper with its caption file. Returns the files written. On failure it stops with
/// a message in `error`.
QStringList exportAll(const QWidget& page, const QString& folder, QString* error);

}  // namespace relascope::widgets
