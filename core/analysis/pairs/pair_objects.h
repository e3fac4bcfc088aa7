// SPDX-License-Identifier: GPL-3.0-or-later
// The objects of the examples of a data set that the maps of a model relate, and the attributes of
// their pairs. Does not include torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/pairs/hypothesis.h"
#include "analysis/pairs/pair_attributes.h"
#include "data/dataset.h"
#include "types/image.h"
#include "types/model_options.h"
#include "types/option_groups.h"

namespace relascope::core {

/// Objects of a model's input that are compared in pairs: all of them but the class token; of a
/// text a block of `kTextObjects` tokens, whose place in each window is drawn.
struct PairObjects {
    static constexpr std::int64_t kTextObjects = 48;

    PairShape shape;  ///< not causal, unless it is set
    /// Positions of the objects, the same for all examples; or, where it is empty, consecutive ones
    /// that begin at `starts` of each example.
    std::vector<std::int64_t> positions, starts;
    std::vector<std::int64_t> examples;  ///< indices in the data
    std::int64_t whole = 0;              ///< positions of a map, of which the objects are some
    std::int64_t columns = 0;            ///< columns of the grid of image patches; 0: none
    std::string noun;                    ///< for the examples: "images"
};

/// The objects of at most `examples` examples, drawn by seed 0; with a file of attributes, of the
/// examples that it names. Throws OptionError("examples", ...) for fewer than two, FileError.
PairObjects pairObjects(const ModelOptions& model, const Dataset& data, std::int64_t examples,
                        const std::string& attributes);
/// Keeps the first `examples` examples and drops the others.
void keepExamples(PairObjects& objects, std::size_t examples);

/// What hypotheses about these objects can speak of: the facts and numbers of the data, the grid,
/// tokens and their classes (of a file with the columns token and class; empty: letter, capital,
/// digit, space, punctuation), the labels of the examples.
HypothesisTerms hypothesisTerms(const PairObjects& objects, const Dataset& data,
                                const std::string& classes);

/// Hypotheses of one's own, and the file of the classes of tokens that they may speak of.
struct OwnHypotheses {
    std::vector<std::string> texts;
    std::string classes;
};
/// hypothesisWords() of the objects of these data, whose images are read in patches.
std::vector<std::string> hypothesisWordsOf(const Dataset& data);
/// Adds them as attributes. Throws OptionError for one that cannot be read, or that is the same for
/// all pairs; FileError.
void addHypotheses(PairAttributes& attributes, const PairObjects& objects, const Dataset& data,
                   const OwnHypotheses& hypotheses);

/// The attributes of pairs of these objects that follow from the data, the tokens or the patches,
/// hypotheses, and those of a file (empty: none): CSV with the columns example, i, j and a column
/// of numbers for each attribute, with yes and no as 1 and 0. Places are counted from 0, and pairs
/// that the file does not name are left out. Attributes that never differ are dropped, attributes
/// that are the same on all pairs are joined by "=", and an ordered one is followed by whether it
/// is large
/// ("large distance in A"). Throws FileError for a file of another form.
PairAttributes attributesOf(const PairObjects& objects, const ModelOptions& model,
                            const Dataset& data, const std::string& attributes,
                            const OwnHypotheses& hypotheses = {});

/// The attribute of that name, which may also be one of the names of an attribute ("a = b"), a
/// conjunction of attributes, or a hypothesis; of the last two one that is added. Throws
/// OptionError("attribute", ...).
const PairAttribute& attributeFor(PairAttributes& attributes, const PairObjects& objects,
                                  const Dataset& data, const std::string& name);

/// The attributes that follow from the patches of images: places and mean colours.
PairAttributes attributesOfImages(const PairObjects& objects, const ImageDataset& data,
                                  const ImageInput& input);
/// Adds attributes from a file, drops constant ones, merges equal ones, and splits ordered ones at
/// the median.
void completeAttributes(PairAttributes& attributes, const PairObjects& objects,
                        std::int64_t examples, const std::string& file);

/// Facts about single objects, [examples, objects, names], -1: not known. Of data with facts these,
/// of a text whose tokenizer is known the class of each token; else there are none.
struct FactTable {
    std::vector<std::string> names;
    std::vector<std::int64_t> values;
};
FactTable factsOfObjects(const PairObjects& objects, const Dataset& data);

/// The object that begins the line of each object of a text whose tokenizer is known, [examples,
/// objects]; -1: the line began before them. Empty for other data.
std::vector<int> lineStartsOf(const PairObjects& objects, const Dataset& data);

/// Leaves out examples that show what an earlier one shows. Copies are no further evidence.
void keepDifferent(PairObjects& objects, const Dataset& data);

/// The position of an object along the maps of an example.
std::int64_t positionOf(const PairObjects& objects, std::size_t example, std::size_t object);

/// The objects i and j of an example, for people: "patch (0, 1)", or 40 characters of a text.
std::string pairText(const PairObjects& objects, const Dataset& data, std::size_t example,
                     std::size_t i, std::size_t j);
/// A picture of the example of at most 72 pixels a side, or of its two objects side by side;
/// without pixels where there is none.
Image pairPicture(const PairObjects& objects, const Dataset& data, std::size_t example,
                  std::size_t i, std::size_t j);

}  // namespace relascope::core
