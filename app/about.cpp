// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/about.h"

#include <QClipboard>
#include <QDialog>
#include <QDialogButtonBox>
#include <QGuiApplication>
#include <QLabel>
#include <QVBoxLayout>

#include "app/cli/build_facts.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/theme.h"

namespace relascope::app {

void copyText(const QString& text) {
    QGuiApplication::clipboard()->setText(text);
}

void showAbout(QWidget* parent) {
    struct Part {
        const char *name, *licence;
    };
    static constexpr Part parts[] = {
        {"Qt 6", "LGPL-3.0"},         {"QCustomPlot", "GPL-3.0-or-later"},
        {"LibTorch", "BSD-3-Clause"}, {"OpenCV", "Apache-2.0"},
        {"nlohmann JSON", "MIT"},     {"CLI11", "BSD-3-Clause"},
        {"libzip", "BSD-3-Clause"},   {"zlib", "Zlib"},
        {"libpng", "libpng-2.0"},     {"libjpeg-turbo", "BSD-3-Clause and IJG"},
        {"Inter", "OFL-1.1"},         {"JetBrains Mono", "OFL-1.1"},
    };
    QString rows;
    for (const auto& part : parts)
        rows += QString("<tr><td style='padding-right:24px'>%1</td><td>%2</td></tr>")
                    .arg(QLatin1String(part.name), QLatin1String(part.licence));

    const auto facts = cli::buildFacts(qVersion());
    auto* dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(QStringLiteral("About Relascope"));
    auto* column = widgets::columnOf(dialog, {24, 24, 24, 16}, 12);
    auto* picture = new QLabel(dialog);
    picture->setPixmap(widgets::applicationIcon().pixmap(64, 64));
    column->addWidget(picture);
    auto* title = new QLabel(QString::fromStdString("Relascope " + facts.version), dialog);
    title->setFont(widgets::titleFont());
    column->addWidget(title);
    auto* build = widgets::mutedLabel(
        QString::fromStdString("Commit " + commitText(facts) + "\nLibTorch " + facts.libtorch +
                               ", Qt " + facts.qt + ", " + facts.compiler + ", " + facts.build),
        dialog);
    build->setFont(widgets::smallFont());
    build->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(build);
    auto* text = new QLabel(
        QStringLiteral(
            "Trains relational Transformers and inspects them during training.<br>Free software "
            "under the GNU General Public License, version 3 or later. Built with:"),
        dialog);
    text->setWordWrap(true);
    column->addWidget(text);
    auto* table = new QLabel("<table cellspacing='2'>" + rows + "</table>", dialog);
    table->setFont(widgets::smallFont());
    table->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(table);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    column->addWidget(buttons);
    dialog->setMinimumWidth(440);
    dialog->open();
}

}  // namespace relascope::app
