// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/generate/generate_panel.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPaintEvent>
#include <QPainter>
#include <QPushButton>
#include <QRandomGenerator>
#include <QScrollArea>
#include <QShortcut>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <limits>

#include "widgets/export/export.h"
#include "widgets/generate/generated_text.h"
#include "widgets/source/probability_bars.h"
#include "widgets/text/text_field.h"
#include "widgets/theme/controls.h"
#include "widgets/theme/icons.h"
#include "widgets/theme/style_paint.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int padding = 16, kLowestText = 120;  // px

/// The four steps that shade a token.
class LikelihoodLegend : public QWidget {
public:
    explicit LikelihoodLegend(QWidget* parent) : QWidget(parent) {
        setFixedHeight(20);
        setMinimumWidth(186);
        setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        setAccessibleName(QStringLiteral("Shades: probability below 0.3, from 0.3, 0.6 and 0.85"));
        setToolTip(QStringLiteral("The model's own probability of each token, before temperature"));
    }

protected:
    void paintEvent(QPaintEvent*) override {
        const Theme& t = Theme::current();
        QPainter painter(this);
        painter.setFont(captionFont());
        const QFontMetrics metrics = painter.fontMetrics();
        const QString text[] = {QStringLiteral("< 0.3"), QStringLiteral("0.3"),
                                QStringLiteral("0.6"), QStringLiteral("\u2265 0.85")};
        int x = width();
        for (std::size_t k = t.likelihood.size(); k-- > 0;) {
            x -= metrics.horizontalAdvance(text[k]);
            painter.setPen(t.muted);
            painter.drawText(QRect(x, 0, 60, height()), Qt::AlignLeft | Qt::AlignVCenter, text[k]);
            x -= 16;
            paint::frame(painter, QRect(x, 4, 12, 12), t.likelihood[k], t.controlBorder, 2);
            x -= 8;
        }
        const QString title = QStringLiteral("probability");
        painter.setPen(t.muted);
        if (metrics.horizontalAdvance(title) <= x)
            painter.drawText(QRect(0, 0, x, height()), Qt::AlignRight | Qt::AlignVCenter, title);
    }
};

/// "18.2", "16,897": a tenth of many says nothing.
QString rateText(double rate) {
    return rate < 100.0 ? QString::number(rate, 'f', 1)
                        : groupedNumber(static_cast<qint64>(std::llround(rate)));
}

template <class Spin, class Number>
Spin* spin(const QString& name, const QString& tip, Number low, Number high, QWidget* parent) {
    auto* field = new Spin(parent);
    field->setFont(numberFont(12));
    field->setAlignment(Qt::AlignRight);
    field->setRange(low, high);
    field->setAccessibleName(name);
    field->setToolTip(tip);
    field->setMinimumWidth(58);
    return field;
}

QWidget* labelled(const QString& name, QWidget* field, QWidget* parent) {
    auto* box = new QWidget(parent);
    auto* column = columnOf(box, {}, 2);
    auto* label = mutedLabel(name, box);
    label->setFont(captionFont());
    label->setBuddy(field);
    column->addWidget(label);
    column->addWidget(field);
    return box;
}

}  // namespace

GeneratePanel::GeneratePanel(QWidget* parent) : QWidget(parent) {
    setAccessibleName(QStringLiteral("Generate text"));
    auto* column = columnOf(this);
    m_head = new PanelHead(QStringLiteral("Generate"), this);
    column->addWidget(m_head);
    m_edited = new ElidedLabel({}, this);
    m_edited->setFont(smallFont());
    m_edited->setTextFormat(Qt::PlainText);
    m_edited->setFixedHeight(26);
    m_edited->hide();
    auto* edited = new QHBoxLayout;
    edited->setContentsMargins(padding, 0, padding, 0);
    edited->addWidget(m_edited);
    column->addLayout(edited);
    // Where the panel is low, the options scroll with the text: nothing is squeezed.
    auto* inside = new QWidget(this);
    auto* parts = columnOf(inside);
    auto* options = makeOptions();
    options->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    parts->addWidget(options);
    parts->addWidget(horizontalLine(inside));
    parts->addWidget(makeText(), 1);
    column->addWidget(new ScrollingPage(inside, this), 1);

    connect(m_go, &QPushButton::clicked, this, &GeneratePanel::toggle);
    for (const int key : {Qt::Key_Return, Qt::Key_Enter}) {
        auto* shortcut = new QShortcut(QKeySequence(Qt::CTRL | key), this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, &GeneratePanel::toggle);
    }
    connect(m_dice, &QToolButton::clicked, this, [this] {
        // Always a different seed, otherwise the button would seem broken.
        const int before = m_seed->value();
        while (m_seed->value() == before)
            m_seed->setValue(static_cast<int>(QRandomGenerator::global()->bounded(1000000)));
    });
    connect(m_follow, &QCheckBox::toggled, this, &GeneratePanel::followChanged);
    connect(m_bfloat16, &QCheckBox::clicked, this, &GeneratePanel::bfloat16Changed);
    connect(m_prompt, &TextField::edited, this, [this] { m_note->setHint({}); });
    connect(m_texts, &GeneratedPair::tokenChosen, this, [this](TextSide side, int index) {
        showAlternatives();
        if (side == TextSide::Edited) Q_EMIT tokenChosen(index);
    });
    setOptions({});
    refreshButton();
    showAlternatives();
}

QWidget* GeneratePanel::makeOptions() {
    auto* box = new QWidget(this);
    auto* column = columnOf(box, {padding, 10, padding, 12}, 8);
    m_prompt = new TextField(3, box);
    m_prompt->setAccessibleName(QStringLiteral("Prompt"));
    m_prompt->setPlaceholderText(QStringLiteral("Start of the text"));
    column->addWidget(labelled(QStringLiteral("Prompt"), m_prompt, box));

    // The bounds are those of GenerateOptions::problems().
    m_tokens = spin<QSpinBox>(QStringLiteral("Tokens"),
                              QStringLiteral("Number of tokens to generate"), 1, 1000000, box);
    m_temperature = spin<QDoubleSpinBox>(
        QStringLiteral("Temperature"),
        QStringLiteral("Below 1 sharpens the distribution; 0 is greedy decoding"), 0.0, 100.0, box);
    m_temperature->setDecimals(2);
    m_temperature->setSingleStep(0.05);
    m_topK = spin<QSpinBox>(QStringLiteral("Top k"),
                            QStringLiteral("Sample from the k most likely tokens; 0 means all"), 0,
                            std::numeric_limits<int>::max(), box);
    m_topK->setSpecialValueText(QStringLiteral("all"));
    m_topP = spin<QDoubleSpinBox>(
        QStringLiteral("Top p"),
        QStringLiteral(
            "Sample from the smallest set of tokens with this total probability; 1 means all"),
        0.01, 1.0, box);
    m_topP->setDecimals(2);
    m_topP->setSingleStep(0.05);
    m_seed =
        spin<QSpinBox>(QStringLiteral("Seed"), QStringLiteral("The same seed gives the same text"),
                       0, std::numeric_limits<int>::max(), box);
    m_dice = framedIconButton("shuffle", QStringLiteral("New random seed"), box);
    m_stop = new QLineEdit(box);
    m_stop->setFont(smallFont());
    m_stop->setAccessibleName(QStringLiteral("Stop text"));
    m_stop->setToolTip(QStringLiteral("Generation stops after this text; \\n is a line break"));
    m_stop->setPlaceholderText(QStringLiteral("never"));

    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(6);
    const QPair<QString, QWidget*> first[] = {{QStringLiteral("Tokens"), m_tokens},
                                              {QStringLiteral("Temperature"), m_temperature},
                                              {QStringLiteral("Top k"), m_topK},
                                              {QStringLiteral("Top p"), m_topP}};
    for (int k = 0; k < 4; ++k) {
        grid->addWidget(labelled(first[k].first, first[k].second, box), 0, k);
        grid->setColumnStretch(k, 1);
    }
    auto* seed = new QWidget(box);
    auto* seedRow = rowOf(seed, {}, 4);
    seedRow->addWidget(m_seed, 1);
    seedRow->addWidget(m_dice);
    grid->addWidget(labelled(QStringLiteral("Seed"), seed, box), 1, 0, 1, 2);
    grid->addWidget(labelled(QStringLiteral("Stop text"), m_stop, box), 1, 2, 1, 2);
    column->addLayout(grid);

    m_bfloat16 = new QCheckBox(QStringLiteral("bfloat16 weights"), box);
    m_bfloat16->setToolTip(
        QStringLiteral("Rounds the weights to bfloat16: half the memory and faster on most "
                       "machines, with small errors in the probabilities"));
    m_follow = new QCheckBox(QStringLiteral("Inspector follows"), box);
    m_follow->setToolTip(QStringLiteral("The inspector shows the token selected in the text"));
    for (QCheckBox* check : {m_bfloat16, m_follow}) check->setFont(smallFont());
    column->addWidget(m_bfloat16);
    m_go = new QPushButton(box);
    m_go->setProperty("primary", true);
    m_go->setMinimumWidth(104);
    auto* row = new QHBoxLayout;
    row->addWidget(m_go);
    row->addStretch(1);
    row->addWidget(m_follow);
    column->addLayout(row);
    m_note = new FieldNote(box);
    column->addWidget(m_note);
    return box;
}

QWidget* GeneratePanel::makeText() {
    auto* box = new QWidget(this);
    auto* column = columnOf(box, {padding, 8, padding, 12}, 6);
    QFont bold = smallFont();
    bold.setWeight(QFont::DemiBold);
    auto* head = new QHBoxLayout;
    auto* title = new QLabel(QStringLiteral("Text"), box);
    title->setFont(bold);
    head->addWidget(title);
    head->addWidget(new LikelihoodLegend(box), 1);
    column->addLayout(head);
    m_texts = new GeneratedPair(box);
    m_texts->setMinimumHeight(kLowestText);
    column->addWidget(m_texts, 1);
    column->addWidget(horizontalLine(box));
    auto* below = new QHBoxLayout;
    m_title = new ElidedLabel({}, box);
    m_title->setFont(bold);
    m_hint = mutedLabel({}, box);
    m_hint->setFont(captionFont());
    below->addWidget(m_title, 1);
    below->addWidget(m_hint);
    column->addLayout(below);
    // In a low window the alternatives scroll, so that the fields above keep their height.
    m_alternatives = new QScrollArea(box);
    m_alternatives->setFrameShape(QFrame::NoFrame);
    m_alternatives->setWidgetResizable(true);
    m_alternatives->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    m_bars = new ProbabilityBars(m_alternatives);
    m_bars->setAccessibleName(QStringLiteral("Alternatives"));
    m_alternatives->setWidget(m_bars);
    paintOnPanelColour(m_bars);
    column->addWidget(m_alternatives);

    auto* more = iconButton("more", QStringLiteral("Text: copy, save"), m_head);
    auto* menu = m_menu = new ViewMenu(
        more, m_texts, [] { return QStringLiteral("generated-text"); }, [this] { return csv(); });
    connect(menu->menu()->addAction(QStringLiteral("Copy text")), &QAction::triggered, this,
            [this] { QApplication::clipboard()->setText(text()->text()); });
    QAction* plain = menu->menu()->addAction(QStringLiteral("Copy text without the edits"));
    connect(plain, &QAction::triggered, this,
            [this] { QApplication::clipboard()->setText(m_texts->text(TextSide::Plain)->text()); });
    connect(menu->menu(), &QMenu::aboutToShow, plain,
            [this, plain] { plain->setVisible(m_texts->both()); });
    menu->caption = [this] { return figureCaption(); };
    connect(menu, &ViewMenu::saved, this, &GeneratePanel::exported);
    connect(menu, &ViewMenu::failed, this, &GeneratePanel::exportFailed);
    m_head->addControl(more);
    return box;
}

void GeneratePanel::setPrompt(const QString& prompt) {
    m_prompt->showText(prompt);
}
QString GeneratePanel::prompt() const {
    return m_prompt->toPlainText();
}

void GeneratePanel::setOptions(const GenerateOptions& options, bool bfloat16) {
    m_base = options;
    const auto whole = [](std::int64_t value) {
        constexpr std::int64_t most = std::numeric_limits<int>::max();
        return static_cast<int>(std::clamp<std::int64_t>(value, 0, most));
    };
    m_tokens->setValue(whole(options.tokens));
    m_temperature->setValue(options.temperature);
    m_topK->setValue(whole(options.top_k));
    m_topP->setValue(options.top_p);
    m_seed->setValue(whole(options.seed));
    m_stop->setText(QString::fromStdString(options.stop).replace(u'\n', QStringLiteral("\\n")));
    m_bfloat16->setChecked(bfloat16);
}

GenerateOptions GeneratePanel::options() const {
    GenerateOptions options = m_base;
    options.tokens = m_tokens->value();
    options.temperature = m_temperature->value();
    options.top_k = m_topK->value();
    options.top_p = m_topP->value();
    options.seed = m_seed->value();
    options.stop =
        m_stop->text().replace(QStringLiteral("\\n"), QStringLiteral("\n")).toStdString();
    return options;
}

bool GeneratePanel::bfloat16() const {
    return m_bfloat16->isChecked();
}
bool GeneratePanel::follow() const {
    return m_follow->isChecked();
}
void GeneratePanel::setFollow(bool on) {
    const QSignalBlocker quiet(m_follow);
    m_follow->setChecked(on);
}

void GeneratePanel::setAvailable(bool available, const QString& whyNot) {
    m_available = available;
    m_whyNot = available ? QString() : whyNot;
    refreshButton();
}

void GeneratePanel::refreshButton() {
    m_go->setText(m_running ? QStringLiteral("Stop") : QStringLiteral("Generate"));
    const bool on = m_running || m_available;
    m_go->setIcon(
        icon(m_running ? "stop" : "play", on ? Theme::current().onAccent : Theme::current().faint));
    m_go->setEnabled(on);
    m_go->setToolTip(m_running || m_available
                         ? (m_running ? QStringLiteral("Stop generating (Ctrl+Return)")
                                      : QStringLiteral("Continue the prompt (Ctrl+Return)"))
                         : m_whyNot);
    m_go->setAccessibleDescription(m_go->toolTip());
    if (!m_running && !m_available) m_note->setHint(m_whyNot);
    if (m_available && !m_note->isProblem()) m_note->setHint({});
}

void GeneratePanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_go) refreshButton();
}

void GeneratePanel::paintEvent(QPaintEvent* event) {
    QPainter(this).fillRect(event->rect(), Theme::current().panel);
}

void GeneratePanel::toggle() {
    if (m_running) {
        Q_EMIT stopRequested();
        return;
    }
    if (!m_available) return;
    if (prompt().isEmpty()) {
        m_note->setHint(QStringLiteral("Enter a prompt."));
        m_prompt->setFocus();
        return;
    }
    m_note->setHint({});
    Q_EMIT generateRequested(prompt(), options(), bfloat16());
}

void GeneratePanel::setEdits(const QString& words) {
    m_words = words;
    refreshEdits();
}
QString GeneratePanel::edits() const {
    return m_edited->text();
}

void GeneratePanel::refreshEdits() {
    m_edited->setText(m_words.isEmpty() ? QString() : QStringLiteral("Edited: ") + m_words);
    m_edited->setHidden(m_words.isEmpty());
    // The text shown was perhaps generated with other edits than the next one will be.
    m_texts->setEditedTitle(m_textWords == m_words ? QStringLiteral("With the edits")
                                                   : QStringLiteral("With earlier edits"),
                            m_textWords);
}

QString GeneratePanel::figureCaption() const {
    QStringList parts;
    const QWidget* widget = this;
    while (widget && widget->property(kFigureSubject).toString().isEmpty())
        widget = widget->parentWidget();
    if (widget) parts << widget->property(kFigureSubject).toString();
    if (m_texts->both() && !m_textWords.isEmpty())
        parts << QStringLiteral("edited: ") + m_textWords;
    return parts.join(QStringLiteral("; "));
}

GeneratedText* GeneratePanel::text() const {
    return m_texts->text(TextSide::Edited);
}

void GeneratePanel::clear() {
    begin({});
    finish();
    m_textWords.clear();
    refreshEdits();
}

void GeneratePanel::begin(std::vector<std::string> promptPieces, bool both) {
    if (!m_running) m_textWords = m_words;
    m_seconds = 0;
    m_running = true;
    m_note->setHint({});
    m_texts->begin(std::move(promptPieces), both);
    refreshEdits();
    refreshButton();
    refreshStatus(QStringLiteral("reading the prompt"));
    showAlternatives();
}

void GeneratePanel::write(TextSide side, const GeneratedToken& token) {
    if (m_texts->written(side).empty()) {
        m_clock.start();
        m_seconds = 0;
    } else {
        m_seconds = static_cast<double>(m_clock.nsecsElapsed()) / 1e9;
    }
    m_texts->append(side, token);
    refreshStatus({});
    if (m_texts->text(m_texts->current())->chosen() < 0) showAlternatives();
}

void GeneratePanel::finish(const QString& text) {
    m_running = false;
    m_texts->setRunning(false);
    refreshButton();
    refreshStatus(text);
}

void GeneratePanel::fail(const QString& sentence) {
    finish();
    m_note->setProblem(sentence);
}

void GeneratePanel::refreshStatus(const QString& end) {
    QStringList parts;
    const auto written = [this](TextSide side) {
        return static_cast<qlonglong>(m_texts->written(side).size());
    };
    const auto plain = written(TextSide::Plain), edited = written(TextSide::Edited);
    // The one without the edits comes first of two texts: "40 + 12 tokens".
    if (plain > 0)
        parts << QStringLiteral("%1 + %2 tokens").arg(groupedNumber(plain), groupedNumber(edited));
    else if (edited > 0)
        parts << groupedNumber(edited) +
                     (edited == 1 ? QStringLiteral(" token") : QStringLiteral(" tokens"));
    const auto count = edited > 0 ? edited : plain;
    // The first token includes the time for the prompt, so the rate is computed from the others.
    if (count > 1 && m_seconds > 0)
        parts << QStringLiteral("%1 tokens/s")
                     .arg(rateText(static_cast<double>(count - 1) / m_seconds));
    if (!end.isEmpty()) parts << end;
    m_head->setSubText(parts.join(QStringLiteral(", ")));
}

QString GeneratePanel::status() const {
    return m_note->isProblem() ? m_note->text() : m_head->subText();
}

void GeneratePanel::setChosen(int index) {
    m_texts->setChosen(TextSide::Edited, index);
    showAlternatives();
}

void GeneratePanel::showAlternatives() {
    const TextSide side = m_texts->current();
    const GeneratedText& text = *m_texts->text(side);
    const int index = text.chosen() >= 0 ? text.chosen() : text.size() - 1;
    const int written = index - text.promptSize();
    const auto& pieces = text.tokens();
    const QString before = QStringLiteral("before temperature, top k and top p");
    m_hint->setText(!m_texts->both()          ? before
                    : side == TextSide::Plain ? QStringLiteral("without the edits")
                                              : QStringLiteral("with the edits"));
    m_hint->setToolTip(m_texts->both() ? QStringLiteral("Probabilities ") + before : QString());
    m_hint->setVisible(written >= 0);
    m_alternatives->setVisible(written >= 0);
    if (index < 0) {
        m_title->setText(QStringLiteral("Click a token to see the alternatives."));
        return;
    }
    if (written < 0) {
        m_title->setText(
            pieceName(index, pieces[static_cast<std::size_t>(index)]).replace(0, 1, u'T') +
            QStringLiteral(", in the prompt"));
        return;
    }
    m_title->setText(index == 0
                         ? QStringLiteral("Token 0")
                         : QStringLiteral("Token %1, after \u201C%2\u201D")
                               .arg(index)
                               .arg(pieceLabel(pieces[static_cast<std::size_t>(index - 1)])));
    const GeneratedToken& token = m_texts->written(side)[static_cast<std::size_t>(written)];
    std::vector<TokenChoice> choices = token.alternatives;
    if (m_texts->both() && choices.size() > 5) choices.resize(5);  // the texts need the room
    const bool among = std::any_of(choices.begin(), choices.end(), [&](const TokenChoice& choice) {
        return choice.id == token.chosen.id;
    });
    if (!among) choices.push_back(token.chosen);  // unlikely, and yet it came
    m_bars->setChoices(choices, token.chosen.id);
}

QString GeneratePanel::alternativesTitle() const {
    return m_title->text();
}

QString GeneratePanel::csv() const {
    return m_texts->csv();
}

}  // namespace relascope::widgets
