// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/checkpoint_head.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QUrl>
#include <QVBoxLayout>

#include "app/controllers/checkpoint_controller.h"
#include "widgets/checkpoint/verify_badge.h"
#include "widgets/export/export.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

/// "config.json, model.safetensors · 1.28 GiB"; many shards are counted.
QString filesText(const CheckpointInfo& info) {
    QStringList names;
    if (info.configFrom.find(".json") != std::string::npos)
        names << QString::fromStdString(info.configFrom);
    if (info.files.size() > 2)
        names << QStringLiteral("%1 files").arg(info.files.size());
    else
        for (const auto& file : info.files)
            if (const QString name = QFileInfo(QString::fromStdString(file)).fileName();
                !names.contains(name))
                names << name;
    return QStringLiteral("%1 \u00B7 %2 \u00B7 %3 parameters")
        .arg(names.join(QStringLiteral(", ")), widgets::byteSize(info.bytes),
             widgets::groupedNumber(info.parameters));
}

}  // namespace

CheckpointHead::CheckpointHead(CheckpointController& controller, QWidget* figure, QWidget* parent)
    : QWidget(parent),
      m_c(controller),
      m_title(new QLabel(this)),
      m_files(new widgets::ElidedLabel({}, this)),
      m_badge(new widgets::VerifyBadge(this)),
      m_verify(new QPushButton(widgets::icon("restart"), QStringLiteral("Verify"), this)),
      m_evaluate(new QPushButton(widgets::icon("target"), QStringLiteral("Evaluate"), this)),
      m_inspect(new QPushButton(widgets::icon("eye"), QStringLiteral("Inspect"), this)) {
    setFixedHeight(64);
    m_title->setFont(widgets::titleFont());
    m_title->setTextFormat(Qt::PlainText);
    m_files->setFont(widgets::smallFont());
    m_files->setForegroundRole(QPalette::PlaceholderText);
    auto* more =
        widgets::iconButton("more", QStringLiteral("Checkpoint: open, convert, copy"), this);
    m_menu = (new widgets::ViewMenu(more, figure, [this] { return title(); }))->menu();
    fillMenu();
    auto* names = new QVBoxLayout;
    names->setSpacing(0);
    names->addStretch(1);
    names->addWidget(m_title);
    names->addWidget(m_files);
    names->addStretch(1);
    auto* row = widgets::rowOf(this, {16, 0, 12, 0}, 8);
    row->addLayout(names, 4);
    row->addSpacing(8);
    row->addWidget(m_badge, 3);
    for (QWidget* w : std::initializer_list<QWidget*>{m_verify, m_evaluate, m_inspect, more})
        row->addWidget(w);
    connect(m_verify, &QPushButton::clicked, this, [this] {
        m_badge->setRunning();
        m_c.verify();
    });
    connect(m_evaluate, &QPushButton::clicked, this, &CheckpointHead::evaluationRequested);
    connect(m_inspect, &QPushButton::clicked, &m_c, &CheckpointController::load);
    connect(&m_c, &CheckpointController::verified, this, [this](const VerifyReport& report) {
        m_badge->setReport(report);
        m_verify->setText(QStringLiteral("Verify again"));
    });
}

void CheckpointHead::fillMenu() {
    m_menu->setToolTipsVisible(true);
    m_menu->addSeparator();
    m_menu->addAction(QStringLiteral("Open a file\u2026"), this, &CheckpointHead::fileRequested);
    m_menu->addAction(QStringLiteral("Open a folder\u2026"), this,
                      &CheckpointHead::folderRequested);
    m_tokenizer = m_menu->addAction(QStringLiteral("Choose tokenizer\u2026"), this,
                                    &CheckpointHead::tokenizerRequested);
    m_tokenizer->setToolTip(QStringLiteral("A tokenizer.json, a vocab.json or a folder with one"));
    m_convert =
        m_menu->addAction(QStringLiteral("Convert\u2026"), this, &CheckpointHead::convertRequested);
    m_convert->setToolTip(
        QStringLiteral("Save as .safetensors, as .pt or as a folder in the published format"));
    m_show = m_menu->addAction(QStringLiteral("Show in the file manager"), this,
                               &CheckpointHead::showFolder);
}

void CheckpointHead::showFolder() {
    const QFileInfo file(m_c.path());
    const QString folder = file.isDir() ? file.filePath() : file.path();
    if (!QDesktopServices::openUrl(QUrl::fromLocalFile(folder)))
        Q_EMIT noFileManager(
            QStringLiteral("No file manager could be opened; the checkpoint is in ") + folder);
}

void CheckpointHead::opened() {
    const CheckpointInfo& info = *m_c.info();
    m_title->setText(QString::fromStdString(info.name));
    m_title->setToolTip(widgets::plainTip(QString::fromStdString(info.path)));
    m_files->setText(filesText(info));
    m_badge->setUnknown(info.hasReference);
    m_verify->setText(QStringLiteral("Verify"));
}

void CheckpointHead::refresh() {
    const auto set = [](QPushButton* button, const QString& disabledReason, const QString& help) {
        button->setEnabled(disabledReason.isEmpty());
        button->setToolTip(disabledReason.isEmpty() ? help : disabledReason);
    };
    const auto& info = m_c.info();
    const QString load = m_c.loadDisabledReason();
    set(m_verify, m_c.verifyDisabledReason(),
        QStringLiteral("Recompute every stored output and compare"));
    set(m_evaluate, m_c.evaluateDisabledReason(),
        QStringLiteral("Compute loss and accuracy on a data set"));
    set(m_inspect,
        m_c.loaded() ? QStringLiteral("The weights are loaded; the inspector is on the right")
                     : load,
        QStringLiteral("Load the weights and inspect them"));
    m_inspect->setProperty("primary", info && load.isEmpty() && !m_c.loaded());
    m_inspect->update();
    m_verify->setVisible(info && info->hasReference);
    m_evaluate->setVisible(
        info && (!info->model || m_c.isLanguage() || info->model->input() == InputKind::Images));
    m_tokenizer->setEnabled(m_c.isLanguage() && m_c.loaded());
    m_convert->setEnabled(info && !m_c.task().busy());
    m_show->setEnabled(info.has_value());
}

void CheckpointHead::verifyEnded() {
    if (m_badge->title() == QLatin1String("Verifying")) m_badge->setUnknown(true);
}

QString CheckpointHead::title() const {
    return m_title->text();
}
QString CheckpointHead::files() const {
    return m_files->text();
}

}  // namespace relascope::app
