// SPDX-License-Identifier: GPL-3.0-or-later
// The choice of an input for a model without a data set: reference inputs, random ones, typed token
// ids, a picture.
#pragma once

#include <QString>
#include <QWidget>
#include <optional>
#include <vector>

#include "types/question.h"
#include "types/relation_map.h"

class QLineEdit;
class QPushButton;
class QSpinBox;
class QToolButton;

namespace relascope::widgets {

class FieldNote;
class SegmentedControl;

/// The inputs that a model accepts.
struct InputOffer {
    enum class Kind { None, Images, Tokens, Vectors, Text };
    Kind kind = Kind::None;
    int references = 0;           ///< inputs stored beside the model
    qint64 vocabulary = 0;        ///< token ids are below it
    int longest = 0;              ///< tokens at most; 0: any number
    qint64 targetVocabulary = 0;  ///< vocabulary of the target sequence; 0: the model has none
    int targetLongest = 0;
    bool examples = false;  ///< the references are examples that a served model is measured on

    bool operator==(const InputOffer&) const = default;
};

/// Parses ids separated by spaces or commas; returns nullopt with a message in `problem`.
std::optional<std::vector<qint64>> parseTokens(const QString& text, qint64 vocabulary, int longest,
                                               QString* problem);

class InputChooser : public QWidget {
    Q_OBJECT
public:
    explicit InputChooser(QWidget* parent = nullptr);

    void setOffer(const InputOffer& offer);
    const InputOffer& offer() const { return m_offer; }
    // Sets the sample shown without emitting a request.
    void showReference(int index);
    void showRandom(quint64 seed);
    void showTokens(const std::vector<std::int64_t>& source,
                    const std::vector<std::int64_t>& target);
    /// Shows the input that a question names, and the tokens that were read.
    void showInput(const Question& input, const ProbeSample& read);

    QString problem() const;  ///< the sentence under the fields; empty when there is none
    SegmentedControl* kinds() const { return m_kinds; }
    QSpinBox* number() const { return m_number; }
    QLineEdit* sourceField() const { return m_source; }
    QLineEdit* targetField() const { return m_target; }

public Q_SLOTS:
    void next();
    void previous();
    void random();  ///< another random seed

Q_SIGNALS:
    /// A stored, random or typed input, as the options of a question: {{"random", 6}}.
    void chosen(const std::vector<relascope::Option>& input);
    void imageRequested();

private:
    void arrange(bool references);
    void request();
    void enter();
    void setProblem(const QString& sentence);

    InputOffer m_offer;
    SegmentedControl* m_kinds;
    QSpinBox* m_number;
    QLineEdit *m_source, *m_target;
    QPushButton* m_image;
    FieldNote* m_problem;
    int m_reference = 0, m_seed = 0;
};

}  // namespace relascope::widgets
