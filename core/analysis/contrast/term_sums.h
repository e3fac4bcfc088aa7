// SPDX-License-Identifier: GPL-3.0-or-later
// Places, objects and facts of the pairs that are compared, for the sources of contrast terms
// alone.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/contrast/terms.h"

namespace relascope::core {

/// The place of each cell, and the pairs of each place.
struct Places {
    torch::Tensor of;  // [n * n] int64
    std::int64_t count = 0;
    torch::Tensor yes, no;  // [e, places]
};
Places placesOf(const ContrastPairs& pairs);

/// The weights of yes and no at each place, for each way of counting examples: c of the difference.
struct PlaceWeights {
    torch::Tensor yes, no;  // [ways, places]
};
PlaceWeights weightsOf(const Places& places, const torch::Tensor& counts);

/// The pairs and the objects that take part in them, each by example, and where the vectors of both
/// objects of a pair are.
struct PairRows {
    torch::Tensor example, i, j, place, yes;           // [pairs]
    torch::Tensor ofI, ofJ;                            // [pairs]: rows of u and v
    torch::Tensor object;                              // [objects]: the object of its example
    std::vector<std::int64_t> firstPair, firstObject;  // [e + 1], of each example
};
PairRows rowsOf(const ContrastPairs& pairs, const Places& places);

/// Hands parts [objects, parts, k] on in double, a few objects at once.
template <class Work>
void inDouble(const torch::Tensor& parts, Work work) {
    constexpr std::int64_t kRows = 512;
    for (std::int64_t first = 0; first < parts.size(0); first += kRows) {
        const auto last = std::min(parts.size(0), first + kRows);
        work(first, last, parts.slice(0, first, last).to(torch::kDouble));
    }
}

/// Means over objects, [n or 1, parts, k].
torch::Tensor meanOf(const torch::Tensor& parts, const torch::Tensor& place,
                     const torch::Tensor& count);
/// The sum of all parts of each object, [objects, k] double.
torch::Tensor sumOf(const torch::Tensor& parts);

/// The facts of the objects that take part as columns, one for each value of each fact.
struct FactColumns {
    torch::Tensor known;             // [objects]: all facts are
    torch::Tensor of;                // [objects, facts]: the column of each fact's value
    std::vector<std::int64_t> ends;  // end of each fact's columns

    std::int64_t count() const { return std::max<std::int64_t>(ends.back(), 1); }
};
FactColumns factColumns(const ContrastPairs& pairs);

/// What least squares need of vectors on columns.
struct ColumnSums {
    torch::Tensor squares;  // [columns, columns]: how often two columns meet
    torch::Tensor moments;  // [columns, k]: sums of vectors
    torch::Tensor places;   // [columns, places]: how many objects

    ColumnSums(const FactColumns& columns, std::int64_t k, std::int64_t count)
        : squares(torch::zeros({columns.count() * columns.count()}, torch::kDouble)),
          moments(torch::zeros({columns.count(), k}, torch::kDouble)),
          places(torch::zeros({columns.count() * count}, torch::kDouble)) {}

    ColumnSums clone() const {
        auto copy = *this;
        for (auto* sum : {&copy.squares, &copy.moments, &copy.places}) *sum = sum->clone();
        return copy;
    }
    /// Adds vectors x [some, k] at these rows of the columns, as often as `times` [some] says.
    void add(const FactColumns& columns, const torch::Tensor& rows, const torch::Tensor& x,
             const torch::Tensor& place, const torch::Tensor& times) {
        const auto own = times * columns.known.index_select(0, rows).to(torch::kDouble);
        const auto of = columns.of.index_select(0, rows);
        const auto weighted = x * own.unsqueeze(1);
        const auto count = moments.size(0), whereabouts = places.size(0) / count;
        for (std::int64_t f = 0; f < of.size(1); ++f) {
            const auto column = of.select(1, f);
            moments.index_add_(0, column, weighted);
            places.index_add_(0, column * whereabouts + place, own);
            for (std::int64_t g = 0; g < of.size(1); ++g)
                squares.index_add_(0, column * count + of.select(1, g), own);
        }
    }
    /// What each column does, less the mean of its fact: [columns, k]; of several solutions the
    /// shortest. `shift` [places, k] is taken off the vectors; or undefined.
    torch::Tensor effects(const FactColumns& columns, const torch::Tensor& shift) const {
        const auto count = moments.size(0);
        const auto met = squares.view({count, count});
        const auto sums =
            shift.defined() ? moments - torch::matmul(places.view({count, -1}), shift) : moments;
        auto effects = torch::matmul(at::linalg_pinv(met, 1e-10, true), sums);
        for (std::size_t f = 0; f < columns.ends.size(); ++f) {
            const auto first = f > 0 ? columns.ends[f - 1] : 0, last = columns.ends[f];
            const auto times = met.diagonal().slice(0, first, last);
            auto some = effects.slice(0, first, last);
            some -= torch::matmul(times / times.sum().clamp_min(1.0), some);
        }
        return effects;
    }
};

/// One side of all pairs.
struct CentredSide {
    const torch::Tensor& parts;  // [objects, parts, k]
    torch::Tensor mean;          // [n or 1, parts, k]
    torch::Tensor place;         // [objects]
    torch::Tensor whole;         // [objects, k]: the sum of all parts, centred

    torch::Tensor slice(std::int64_t first, std::int64_t last) const {
        const auto own = parts.slice(0, first, last);
        return own - mean.index_select(0, place.slice(0, first, last)).to(own.scalar_type());
    }
};
CentredSide sideOf(const torch::Tensor& parts, const torch::Tensor& mean,
                   const torch::Tensor& place);

/// Rows of the objects that take part, where examples first to last have them, else 0: [examples,
/// n, ...].
torch::Tensor denseOf(const torch::Tensor& rows, const torch::Tensor& with, std::int64_t first,
                      std::int64_t last);
/// The place that the mean of an object is of.
torch::Tensor objectPlaces(const ContrastPairs& pairs, const torch::Tensor& object);

}  // namespace relascope::core
