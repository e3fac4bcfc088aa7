// SPDX-License-Identifier: GPL-3.0-or-later
// Views as files: pictures at a chosen resolution, vector drawings, tables, and the clipboard.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <functional>
#include <memory>

class QAction;
class QColor;
class QImage;
class QMenu;
class QPainter;
class QSize;
class QToolButton;
class QWidget;

namespace relascope::widgets {

/// Draws the widget into `path`, by its ending .png (at `dpi`, 96 being the size on the screen),
/// .svg or .pdf (both as shapes and text). The file appears whole or not at all. False with a
/// sentence in `error` when it could not be written.
bool exportWidget(QWidget& widget, const QString& path, int dpi, QString* error);
/// The same for what knows how to draw itself as shapes; `paint` gets a painter in pixels of
/// `size`. `dpi` counts for .png.
bool exportPainting(const std::function<void(QPainter&)>& paint, const QSize& size,
                    const QString& title, const QColor& ground, const QString& path, QString* error,
                    int dpi = 300);
/// Writes a table or source text, whole or not at all.
bool exportCsv(const QString& text, const QString& path, QString* error);
/// The widget as a picture on the clipboard, at twice the size on the screen.
void copyToClipboard(QWidget& widget);

/// A cell of a CSV table, in quotes where it needs them.
QString csvField(QString text);

/// How figures look, for all views alike.
struct FigureStyle {
    bool light = true;  ///< whatever theme the window has; false: as the window
};
FigureStyle& figureStyle();
/// A file name without its ending from parts ("quick-dat-s0", "layer 2"), without what file systems
/// and shells trip over: "quick-dat-s0_layer-2". Empty parts are left out.
QString figureFileName(const QStringList& parts);

/// Property of a page or panel: what its views are of ("gpt2", "occurs-study"). Their files and
/// captions name it.
inline constexpr char kFigureSubject[] = "figureSubject";

/// The "..." menu of a view: Copy, PNG, SVG, PDF and, with a table, CSV. What is written is a
/// figure, not a picture of the window: without controls, in the light theme unless the user chose
/// otherwise, and with a caption. Owned by the button.
class ViewMenu : public QObject {
    Q_OBJECT
public:
    /// `name` suggests the file name ("relation-3"); `csv` gives the table when asked, or is empty.
    ViewMenu(QToolButton* button, QWidget* view, std::function<QString()> name,
             std::function<QString()> csv = {});

    QWidget* view() const { return m_view; }
    /// Draws the view where the widget itself would give pixels (plots) or more than the figure
    /// needs; empty: the widget without its controls, of a table all rows.
    std::function<void(QPainter&)> paintVector;
    /// The size that paintVector draws at. Empty: the size of the view.
    std::function<QSize()> wholeSize;
    /// Makes a widget to be drawn in place of the view; null where there is nothing to draw.
    std::function<std::unique_ptr<QWidget>()> figure;
    /// What is drawn below the figure: run, step, sample. Empty: the subject of the page, unless
    /// the figure has a caption of its own.
    std::function<QString()> caption;
    /// Source for LaTeX, empty where there is nothing to plot; call addPgfplots() to list it.
    void addPgfplots(std::function<QString()> source);
    /// For entries of the view's own, above or below the standard ones.
    QMenu* menu() const { return m_menu; }
    /// Asks for a path; replaced in tests. Arguments: title, suggested name, filter.
    std::function<QString(const QString&, const QString&, const QString&)> askPath;
    int dpi() const { return m_dpi; }
    void setDpi(int dpi) { m_dpi = dpi; }
    /// Asks where and saves; `ending` is one of endings().
    void save(const QString& ending);
    /// Writes by the ending of the path.
    bool write(const QString& path, QString* error);
    /// "png", "svg", "pdf" and, where there are such, "tex" and "csv".
    QStringList endings() const;
    /// Suggested, without an ending.
    QString fileName() const;

Q_SIGNALS:
    void saved(const QString& path);
    void failed(const QString& sentence);

private:
    struct Drawing;
    /// Calls `use` with what is drawn, in the theme of figures.
    template <class Use>
    bool draw(Use use);
    void copy();
    QString subject() const;
    QToolButton* m_button;
    QWidget* m_view;
    QMenu* m_menu;
    std::function<QString()> m_name;
    std::function<QString()> m_csv;
    std::function<QString()> m_pgfplots;
    QAction* m_beforePgfplots = nullptr;
    int m_dpi = 300;
};

/// Writes every view of a page that is seen into a folder, each as .pdf and .png and, where it has
/// them, as .tex and .csv; returns what was written. Stops with a sentence in `error` where
/// something could not be written.
QStringList exportAll(const QWidget& page, const QString& folder, QString* error);

}  // namespace relascope::widgets
