// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/source/input_chooser.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRandomGenerator>
#include <QRegularExpression>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include "widgets/theme/controls.h"
#include "widgets/theme/theme.h"

namespace relascope::widgets {
namespace {

constexpr int largestSeed = 999999;

QString joined(const std::vector<std::int64_t>& tokens) {
    QStringList numbers;
    for (const auto token : tokens) numbers << QString::number(token);
    return numbers.join(u' ');
}

QLineEdit* tokenField(const QString& what, QWidget* parent) {
    auto* field = new QLineEdit(parent);
    field->setFont(monoFont(12));
    field->setPlaceholderText(what + QStringLiteral(" ids, e.g. 4 17 2"));
    field->setAccessibleName(what + QStringLiteral(" ids"));
    field->setToolTip(what +
                      QStringLiteral(" ids separated by spaces; press Enter to inspect them"));
    return field;
}

}  // namespace

std::optional<std::vector<qint64>> parseTokens(const QString& text, qint64 vocabulary, int longest,
                                               QString* problem) {
    static const QRegularExpression between(QStringLiteral("[\\s,]+"));
    std::vector<qint64> tokens;
    for (const QString& word : text.split(between, Qt::SkipEmptyParts)) {
        bool whole = false;
        const qint64 id = word.toLongLong(&whole);
        if (!whole) {
            *problem = QStringLiteral("'%1' is not an integer.").arg(word);
            return std::nullopt;
        }
        if (id < 0 || id >= vocabulary) {
            *problem = QStringLiteral("%1 is not a token id: ids range from 0 to %2.")
                           .arg(word)
                           .arg(vocabulary - 1);
            return std::nullopt;
        }
        tokens.push_back(id);
    }
    if (tokens.empty()) {
        *problem = QStringLiteral("Enter at least one token id.");
        return std::nullopt;
    }
    if (longest > 0 && static_cast<qint64>(tokens.size()) > longest) {
        *problem = QStringLiteral("%1 tokens are too many: the model accepts at most %2.")
                       .arg(tokens.size())
                       .arg(longest);
        return std::nullopt;
    }
    return tokens;
}

InputChooser::InputChooser(QWidget* parent)
    : QWidget(parent),
      m_kinds(new SegmentedControl({QStringLiteral("Reference"), QStringLiteral("Random")}, this)),
      m_number(new QSpinBox(this)),
      m_source(tokenField(QStringLiteral("Token"), this)),
      m_target(tokenField(QStringLiteral("Target token"), this)),
      m_image(new QPushButton(QStringLiteral("Choose an image\u2026"), this)),
      m_problem(new FieldNote(this)) {
    auto* column = columnOf(this, {}, 4);
    m_kinds->setAccessibleName(QStringLiteral("Input"));
    m_number->setFont(numberFont(12));
    m_number->setAlignment(Qt::AlignRight);
    m_number->setKeyboardTracking(false);
    m_number->setFixedWidth(62);
    m_kinds->setMinimumWidth(m_kinds->sizeHint().width());
    auto* chance = framedIconButton("shuffle", QStringLiteral("Random input (R)"), this);
    auto* row = new QHBoxLayout;
    row->setSpacing(4);
    row->addWidget(m_kinds);
    row->addStretch(1);
    row->addWidget(m_number);
    row->addWidget(chance);
    column->addLayout(row);
    column->addWidget(m_source);
    column->addWidget(m_target);
    m_image->setProperty("compact", true);
    m_image->setToolTip(QStringLiteral("A PNG or JPEG file; you can also drop it here"));
    column->addWidget(m_image, 0, Qt::AlignLeft);
    column->addWidget(m_problem);

    connect(m_kinds, &SegmentedControl::changed, this, [this](int kind) {
        arrange(kind == 0);
        request();
    });
    connect(m_number, &QSpinBox::valueChanged, this, &InputChooser::request);
    connect(chance, &QToolButton::clicked, this, &InputChooser::random);
    connect(m_image, &QPushButton::clicked, this, &InputChooser::imageRequested);
    for (QLineEdit* field : {m_source, m_target}) {
        connect(field, &QLineEdit::returnPressed, this, &InputChooser::enter);
        connect(field, &QLineEdit::textEdited, this, [this] { setProblem({}); });
    }
    setProblem({});
    setOffer({});
}

void InputChooser::setOffer(const InputOffer& offer) {
    m_offer = offer;
    const bool tokens = offer.kind == InputOffer::Kind::Tokens;
    const bool pair = tokens && offer.targetVocabulary > 0;
    m_source->setVisible(tokens);
    m_target->setVisible(pair);
    m_source->setPlaceholderText((pair ? QStringLiteral("Source token") : QStringLiteral("Token")) +
                                 QStringLiteral(" ids, e.g. 4 17 2"));
    m_image->setVisible(offer.kind == InputOffer::Kind::Images);
    m_kinds->setItemEnabled(1, offer.kind != InputOffer::Kind::Text,
                            QStringLiteral("Random tokens are not text: enter a text below"));
    m_kinds->setItemEnabled(0, offer.references > 0,
                            QStringLiteral("No reference inputs found next to this model"));
    m_kinds->button(0)->setText(offer.examples ? QStringLiteral("Example")
                                               : QStringLiteral("Reference"));
    m_reference = qBound(0, m_reference, qMax(0, offer.references - 1));
    setProblem({});
    arrange(offer.references > 0);
}

/// The number is that of a reference input, or the seed of a random one.
void InputChooser::arrange(bool references) {
    const QSignalBlocker quiet(m_number);
    m_kinds->setCurrent(references ? 0 : 1);
    // Reference inputs are counted from 1, as sentences do.
    m_number->setRange(references ? 1 : 0, references ? qMax(1, m_offer.references) : largestSeed);
    m_number->setValue(references ? m_reference + 1 : m_seed);
    const QString name = references
                             ? (m_offer.examples ? QStringLiteral("Example, 1 to %1")
                                                 : QStringLiteral("Reference input, 1 to %1"))
                                   .arg(m_number->maximum())
                             : QStringLiteral("Seed of the random input");
    m_number->setAccessibleName(name);
    m_number->setToolTip(name);
}

void InputChooser::request() {
    setProblem({});
    if (m_number->minimum() > 0) {  // a reference
        m_reference = m_number->value() - 1;
        Q_EMIT chosen({{"reference", std::int64_t{m_reference} + 1}});
    } else {
        m_seed = m_number->value();
        Q_EMIT chosen({{"random", std::int64_t{m_seed}}});
    }
}

void InputChooser::next() {
    m_number->setValue(m_number->value() + 1);
}
void InputChooser::previous() {
    m_number->setValue(m_number->value() - 1);
}
void InputChooser::random() {
    // A new seed each time; it stays visible and can be typed again.
    showRandom(QRandomGenerator::global()->bounded(largestSeed + 1));
    request();
}

void InputChooser::showReference(int index) {
    m_reference = qBound(0, index, qMax(0, m_offer.references - 1));
    arrange(m_offer.references > 0);
}
void InputChooser::showRandom(quint64 seed) {
    m_seed = static_cast<int>(qMin<quint64>(seed, largestSeed));
    arrange(false);
}
void InputChooser::showTokens(const std::vector<std::int64_t>& source,
                              const std::vector<std::int64_t>& target) {
    const auto show = [](QLineEdit* field, const QString& text) {
        if (field->text().simplified() == text) return;  // typed just now: the cursor stays
        field->setText(text);
        field->setCursorPosition(0);
    };
    show(m_source, joined(source));
    show(m_target, joined(target));
    setProblem({});
}

void InputChooser::showInput(const Question& input, const ProbeSample& read) {
    if (input.option("reference"))
        showReference(static_cast<int>(input.value<std::int64_t>("reference")) - 1);
    else if (input.option("random"))
        showRandom(static_cast<quint64>(input.value<std::int64_t>("random")));
    else
        m_kinds->setCurrent(-1);  // a picture, or what was typed
    showTokens(read.source.tokens, read.target.tokens);
}

void InputChooser::enter() {
    QString problem;
    const auto source =
        parseTokens(m_source->text(), m_offer.vocabulary, m_offer.longest, &problem);
    std::optional<std::vector<qint64>> target{std::in_place};
    QLineEdit* wrong = source ? nullptr : m_source;
    if (source && m_offer.targetVocabulary > 0) {
        target = parseTokens(m_target->text(), m_offer.targetVocabulary, m_offer.targetLongest,
                             &problem);
        if (!target) wrong = m_target;
    }
    setProblem(problem);
    if (wrong) {
        wrong->setProperty("error", true);
        wrong->setFocus();
        wrong->update();
        return;
    }
    using Ids = std::vector<std::int64_t>;
    std::vector<Option> input = {{"tokens", Ids(source->begin(), source->end())}};
    if (!target->empty()) input.push_back({"target", Ids(target->begin(), target->end())});
    Q_EMIT chosen(input);
}

void InputChooser::setProblem(const QString& sentence) {
    m_problem->setProblem(sentence);
    if (!sentence.isEmpty()) return;
    for (QLineEdit* field : {m_source, m_target}) {
        field->setProperty("error", false);
        field->update();
    }
}

QString InputChooser::problem() const {
    return m_problem->text();
}

}  // namespace relascope::widgets
