// Views as files: pictures at a chosen resolution, vector drawings, tables, and the clipboard.
#pragma once

#include <QObject>
#include <QString>
#include <functional>

class QColor;
class QImage;
class QMenu;
class QPainter;
class QSize;
class QToolButton;
class QWidget;

namespace relascope {

/// Draws the widget into `path`, by its ending .png (at `dpi`, 96 being the size on the screen),
/// .svg or .pdf (both as shapes and text). The file appears whole or not at all. False with a
/// sentence in `error` when it could not be written.
bool exportWidget(QWidget& widget, const QString& path, int dpi, QString* error);
/// The same for what knows how to draw itself as shapes; `paint` gets a painter in pixels of
/// `size`.
bool exportPainting(const std::function<void(QPainter&)>& paint, const QSize& size,
                    const QString& title, const QColor& ground, const QString& path,
                    QString* error);
/// Writes a table, whole or not at all.
bool exportCsv(const QString& text, const QString& path, QString* error);
/// The widget as a picture on the clipboard, at twice the size on the screen.
void copyToClipboard(QWidget& widget);

/// A cell of a CSV table, in quotes where it needs them.
QString csvField(QString text);

/// The "..." menu of a view: Copy, PNG, SVG, PDF and, with a table, CSV. Owned by the button.
class ViewMenu : public QObject {
    Q_OBJECT
public:
    /// `name` suggests the file name ("relation-3"); `csv` gives the table when asked, or is empty.
    ViewMenu(QToolButton* button, QWidget* view, std::function<QString()> name,
             std::function<QString()> csv = {});

    QWidget* view() const { return m_view; }
    /// Draws .svg and .pdf where the widget itself would give pixels (plots); empty: the widget.
    std::function<void(QPainter&)> paintVector;
    /// Where paintVector draws more than the screen has room for: its size. Then every picture of
    /// the view is drawn by it. Empty: the size of the view.
    std::function<QSize()> wholeSize;
    /// For entries of the view's own, above or below the standard ones.
    QMenu* menu() const { return m_menu; }
    /// Asks for a path; replaced in tests. Arguments: title, suggested name, filter.
    std::function<QString(const QString&, const QString&, const QString&)> askPath;
    int dpi() const { return m_dpi; }
    void setDpi(int dpi) { m_dpi = dpi; }
    /// Asks where and saves; `ending` is "png", "svg", "pdf" or "csv".
    void save(const QString& ending);

Q_SIGNALS:
    void saved(const QString& path);
    void failed(const QString& sentence);

private:
    QImage wholePicture(double scale) const;
    QToolButton* m_button;
    QWidget* m_view;
    QMenu* m_menu;
    std::function<QString()> m_name;
    std::function<QString()> m_csv;
    int m_dpi = 300;
};

}  // namespace relascope
