// SPDX-License-Identifier: GPL-3.0-or-later
// The facts of a data set about the objects of its examples, for questions about pairs of objects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace relascope {

/// Numbers by name for every object of an example: the shape and the colour of a figure, the rank
/// of a card. Objects stand in the order in which a model reads them.
struct ObjectFacts {
    struct Fact {
        std::string name;                      ///< "shape"
        bool ordered = false;                  ///< its numbers have an order
        std::vector<std::string> values = {};  ///< names of 0, 1, ...; empty: they have none
        std::int32_t least = 0;                ///< the source's number that is 0 here
        bool operator==(const Fact&) const = default;
    };
    std::vector<Fact> facts;
    std::int64_t objects = 0;  ///< places of an example, which may be empty
    /// The places form a grid, row by row, with so many columns; 0: they have no arrangement.
    std::int64_t columns = 0;
    bool operator==(const ObjectFacts&) const = default;
};

/// Stands for all facts of an empty place.
inline constexpr std::int32_t kEmptyPlace = -1;

/// The objects that a picture shows, by a mask of its pixels.
struct ObjectMask {
    static constexpr std::uint16_t kBackground = 0, kNotCounted = 0xffff;

    struct Object {
        std::uint16_t number = 0;
        std::vector<std::int32_t> facts;  ///< one number for each of MaskFacts::facts
        std::int32_t group = -1;          ///< objects of one group belong together; -1: none
        bool operator==(const Object&) const = default;
    };
    int width = 0, height = 0;
    /// The number of an object for each pixel, row by row, or kBackground or kNotCounted.
    std::vector<std::uint16_t> numbers;
    std::vector<Object> objects;
    bool operator==(const ObjectMask&) const = default;
};

/// What is known of the objects in masks.
struct MaskFacts {
    std::vector<ObjectFacts::Fact> facts;
    bool groups = false;  ///< objects belong to groups
    bool operator==(const MaskFacts&) const = default;
};

}  // namespace relascope
