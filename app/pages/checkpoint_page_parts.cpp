// How the Checkpoint page is put together; what it does is in checkpoint_page.cpp.
#include <QDesktopServices>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedLayout>
#include <QStackedWidget>
#include <QUrl>
#include <QVBoxLayout>

#include "app/app_context.h"
#include "app/pages/checkpoint_page.h"
#include "widgets/checkpoint/config_view.h"
#include "widgets/checkpoint/histogram_view.h"
#include "widgets/checkpoint/outline_view.h"
#include "widgets/checkpoint/problems_list.h"
#include "widgets/checkpoint/tensor_table.h"
#include "widgets/checkpoint/verify_badge.h"
#include "widgets/data/statistics_view.h"
#include "widgets/export/export.h"
#include "widgets/inspector/relation_inspector.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope {
namespace {

void paper(QWidget* widget) {
    widget->setAutoFillBackground(true);
    widget->setBackgroundRole(QPalette::Base);
}

}  // namespace

CheckpointPage::CheckpointPage(CheckpointController& controller, Messages& messages,
                               QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_messages(messages),
      m_empty(new EmptyState(
          QStringLiteral("Open a checkpoint: a folder with config.json, a .safetensors file or a "
                         "PyTorch archive (.pt, .pth, .ckpt). You can also drop it here."),
          QStringLiteral("Open a checkpoint\u2026"), this)),
      m_error(new ErrorStrip(this)),
      m_task(new JobStrip(this)),
      m_numbers(new JobStrip(this)),
      m_looking(new JobStrip(this)),
      m_split(new QSplitter(Qt::Horizontal, this)) {
    setAccessibleName(QStringLiteral("Checkpoint"));
    setAcceptDrops(true);
    auto* all = new QWidget(this);
    paper(all);
    auto* column = new QVBoxLayout(all);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* head = makeHead();
    column->addWidget(m_error);
    column->addWidget(m_task);
    auto* content = new QWidget(all);
    m_stack = new QStackedLayout(content);
    column->addWidget(content, 1);
    paper(m_empty);
    m_stack->addWidget(m_empty);

    auto* shown = new QWidget(content);
    auto* below = new QVBoxLayout(shown);
    below->setContentsMargins(0, 0, 0, 0);
    below->setSpacing(0);
    below->addWidget(head);
    below->addWidget(horizontalLine(shown));
    m_split->setHandleWidth(1);
    m_split->setChildrenCollapsible(false);
    m_split->addWidget(makeLeft());
    m_split->addWidget(makeRight());
    m_split->setStretchFactor(0, 48);
    m_split->setStretchFactor(1, 52);
    m_split->setSizes({560, 612});
    below->addWidget(m_split, 1);
    m_stack->addWidget(shown);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(all);
    for (QWidget* strip : {static_cast<QWidget*>(m_task), static_cast<QWidget*>(m_numbers),
                           static_cast<QWidget*>(m_looking)})
        paper(strip);
    asking();
    wire();
    wireInspector();
    wireGenerate();
    refresh();
}

QWidget* CheckpointPage::makeHead() {
    auto* head = new QWidget(this);
    head->setFixedHeight(64);
    m_title = new QLabel(head);
    m_title->setFont(titleFont());
    m_title->setTextFormat(Qt::PlainText);
    m_files = new ElidedLabel({}, head);
    m_files->setFont(smallFont());
    m_files->setForegroundRole(QPalette::PlaceholderText);
    m_badge = new VerifyBadge(head);
    m_verify = new QPushButton(icon("restart"), QStringLiteral("Verify"), head);
    m_evaluate = new QPushButton(icon("target"), QStringLiteral("Evaluate"), head);
    m_inspect = new QPushButton(icon("eye"), QStringLiteral("Inspect"), head);
    auto* more = iconButton("more", QStringLiteral("Checkpoint: open, convert, copy"), head);
    auto* menu = new ViewMenu(more, this, [this] { return title(); });
    m_menu = menu->menu();
    m_menu->setToolTipsVisible(true);
    m_menu->addSeparator();
    m_menu->addAction(QStringLiteral("Open a file\u2026"), this, &CheckpointPage::openFile);
    m_menu->addAction(QStringLiteral("Open a folder\u2026"), this, &CheckpointPage::openFolder);
    m_menu
        ->addAction(QStringLiteral("Choose tokenizer\u2026"), this,
                    &CheckpointPage::chooseTokenizer)
        ->setToolTip(QStringLiteral("A tokenizer.json, a vocab.json or a folder with one"));
    m_menu->addAction(QStringLiteral("Convert\u2026"), this, &CheckpointPage::convert)
        ->setToolTip(
            QStringLiteral("Save as .safetensors, as .pt or as a folder in the published format"));
    m_menu->addAction(QStringLiteral("Show in the file manager"), this, [this] {
        const QFileInfo file(m_c.path());
        const QString folder = file.isDir() ? file.filePath() : file.path();
        if (!QDesktopServices::openUrl(QUrl::fromLocalFile(folder)))
            m_messages.warning(
                QStringLiteral("No file manager could be opened; the checkpoint is in ") + folder);
    });
    auto* names = new QVBoxLayout;
    names->setSpacing(0);
    names->addStretch(1);
    names->addWidget(m_title);
    names->addWidget(m_files);
    names->addStretch(1);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(16, 0, 12, 0);
    row->setSpacing(8);
    row->addLayout(names, 4);
    row->addSpacing(8);
    row->addWidget(m_badge, 3);
    for (QWidget* w : {static_cast<QWidget*>(m_verify), static_cast<QWidget*>(m_evaluate),
                       static_cast<QWidget*>(m_inspect), static_cast<QWidget*>(more)})
        row->addWidget(w);
    return head;
}

QWidget* CheckpointPage::makeLeft() {
    auto* panel = new QWidget(m_split);
    m_table = new TensorTable(panel);
    m_problems = new ProblemsList(panel);
    m_below = new QSplitter(Qt::Vertical, panel);
    m_below->setHandleWidth(1);
    m_below->setChildrenCollapsible(false);
    m_below->addWidget(m_table);
    m_below->addWidget(makeTabs());
    m_below->setStretchFactor(0, 1);
    m_below->setSizes({430, 230});
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_problems);
    column->addWidget(m_numbers);
    column->addWidget(m_below, 1);
    return makeGenerate(panel);
}

QWidget* CheckpointPage::makeTabs() {
    auto* panel = new QWidget(m_below);
    m_tabsHead = new PanelHead({}, panel);
    m_tabs = new SegmentedControl({QStringLiteral("Configuration"), QStringLiteral("Outline"),
                                   QStringLiteral("Values"), QStringLiteral("Evaluation")},
                                  panel);
    m_tabs->setAccessibleName(QStringLiteral("Panel below the tensors"));
    m_tabsHead->addLeftControl(m_tabs);
    m_views = new QStackedWidget(panel);
    m_config = new ConfigView(panel);
    m_outline = new OutlineView(panel);
    m_histogram = new HistogramView(panel);
    m_evaluation = new StatisticsView(panel);
    m_evaluation->setAccessibleName(QStringLiteral("Evaluation"));
    auto* scroll = new QScrollArea(panel);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(m_evaluation);
    for (QWidget* view : {static_cast<QWidget*>(m_config), static_cast<QWidget*>(m_outline),
                          static_cast<QWidget*>(m_histogram), static_cast<QWidget*>(scroll)})
        m_views->addWidget(view);
    // The histogram has a menu of its own; each of the others shows its own here.
    const auto menu = [this](Tab tab, QWidget* view, const char* name,
                             std::function<QString()> csv) {
        auto* more = iconButton("more", QStringLiteral("More for the %1").arg(QLatin1String(name)),
                                m_tabsHead);
        m_tabsHead->addControl(more);
        new ViewMenu(
            more, view, [name] { return QString::fromLatin1(name); }, std::move(csv));
        const auto show = [this, more, tab] { more->setVisible(m_views->currentIndex() == tab); };
        connect(m_views, &QStackedWidget::currentChanged, more, show);
        show();
    };
    menu(Configuration, m_config->canvas(), "configuration", [this] { return m_config->csv(); });
    menu(Outline, m_outline, "outline", [this] { return m_outline->csv(); });
    menu(EvaluationTab, m_evaluation, "evaluation", [this] { return m_evaluation->csv(); });
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(horizontalLine(panel));
    column->addWidget(m_tabsHead);
    column->addWidget(m_views, 1);
    panel->setMinimumHeight(160);
    return panel;
}

QWidget* CheckpointPage::makeRight() {
    auto* panel = new QWidget(m_split);
    m_inspector = new RelationInspector(panel);
    m_inspector->setCompact(true);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_looking);
    column->addWidget(m_inspector, 1);
    return panel;
}

QPushButton* CheckpointPage::openButton() const {
    return m_empty->button();
}

JobStrip* CheckpointPage::strip(CheckpointController::Strip strip) const {
    using Strip = CheckpointController::Strip;
    return strip == Strip::Task ? m_task : strip == Strip::Numbers ? m_numbers : m_looking;
}

}  // namespace relascope
