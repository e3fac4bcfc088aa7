// The model's output as a few bars: class, bar, probability.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

namespace relascope {

class ProbabilityBars : public QWidget {
    Q_OBJECT
public:
    static constexpr int rowHeight = 18;

    explicit ProbabilityBars(QWidget* parent = nullptr);

    /// With more than `most` classes the likeliest are shown, and always the true one.
    void setProbabilities(const QStringList& names, const std::vector<float>& probabilities,
                          int label, int most = 3);
    /// The classes shown, in order.
    const std::vector<int>& shown() const { return m_shown; }

    QSize sizeHint() const override { return {240, rowHeight * static_cast<int>(m_shown.size())}; }
    QSize minimumSizeHint() const override { return {120, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QStringList m_names;
    std::vector<float> m_probabilities;
    std::vector<int> m_shown;
    int m_best = -1;
};

}  // namespace relascope
