// SPDX-License-Identifier: GPL-3.0-or-later
// Public families of checkpoints: which keys of config.json are which options, and which tensors of
// a file are which tensors of the model. A family is a table (*_families_config.cpp); nothing else
// knows its name. Does not include torch.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/shapes.h"
#include "types/checkpoint_info.h"
#include "types/field.h"
#include "types/model_options.h"

namespace relascope::core {

/// Models that have a value of an option; empty: all.
struct FamilyCondition {
    std::string option;
    FieldValue value;
    std::string spelled;  ///< for messages: "ra_type ra"

    bool holds(const ModelOptions& m) const { return option.empty() || m.value(option) == value; }
};

/// A key of config.json that is an option of the model.
struct FamilyKey {
    std::vector<std::string> names;  ///< the first of these that the file has
    std::string option;              ///< a field of the descriptor
    FieldValue absent;               ///< as the family's class has it
    FieldValue null = absent;        ///< the value that a null stands for

    /// What the texts of the file are here; others are refused. Empty: the value as it is.
    std::vector<std::pair<std::string, std::string>> texts = {};
    std::int64_t least = 1;  ///< least value of a whole number
    std::string times = {};  ///< an option that a whole number is multiplied with
    /// In place of `absent` and `null`: the value that follows from options of earlier keys.
    FieldValue (*derived)(const ModelOptions&) = nullptr;
    /// The option of the value that the file or the class gives; null: that value.
    FieldValue (*made)(const FieldValue&) = nullptr;
    bool nullable = true;  ///< otherwise a null is refused
    FamilyCondition when = {};
    /// What a model without `when` does with the key: whatever it says changes nothing, or
    /// anything but null and false is refused.
    enum class Otherwise { Ignored, Refused };
    Otherwise otherwise = Otherwise::Ignored;
};

/// A key that is taken with these values only; any other is refused.
struct FamilyLimit {
    std::string name;
    std::vector<nlohmann::ordered_json> values;  ///< empty: any
    std::string wanted = {};                     ///< in place of the list of values, for messages
};

/// What the functions of a table read of a configuration. All throw OptionError naming key and
/// value.
class FamilyConfig {
public:
    virtual ~FamilyConfig() = default;
    /// Null also where the key is there as null.
    virtual const nlohmann::ordered_json* find(const std::string& key) = 0;
    virtual std::int64_t count(const std::string& key, std::int64_t absent) = 0;
    virtual bool flag(const std::string& key, bool absent) = 0;
    /// A number that may be 0.
    virtual double real(const std::string& key, double absent) = 0;
    virtual std::string text(const std::string& key, const std::string& absent) = 0;
    /// The object of a key of the whole configuration, in whose place `KEY_dict` counts where it is
    /// an object; an empty one without either.
    virtual std::unique_ptr<FamilyConfig> part(const std::string& key) = 0;
    /// The shape of a tensor of the file by name; empty if there is none.
    virtual std::vector<std::int64_t> shape(const std::string& name) = 0;
    [[noreturn]] virtual void refuse(const std::string& key, const std::string& wanted) = 0;
};

/// How tensors of the model are kept in one of a file.
enum class StoredForm {
    Plain,       ///< as it is
    Transposed,  ///< a matrix [in, out]
    Thirds,      ///< a matrix [in, 3 out], or a bias [3 out]: three parts, one after another
    Rows,        ///< rows [sum of out, in], or a bias: the parts, one after another
    /// As Rows, but one key head after another: its queries, its key, its value.
    ByHead,
    Patches,    ///< a convolution [out, channels, rows, columns] as a matrix
    PatchRows,  ///< a matrix [out, rows * columns * channels] of patches in that order
    Unbatched,  ///< a parameter [1, ..., d] without the dimensions of 1 that it begins with
};

/// Tensors of a file by name, "I" for the block, "K" for that of a text tower:
/// "h.I.attn.c_proj". Names of modules stand for
/// their weight and bias. "E" stands for each expert, "J" for each row of the part, which the file
/// has as tensors of their own.
struct FamilyTensor {
    std::string stored;
    std::vector<std::string> parts;  ///< in the model, one, or those of a fused tensor
    StoredForm form = StoredForm::Plain;
    bool outside = false;  ///< beside the base model: without its prefix
    /// The tensor's name in the memory of `transformers` 5, and so in files that training scripts
    /// save; empty where it is the same.
    std::string also = {};
    std::optional<double> absent = {};  ///< all its values where a file lacks it
    FamilyCondition when = {};
    /// Whether the file has this one of a tensor's several names in the model.
    bool kept = false;
    std::string sizedBy = {};  ///< the key that says how many rows there are, for messages
    /// ".bias": the tensor of this kind is a further name of a part that another row has. A file
    /// may lack it; where it is there, it counts.
    std::string further = {};
    bool gammas = false;  ///< first files have gamma and beta in place of weight and bias
};

struct Family {
    std::string type;                  ///< model_type of config.json
    std::string title;                 ///< on screens
    std::vector<std::string> keysOf;   ///< keys by which it is known without model_type
    std::string architecture;          ///< the descriptor
    std::vector<std::string> classes;  ///< values of `architectures` that are this model
    std::string teacher;               ///< the class with two classifiers; empty: there is none
    /// The names in `classes` of models without a classifier: their answer are features.
    std::vector<std::string> bare = {};
    /// Keys that published models have and the defaults of the class are not, for lists of what
    /// works on a family.
    nlohmann::ordered_json usual = nlohmann::ordered_json::object();
    /// Whether a configuration that names none of them is taken for such a one.
    bool bareFirst() const { return !bare.empty() && bare.front() == classes.front(); }
    std::int64_t patch = 16;  ///< patch_size where the file lacks it
    std::string prefix;       ///< prefix of the base model's tensors, which may be absent
    std::vector<std::pair<std::string, FieldValue>> fixed;  ///< options that are always so
    std::vector<FamilyKey> keys;
    std::vector<FamilyLimit> limits;
    std::string rotaryShare;  ///< key of the rotated share of a head; empty: all of it, or none
    double rotaryShareAbsent = 1.0;
    bool rotary = false;
    std::vector<FamilyTensor> tensors;
    std::vector<std::string> ignored;  ///< tensors of old files that are not used
    /// Reads its configuration, in place of `fixed`, `keys` and `limits`. Null: by these.
    ModelOptions (*read)(const nlohmann::ordered_json& config) = nullptr;
    /// A name in auto_map or `architectures` that has to be there, for a model_type that others use
    /// as well; one of `classes` does as well. Empty: none.
    std::string configClass = {};
    std::vector<std::string> neutral = {};  ///< keys that change nothing, beside the usual ones
    /// Several names of one tensor, if the file has them all, must hold the same values.
    bool sharedMustEqual = false;
    std::vector<std::string> otherPrefixes = {};  ///< prefixes in files in place of `prefix`
    /// The key of the object that holds the configuration of what is opened of a larger model.
    std::string inner = {};
    std::string innerText = {};  ///< what of the rest is not used: "of its image tower"
    /// The kinds of layers (BlockDetails::layer_kinds) where the file has no list of them. Null:
    /// all layers have the window, where there is one.
    std::string (*kinds)(const ModelOptions&, FamilyConfig&) = nullptr;
    std::string windowSwitch = {};  ///< the key without which no layer has a window
    /// The original context of a model with rope_type longrope; 0: there is none in this family.
    std::int64_t longRope = 0;
    /// Tensors that are refused, by a part of their name, and what to do about them.
    std::vector<std::pair<std::string, std::string>> refused = {};
    /// Reads how pictures become images from the configuration itself (options/image_processor.h).
    /// Null: a file beside it says so.
    struct ImageProcessor (*processor)(const std::string& config) = nullptr;
    /// Sets what follows from several keys, after all others.
    void (*settle)(ModelOptions&, FamilyConfig&) = nullptr;
};

/// The families of all tables, text first.
const std::vector<Family>& families();
const std::vector<Family>& decoderFamilies();
const std::vector<Family>& nanochatFamilies();
const std::vector<Family>& relationalFamilies();  ///< part of decoderFamilies()
const std::vector<Family>& gatedFamilies();       ///< part of decoderFamilies(): variants of Llama
const std::vector<Family>& plainFamilies();       ///< part of decoderFamilies(): without gates
const std::vector<Family>& expertFamilies();      ///< part of decoderFamilies(): with experts
const std::vector<Family>& encoderFamilies();
const std::vector<Family>& imageFamilies();
Family timmFamily();  ///< part of imageFamilies(): timm's own files
/// The family of that model_type; null if there is none.
const Family* findFamily(const std::string& type);
/// The family of a model; null for the models of the papers.
const Family* familyOf(const ModelOptions& options);
/// The title of a model for messages: "GPT-2"; for models of no family the architecture's name.
std::string modelTitle(const ModelOptions& options);

/// The model of a config.json whose model_type is that of a family. `unused` gets the keys that
/// this program does not use; `shape` returns the shape of a tensor of the file by name, empty if
/// there is none (classes without names are counted there). Throws OptionError naming key and
/// value.
using ShapeInFile = std::function<std::vector<std::int64_t>(const std::string&)>;
ModelOptions modelOfFamily(const Family& family, const nlohmann::ordered_json& config,
                           const ShapeInFile& shape = {},
                           std::vector<std::string>* unused = nullptr);

/// A tensor of a file, and the parts of the model that it holds.
struct FileTensor {
    std::string name;  ///< without the prefix
    std::string also;  ///< another name of it; empty without one
    bool outside = false;
    std::vector<std::int64_t> shape;
    std::vector<std::string> parts;
    StoredForm form = StoredForm::Plain;
    std::int64_t heads = 1;                         ///< for ByHead: key heads
    std::array<std::int64_t, 3> patch = {1, 1, 1};  ///< for PatchRows: rows, columns, channels
    std::vector<std::int64_t> rows;                 ///< number of rows of each part
    std::int64_t index = -1;                        ///< it is this row of its part; -1: all of it
    bool optional = false;                          ///< a second name of a tied tensor
    bool further = false;                           ///< FamilyTensor::further
    std::optional<double> absent = {};              ///< all its values where the file lacks it
    std::string sizedBy;                            ///< FamilyTensor::sizedBy
};
/// The tensors in files of a model of a family, in the order of the table.
std::vector<FileTensor> fileTensors(const ModelOptions& options);

/// Finds the tensors of one file by their table: the file's own names, with or without the prefix.
class FamilyFile {
public:
    FamilyFile(const ModelOptions& options, const std::vector<StoredTensor>& stored);

    const std::vector<FileTensor>& tensors() const { return m_tensors; }
    /// The name in the file, whether it is there or not.
    const std::string& nameOf(const FileTensor& tensor) const;
    const StoredTensor* find(const FileTensor& tensor) const;
    /// Whether a tensor is one of old files that is not used.
    bool ignores(const StoredTensor& stored) const;
    /// The problems of the file's tensors, as compareTensors() gives them.
    std::vector<CheckpointProblem> problems() const;
    /// The common prefix in the file of the tensors with `prefix` in the model: "h.0.attn".
    std::string prefixOf(const std::string& prefix) const;

private:
    const Family& m_family;
    const std::vector<StoredTensor>& m_stored;
    std::vector<FileTensor> m_tensors;
    std::vector<std::string> m_names;
};

}  // namespace relascope::core
