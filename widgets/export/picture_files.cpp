// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/export/picture_files.h"

#include <QBuffer>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <utility>
#include <vector>

#include "widgets/export/export.h"

namespace relascope::widgets {
namespace {

PictureOrigin& currentOrigin() {
    static PictureOrigin origin;
    return origin;
}

/// What a picture says of itself, by key.
std::vector<std::pair<QString, QString>> originTexts() {
    std::vector<std::pair<QString, QString>> texts = {
        {QStringLiteral("Software"), QStringLiteral("Relascope")}};
    const auto& [command, view, dpi] = currentOrigin();
    if (!command.isEmpty()) texts.emplace_back(QStringLiteral("Command"), command);
    if (!view.isEmpty()) texts.emplace_back(QStringLiteral("View"), view);
    return texts;
}

/// The origin as XMP (ISO 16684-1), which a PDF holds as it is.
QByteArray originXmp(const QString& title) {
    const auto& [command, view, dpi] = currentOrigin();
    const auto element = [](const char* name, const QString& text) {
        const QString tag = QLatin1String(name);
        return text.isEmpty() ? QString()
                              : QStringLiteral("   <%1>%2</%1>\n").arg(tag, text.toHtmlEscaped());
    };
    const QString titles = title.isEmpty()
                               ? QString()
                               : QStringLiteral(
                                     "   <dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">%1"
                                     "</rdf:li></rdf:Alt></dc:title>\n")
                                     .arg(title.toHtmlEscaped());
    return (QStringLiteral("<?xpacket begin=\"\uFEFF\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n"
                           "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n"
                           " <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n"
                           "  <rdf:Description rdf:about=\"\""
                           " xmlns:dc=\"http://purl.org/dc/elements/1.1/\""
                           " xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\""
                           " xmlns:relascope=\"urn:relascope:view:1\">\n"
                           "   <xmp:CreatorTool>Relascope</xmp:CreatorTool>\n") +
            titles + element("relascope:command", command) + element("relascope:view", view) +
            QStringLiteral("  </rdf:Description>\n </rdf:RDF>\n</x:xmpmeta>\n"
                           "<?xpacket end=\"w\"?>\n"))
        .toUtf8();
}

/// Qt writes the time into a PDF; the same picture is to be the same bytes.
void forgetTime(QByteArray& pdf) {
    static const QByteArray key("/CreationDate (D:"), time("20000101000000");
    if (const auto at = pdf.indexOf(key); at >= 0 && at + key.size() + time.size() < pdf.size())
        pdf.replace(at + key.size(), time.size(), time);
}

}  // namespace

OriginScope::OriginScope(PictureOrigin origin)
    : m_before(std::exchange(currentOrigin(), std::move(origin))) {}
OriginScope::~OriginScope() {
    currentOrigin() = m_before;
}
const PictureOrigin& OriginScope::current() {
    return currentOrigin();
}

QImage emptyPicture(const QSize& size, double scale, const QColor& ground) {
    QImage image((QSizeF(size) * scale).toSize(), QImage::Format_ARGB32_Premultiplied);
    image.setDevicePixelRatio(scale);
    image.setDotsPerMeterX(qRound(screenDpi * scale / 0.0254));
    image.setDotsPerMeterY(image.dotsPerMeterX());
    image.fill(ground);
    return image;
}

bool savePng(QImage image, QIODevice& file) {
    for (const auto& [key, text] : originTexts()) image.setText(key, text);
    return image.save(&file, "PNG");
}

bool writeSvg(const Paint& paint, const QRect& box, const QString& title, const QColor& ground,
              QSaveFile& file) {
    // Qt 6.4 writes titles as they are; what stands for them is replaced by XML.
    const QByteArray titleMark("relascope-title"), textMark("relascope-description");
    QBuffer written;
    written.open(QIODevice::WriteOnly);
    QSvgGenerator svg;
    svg.setOutputDevice(&written);
    svg.setSize(box.size());
    svg.setViewBox(box);
    svg.setResolution(static_cast<int>(screenDpi));
    if (!title.isEmpty()) svg.setTitle(QString::fromLatin1(titleMark));
    QStringList lines;
    for (const auto& [key, text] : originTexts()) lines << key + QStringLiteral(": ") + text;
    if (lines.size() > 1) svg.setDescription(QString::fromLatin1(textMark));
    QPainter painter(&svg);
    if (!painter.isActive()) return false;
    painter.fillRect(box, ground);
    paint(painter);
    if (!painter.end()) return false;
    QByteArray bytes = written.data();
    const auto replace = [&bytes](const QByteArray& mark, const QString& text) {
        if (const auto at = bytes.indexOf(mark); at >= 0)
            bytes.replace(at, mark.size(), text.toHtmlEscaped().toUtf8());
    };
    replace(titleMark, title);
    replace(textMark, lines.join(u'\n'));
    return file.write(bytes) == bytes.size();
}

bool writePdf(const Paint& paint, const QRect& box, const QString& title, const QColor& ground,
              QSaveFile& file) {
    constexpr int resolution = 1200;
    QBuffer written;
    written.open(QIODevice::WriteOnly);
    {
        QPdfWriter pdf(&written);
        pdf.setCreator(QStringLiteral("Relascope"));
        pdf.setTitle(title);
        pdf.setDocumentXmpMetadata(originXmp(title));
        pdf.setPageSize(QPageSize(QSizeF(box.size()) * 72.0 / screenDpi, QPageSize::Point,
                                  QString(), QPageSize::ExactMatch));
        pdf.setPageMargins(QMarginsF(0, 0, 0, 0));
        pdf.setResolution(resolution);
        QPainter painter(&pdf);
        if (!painter.isActive()) return false;
        painter.scale(resolution / screenDpi, resolution / screenDpi);
        painter.fillRect(box, ground);
        paint(painter);
        if (!painter.end()) return false;
    }
    QByteArray bytes = written.data();
    forgetTime(bytes);
    return file.write(bytes) == bytes.size();
}

bool writePng(const Paint& paint, const QRect& box, const QColor& ground, int dpi,
              QSaveFile& file) {
    const double scale = qBound(24, dpi, 2400) / screenDpi;
    QImage image = emptyPicture(box.size(), scale, ground);
    QPainter painter(&image);
    paint(painter);
    painter.end();
    return savePng(image, file);
}

}  // namespace relascope::widgets
