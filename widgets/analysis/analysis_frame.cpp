// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <QAction>
#include <QDir>
#include <QFileInfo>
#include <QListWidget>
#include <QLocale>
#include <QMenu>
#include <QPainter>
#include <QStackedLayout>
#include <QStringList>
#include <QToolButton>
#include <QVBoxLayout>

#include "answers/answer_text.h"
#include "types/metric.h"
#include "widgets/analysis/analysis_frame.h"
#include "widgets/analysis/declared_view.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {

MetricText::MetricText(std::string_view metric) {
    const auto& info = metricInfo(metric);
    percent = info.isFraction();
    title = QString::fromUtf8(info.title.data(), static_cast<qsizetype>(info.title.size()));
    if (percent) unit = QStringLiteral("points");
}
QString MetricText::value(double value) const {
    if (std::isnan(value)) return QString(QChar(0x2014));
    return percent ? QString::number(100.0 * value, 'f', 1) + QStringLiteral(" %")
                   : QString::number(value, 'f', 3);
}
QString MetricText::change(double value) const {
    return percent ? signedText(100.0 * value, 1) : signedText(value, 3);
}
QString MetricText::interval(double low, double high) const {
    return QStringLiteral("[%1, %2]").arg(change(low), change(high));
}

QString signedText(double value, int digits) {
    return shownText(core::shownSigned(value, digits));
}
QString probabilityText(double probability) {
    return shownText(core::shownProbability(probability));
}
QString answerText(const std::string& name) {
    return shownText(core::shownPiece(name));
}

MapKind kindOfMap(const std::string& name, bool head) {
    if (!head) return MapKind::Relation;
    return name.find("relational") != std::string::npos ? MapKind::RelationalAttention
                                                        : MapKind::SensoryAttention;
}

void layOutSentences(QListWidget& list) {
    list.setFrameShape(QFrame::NoFrame);
    list.setWordWrap(true);
    list.setTextElideMode(Qt::ElideNone);  // the style elides lines that have room
    list.setSpacing(4);
    list.setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list.setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
}

QString wayText(EditOp way) {
    static constexpr std::array<const char*, kEditOps> names = {
        "zero",  "a value",     "scaled",  "a sum",  "mean", "another example",
        "patch", "clean value", "uniform", "masked", "swap", "projected"};
    return QString::fromLatin1(names.at(static_cast<std::size_t>(way)));
}

QString shortPart(QString part) {
    return part.replace(QStringLiteral("relational head"), QStringLiteral("rel. head"))
        .replace(QStringLiteral("sensory head"), QStringLiteral("sens. head"));
}

namespace {

std::map<std::string, RegisterView::Make>& ownViews() {
    static std::map<std::string, RegisterView::Make> all;
    return all;
}

}  // namespace

RegisterView::RegisterView(const char* analysis, Make make) {
    ownViews()[analysis] = make;
}

AnalysisFrame* makeAnalysisView(const core::Analysis& analysis, QWidget* parent) {
    const auto own = ownViews().find(analysis.name);
    AnalysisFrame* view =
        own == ownViews().end() ? new DeclaredView(analysis, parent) : own->second(parent);
    view->setAnalysis(analysis);
    return view;
}

bool renderAnalysis(const core::Analysis& analysis, const Answer& result, const QString& caption,
                    const QString& path, QString* error) {
    const std::unique_ptr<AnalysisFrame> view(makeAnalysisView(analysis));
    view->showResult(result);
    view->setCaption(caption);
    view->resize(1180, 760);
    view->ensurePolished();
    return view->menu()->write(path, error);
}

AnalysisFrame::AnalysisFrame(const QString& title, const QString& name, QWidget* parent)
    : QWidget(parent),
      m_head(new PanelHead(title, this)),
      m_stack(new QStackedLayout),
      m_empty(new EmptyState({}, {}, this)),
      m_results(new QWidget(this)),
      m_content(columnOf(m_results)) {
    setAccessibleName(title);
    auto* more = iconButton("more", QStringLiteral("%1: copy, save").arg(title), this);
    m_head->addControl(more);
    m_menu = new ViewMenu(
        more, this, [name] { return name; }, [this] { return csv(); });
    m_menu->paintVector = [this](QPainter& painter) { paintFigure(painter); };
    m_menu->wholeSize = [this] { return figureSize(); };
    m_menu->caption = [this] { return m_caption; };
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_results);
    auto* column = columnOf(this);
    column->addWidget(m_head);
    column->addLayout(m_stack, 1);
    more->setEnabled(false);
}

void AnalysisFrame::clear(const QString& sentence) {
    m_sentence = sentence;
    m_empty->setSentence(sentence);
    m_empty->setAccessibleName(sentence);
    m_head->setSubText({});
    m_stack->setCurrentWidget(m_empty);
    static_cast<QToolButton*>(m_menu->parent())->setEnabled(false);
}

void AnalysisFrame::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), Theme::current().panel);
}

void AnalysisFrame::setAnalysis(const core::Analysis& analysis) {
    m_csv = analysis.csv;
    if (analysis.latex)
        m_menu->addPgfplots(
            [this, latex = analysis.latex] {
                return isEmpty() ? QString() : QString::fromStdString(latex(shown()));
            },
            QStringLiteral("LaTeX table..."));
    m_report = analysis.report;
    if (m_report)
        connect(m_menu->menu()->addAction(QStringLiteral("Report (HTML and Markdown)...")),
                &QAction::triggered, this, &AnalysisFrame::saveReport);
}

void AnalysisFrame::saveReport() {
    if (isEmpty()) return;
    const QString path = m_menu->askPath(QStringLiteral("Save the report"),
                                         m_menu->fileName() + QStringLiteral(".html"),
                                         QStringLiteral("HTML (*.html)"));
    if (path.isEmpty()) return;
    const QFileInfo place(path);
    QString error;
    const QString viewFile = m_menu->viewFile(), meta = QStringLiteral("<meta name=\"command\"");
    for (const auto& file : m_report(shown(), place.completeBaseName().toStdString(),
                                     m_caption.toStdString(), m_command))
        if (!exportCsv(
                viewFile.isEmpty()
                    ? QString::fromStdString(file.content)
                    : QString::fromStdString(file.content)
                          .replace(meta, QStringLiteral("<meta name=\"view\" content=\"%1\">")
                                                 .arg(viewFile.toHtmlEscaped()) +
                                             meta),
                place.dir().filePath(QString::fromStdString(file.name)), &error)) {
            Q_EMIT m_menu->failed(error);
            return;
        }
    Q_EMIT m_menu->saved(place.dir().filePath(place.completeBaseName() + QStringLiteral(".html")));
}

QString AnalysisFrame::csv() const {
    return isEmpty() || !m_csv ? QString() : QString::fromStdString(m_csv(shown()));
}
void AnalysisFrame::addControl(QWidget* control) {
    m_head->addLeftControl(control);
}
bool AnalysisFrame::isEmpty() const {
    return m_stack->currentWidget() == m_empty;
}
QString AnalysisFrame::headText() const {
    return m_head->subText();
}

void AnalysisFrame::leaveEmpty() {
    m_sentence.clear();
    m_stack->setCurrentWidget(m_results);
    static_cast<QToolButton*>(m_menu->parent())->setEnabled(true);
}

}  // namespace relascope::widgets
