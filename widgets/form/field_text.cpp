// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/form/field_text.h"

#include <QLocale>
#include <QStringList>
#include <cmath>

namespace relascope::widgets {
namespace {

QString realText(double value) {
    if (value == 0.0) return QStringLiteral("0");
    const double size = std::abs(value);
    const bool scientific = size < 0.01 || size >= 1e6;
    QString text =
        QLocale::c().toString(value, scientific ? 'e' : 'f', QLocale::FloatingPointShortest);
    // Writes 1e-03 as 1e-3.
    const auto e = text.indexOf(u'e');
    if (e > 0) text = text.left(e) + u'e' + QString::number(text.mid(e + 1).toInt());
    return text;
}

FieldError error(FieldError::Reason reason, const QString& sentence) {
    return {reason, sentence};
}

std::variant<double, FieldError> inBounds(double value, const QString& text,
                                          const FieldSpec& spec) {
    if (value < spec.minimum)
        return error(FieldError::Reason::TooSmall,
                     QString("%1 is below the minimum, %2").arg(text, realText(spec.minimum)));
    if (spec.aboveMinimum && value == spec.minimum)
        return error(FieldError::Reason::TooSmall,
                     QString("must be greater than %1").arg(realText(spec.minimum)));
    if (value > spec.maximum)
        return error(FieldError::Reason::TooLarge,
                     QString("%1 is above the maximum, %2").arg(text, realText(spec.maximum)));
    return value;
}

std::variant<std::int64_t, FieldError> whole(const QString& part, const FieldSpec& spec) {
    QString text = part;
    text.remove(u',').remove(u'_');
    if (text.isEmpty())
        return error(FieldError::Reason::Empty, QStringLiteral("must be an integer"));
    bool ok = false;
    qint64 value = QLocale::c().toLongLong(text, &ok);
    if (!ok) {
        const double real = QLocale::c().toDouble(text, &ok);
        if (!ok || !std::isfinite(real))
            return error(FieldError::Reason::NotANumber,
                         QString("“%1” is not an integer").arg(part));
        if (real != std::floor(real) || std::abs(real) > 9.0e15)
            return error(FieldError::Reason::NotWhole, QString("%1 is not an integer").arg(part));
        value = static_cast<qint64>(real);
    }
    const auto checked = inBounds(static_cast<double>(value), part, spec);
    if (const auto* bad = std::get_if<FieldError>(&checked)) return *bad;
    return std::int64_t{value};
}

}  // namespace

QString fieldText(const FieldValue& value, FieldKind) {
    if (const auto* b = std::get_if<bool>(&value))
        return *b ? QStringLiteral("on") : QStringLiteral("off");
    if (const auto* i = std::get_if<std::int64_t>(&value)) return QString::number(*i);
    if (const auto* d = std::get_if<double>(&value)) return realText(*d);
    if (const auto* s = std::get_if<std::string>(&value)) return QString::fromStdString(*s);
    QStringList parts;
    for (const auto i : std::get<std::vector<std::int64_t>>(value)) parts += QString::number(i);
    return parts.join(QStringLiteral(", "));
}

QString automaticText(const FieldState& state) {
    return state.automatic.empty()
               ? QString()
               : QStringLiteral("automatic (%1)").arg(QString::fromStdString(state.automatic));
}

QString shownText(const FieldValue& value, const FieldState& state) {
    const auto* whole = std::get_if<std::int64_t>(&value);
    const auto* real = std::get_if<double>(&value);
    const bool zero = (whole && *whole == 0) || (real && *real == 0.0);
    return zero && !state.automatic.empty() ? QString() : fieldText(value, state.spec.kind);
}

QString presetText(const FieldState& state) {
    const QString text = shownText(state.preset, state);
    return text.isEmpty() && !state.automatic.empty() ? automaticText(state) : text;
}

std::variant<FieldValue, FieldError> parseShown(const QString& text, const FieldState& state) {
    const bool automatic = text.trimmed().isEmpty() && !state.automatic.empty();
    return parseField(automatic ? QStringLiteral("0") : text, state.spec);
}

std::variant<FieldValue, FieldError> parseField(const QString& typed, const FieldSpec& spec) {
    const QString text = typed.trimmed();
    switch (spec.kind) {
        case FieldKind::Boolean: {
            const QString word = text.toLower();
            if (word == "on" || word == "true" || word == "1" || word == "yes")
                return FieldValue(true);
            if (word == "off" || word == "false" || word == "0" || word == "no")
                return FieldValue(false);
            return error(FieldError::Reason::UnknownChoice,
                         QString("“%1” is not on or off").arg(text));
        }
        case FieldKind::Integer: {
            const auto value = whole(text, spec);
            if (const auto* bad = std::get_if<FieldError>(&value)) return *bad;
            return FieldValue(std::get<std::int64_t>(value));
        }
        case FieldKind::Real: {
            if (text.isEmpty())
                return error(FieldError::Reason::Empty,
                             QStringLiteral("must be a number, such as 1e-3"));
            QString plain = text;
            plain.replace(QChar(0x2212), QLatin1Char('-'));
            bool ok = false;
            const double value = QLocale::c().toDouble(plain, &ok);
            if (!ok || !std::isfinite(value))
                return error(FieldError::Reason::NotANumber,
                             QString("“%1” is not a number; write 0.001 or 1e-3").arg(text));
            const auto checked = inBounds(value, text, spec);
            if (const auto* bad = std::get_if<FieldError>(&checked)) return *bad;
            return FieldValue(value);
        }
        case FieldKind::Choice:
            for (const auto& choice : spec.choices)
                if (text == QString::fromStdString(choice)) return FieldValue(choice);
            return error(FieldError::Reason::UnknownChoice,
                         QString("“%1” is not one of the choices").arg(text));
        case FieldKind::Text:
            return FieldValue(text.toStdString());
        case FieldKind::IntegerList: {
            std::vector<std::int64_t> all;
            if (text.isEmpty())
                return error(FieldError::Reason::Empty,
                             QStringLiteral("must be integers separated by commas"));
            QString separated = text;
            separated.replace(u' ', u',');
            for (const QString& part : separated.split(u',', Qt::SkipEmptyParts)) {
                const auto value = whole(part, spec);
                if (const auto* bad = std::get_if<FieldError>(&value)) return *bad;
                all.push_back(std::get<std::int64_t>(value));
            }
            return FieldValue(all);
        }
    }
    return error(FieldError::Reason::Empty, QString());
}

}  // namespace relascope::widgets
