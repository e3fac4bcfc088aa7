// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/away_strip.h"

#include <QEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>

#include "app/controllers/hosts_controller.h"
#include "widgets/theme/theme.h"

namespace relascope::app {
namespace {

/// Dims the widget that it lies on, which can be used as before.
class Veil : public QWidget {
public:
    explicit Veil(QWidget* below) : QWidget(below) {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        below->installEventFilter(this);
        hide();
    }

protected:
    bool eventFilter(QObject*, QEvent* event) override {
        if (event->type() == QEvent::Resize) setGeometry(parentWidget()->rect());
        return false;
    }
    void paintEvent(QPaintEvent*) override {
        QColor colour = widgets::Theme::current().panel;
        colour.setAlpha(128);
        QPainter(this).fillRect(rect(), colour);
    }
};

}  // namespace

AwayStrip::AwayStrip(HostsController& hosts, QWidget* shown, QWidget* parent)
    : widgets::Box(&widgets::Theme::warningFill, true, parent),
      m_hosts(hosts),
      m_text(new widgets::ElidedLabel({}, this)),
      m_veil(new Veil(shown)) {
    m_veil->setObjectName(QStringLiteral("away"));
    auto* line = widgets::rowOf(this, {12, 4, 8, 4}, 8);
    m_text->setFont(widgets::smallFont());
    line->addWidget(m_text, 1);
    auto* now = new QPushButton(QStringLiteral("Now"), this);
    now->setToolTip(QStringLiteral("Try to connect at once"));
    now->setFont(widgets::smallFont());
    line->addWidget(now);
    connect(now, &QPushButton::clicked, this, [this] { m_hosts.refresh(m_host); });
    hide();
}

bool AwayStrip::follow(const QString& host) {
    m_host = host;
    const auto status = m_hosts.status(host);
    const bool away =
        !host.isEmpty() && (!status || status->state != wire::HostLink::State::Connected);
    setVisible(away);
    m_text->setText(!status ? QString("%1 is not among the machines any more").arg(host)
                    : status->state == wire::HostLink::State::Connecting
                        ? QString("%1: connecting").arg(host)
                        : m_hosts.statusText(host));
    m_veil->raise();
    m_veil->setVisible(away);
    return away;
}

}  // namespace relascope::app
