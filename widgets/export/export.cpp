#include "widgets/export/export.h"

#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QToolButton>

#include "widgets/theme/icons.h"

namespace relascope {
namespace {

constexpr double screenDpi = 96.0;

void say(QString* error, const QString& sentence) {
    if (error) *error = sentence;
}

QImage emptyPicture(const QWidget& widget, const QSize& size, double scale) {
    QImage image((QSizeF(size) * scale).toSize(), QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    image.setDotsPerMeterX(qRound(screenDpi * scale / 0.0254));
    image.setDotsPerMeterY(image.dotsPerMeterX());
    image.fill(widget.palette().color(QPalette::Base));
    return image;
}

QImage picture(QWidget& widget, double scale) {
    QImage image = emptyPicture(widget, widget.size(), scale);
    widget.render(&image);
    return image;
}

using Paint = std::function<void(QPainter&)>;

bool writeSvg(const Paint& paint, const QRect& box, const QString& title, const QColor& ground,
              QSaveFile& file) {
    QSvgGenerator svg;
    svg.setOutputDevice(&file);
    svg.setSize(box.size());
    svg.setViewBox(box);
    svg.setResolution(static_cast<int>(screenDpi));
    svg.setTitle(title);
    QPainter painter(&svg);
    if (!painter.isActive()) return false;
    painter.fillRect(box, ground);
    paint(painter);
    return painter.end();
}

bool writePdf(const Paint& paint, const QRect& box, const QString& title, const QColor& ground,
              QSaveFile& file) {
    constexpr int resolution = 1200;
    QPdfWriter pdf(&file);
    pdf.setCreator(QStringLiteral("Relascope"));
    pdf.setTitle(title);
    pdf.setPageSize(QPageSize(QSizeF(box.size()) * 72.0 / screenDpi, QPageSize::Point, QString(),
                              QPageSize::ExactMatch));
    pdf.setPageMargins(QMarginsF(0, 0, 0, 0));
    pdf.setResolution(resolution);
    QPainter painter(&pdf);
    if (!painter.isActive()) return false;
    painter.scale(resolution / screenDpi, resolution / screenDpi);
    painter.fillRect(box, ground);
    paint(painter);
    return painter.end();
}

bool writePng(const QImage& image, const QString& path, QString* error) {
    QSaveFile file(path);
    if (file.open(QIODevice::WriteOnly) && image.save(&file, "PNG") && file.commit()) return true;
    say(error, QStringLiteral("%1: could not be written (%2)").arg(path, file.errorString()));
    return false;
}

}  // namespace

QString csvField(QString text) {
    if (!text.contains(u',') && !text.contains(u'"') && !text.contains(u'\n')) return text;
    return u'"' + text.replace(QLatin1String("\""), QLatin1String("\"\"")) + u'"';
}

bool exportWidget(QWidget& widget, const QString& path, int dpi, QString* error) {
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
        drawn = picture(widget, qBound(24, dpi, 2400) / screenDpi).save(&file, "PNG");
    if (!drawn || !file.commit()) {
        say(error, QStringLiteral("%1: could not be written (%2)").arg(path, file.errorString()));
        return false;
    }
    return true;
}

bool exportPainting(const Paint& paint, const QSize& size, const QString& title,
                    const QColor& ground, const QString& path, QString* error) {
    QSaveFile file(path);
    const QRect box(QPoint(0, 0), size);
    const bool svg = QFileInfo(path).suffix().toLower() == QLatin1String("svg");
    if (!file.open(QIODevice::WriteOnly) ||
        !(svg ? writeSvg(paint, box, title, ground, file)
              : writePdf(paint, box, title, ground, file)) ||
        !file.commit()) {
        say(error, QStringLiteral("%1: %2").arg(path, file.errorString()));
        return false;
    }
    return true;
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

void copyToClipboard(QWidget& widget) {
    QApplication::clipboard()->setImage(picture(widget, 2.0));
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
        return QFileDialog::getSaveFileName(m_button->window(), title, suggested, filter);
    };
    button->setMenu(m_menu);
    button->setPopupMode(QToolButton::InstantPopup);
    m_menu->setToolTipsVisible(true);
    connect(m_menu->addAction(icon("copy"), QStringLiteral("Copy")), &QAction::triggered, this,
            [this] {
                if (wholeSize)
                    QApplication::clipboard()->setImage(wholePicture(2.0));
                else
                    copyToClipboard(*m_view);
            });
    m_menu->addSeparator();
    const auto entry = [this](const char* words, const char* ending) {
        QAction* action = m_menu->addAction(QString::fromLatin1(words));
        const QString suffix = QString::fromLatin1(ending);
        connect(action, &QAction::triggered, this, [this, suffix] { save(suffix); });
        return action;
    };
    entry("PNG...", "png")->setIcon(icon("export"));
    entry("SVG...", "svg");
    entry("PDF...", "pdf");
    if (m_csv) entry("CSV...", "csv");
    QMenu* sizes = m_menu->addMenu(QStringLiteral("PNG resolution"));
    auto* group = new QActionGroup(this);
    for (const int dpi : {96, 150, 300, 600}) {
        QAction* action = sizes->addAction(QStringLiteral("%1 dpi").arg(dpi));
        action->setCheckable(true);
        action->setChecked(dpi == m_dpi);
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, dpi] { m_dpi = dpi; });
    }
}

QImage ViewMenu::wholePicture(double scale) const {
    QImage image = emptyPicture(*m_view, wholeSize(), scale);
    QPainter painter(&image);
    paintVector(painter);
    return image;
}

void ViewMenu::save(const QString& ending) {
    const QString name = m_name ? m_name() : QStringLiteral("view");
    QString path = askPath(QStringLiteral("Save as %1").arg(ending.toUpper()), name + u'.' + ending,
                           QStringLiteral("%1 (*.%2)").arg(ending.toUpper(), ending));
    if (path.isEmpty()) return;
    if (QFileInfo(path).suffix().isEmpty()) path += u'.' + ending;
    QString error;
    const QSize size = wholeSize ? wholeSize() : m_view->size();
    bool done = false;
    if (ending == QLatin1String("csv"))
        done = exportCsv(m_csv ? m_csv() : QString(), path, &error);
    else if (paintVector && ending != QLatin1String("png"))
        done = exportPainting(paintVector, size, m_view->accessibleName(),
                              m_view->palette().color(QPalette::Base), path, &error);
    else if (wholeSize)
        done = writePng(wholePicture(qBound(24, m_dpi, 2400) / screenDpi), path, &error);
    else
        done = exportWidget(*m_view, path, m_dpi, &error);
    if (done)
        Q_EMIT saved(path);
    else
        Q_EMIT failed(error);
}

}  // namespace relascope
