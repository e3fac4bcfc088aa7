// SPDX-License-Identifier: GPL-3.0-or-later
// Field tables: every option struct describes its own fields once, and the form in the window,
// --set on the command line, run.json and the comparison of runs are generated from this
// description.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace relascope {

enum class FieldKind { Boolean, Integer, Real, Choice, Text, IntegerList, TextList };

/// Boolean -> bool, Integer -> int64, Real -> double, Choice and Text -> string, TextList -> a list
/// of strings, of `choices` where there are any.
using FieldValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                std::vector<std::string>>;

/// The properties of a field that a form shows.
struct FieldSpec {
    std::string name;   ///< name in --set, after the group: "d_model"
    std::string label;  ///< short label in the form: "Width d"
    std::string help;   ///< one sentence
    FieldKind kind = FieldKind::Text;
    double minimum = -std::numeric_limits<double>::infinity();
    double maximum = std::numeric_limits<double>::infinity();
    std::vector<std::string> choices = {};       ///< for a Choice or a TextList, in the order shown
    std::vector<std::string> choiceTitles = {};  ///< their titles in the form; empty: `choices`
    bool live = false;            ///< may change during training; otherwise it needs a restart
    bool advanced = false;        ///< shown behind "more" in the form
    bool aboveMinimum = false;    ///< the minimum itself is refused
    std::string formerName = {};  ///< its name in files of earlier versions
    std::vector<std::string> choiceHelp = {};  ///< a sentence for each choice; may be empty
    bool openChoices = false;  ///< for a TextList: others than the choices are possible
    bool path = false;         ///< a Text that may name a file or folder
};

/// One field of `Options`: its description and how to read and write it. `applies` tells whether
/// the field has an effect with the current other values (the form hides it otherwise).
template <class Options>
struct Field {
    FieldSpec spec;
    std::function<FieldValue(const Options&)> get;
    std::function<void(Options&, const FieldValue&)> set;
    std::function<bool(const Options&)> applies = [](const Options&) { return true; };
    /// Whether these options have the field at all; a field that is not present is not stored.
    std::function<bool(const Options&)> present = [](const Options&) { return true; };
    /// The choices that are valid with the other values, where not all of them are. May be empty.
    std::function<std::vector<std::string>(const Options&)> choicesFor = {};
    /// The meaning of 0 with the other values, where 0 is "automatic": "2" or "once per epoch". May
    /// be empty.
    std::function<std::string(const Options&)> automatic = {};
};

template <class Options>
using FieldTable = std::vector<Field<Options>>;

/// An invalid value: `field` is the name within its struct, `message` one sentence that names the
/// violated bound.
struct FieldProblem {
    std::string field;
    std::string message;
    bool operator==(const FieldProblem&) const = default;
};

/// A field of one particular struct, as a form or a table shows it.
struct FieldState {
    std::string key;  ///< group and name: "model.d_model"
    FieldSpec spec;
    FieldValue value;
    FieldValue preset;  ///< the value in the preset; a changed field is shown in bold
    bool applies = true;
    std::string automatic = {};  ///< meaning of 0; empty where 0 is an ordinary value
};

namespace fields {

template <class Options, class Member>
Field<Options> make(FieldSpec spec, Member Options::*member) {
    using Value = std::conditional_t<
        std::is_same_v<Member, bool>, bool,
        std::conditional_t<std::is_integral_v<Member>, std::int64_t,
                           std::conditional_t<std::is_floating_point_v<Member>, double, Member>>>;
    return {std::move(spec),
            [member](const Options& o) { return FieldValue(static_cast<Value>(o.*member)); },
            [member](Options& o, const FieldValue& v) {
                o.*member = static_cast<Member>(std::get<Value>(v));
            }};
}

template <class Options>
Field<Options> boolean(bool Options::*member, std::string name, std::string label,
                       std::string help) {
    return make(FieldSpec{std::move(name), std::move(label), std::move(help), FieldKind::Boolean},
                member);
}
template <class Options>
Field<Options> integer(std::int64_t Options::*member, std::string name, std::string label,
                       std::string help, double minimum, double maximum) {
    return make(FieldSpec{std::move(name), std::move(label), std::move(help), FieldKind::Integer,
                          minimum, maximum},
                member);
}
template <class Options>
Field<Options> real(double Options::*member, std::string name, std::string label, std::string help,
                    double minimum, double maximum) {
    return make(FieldSpec{std::move(name), std::move(label), std::move(help), FieldKind::Real,
                          minimum, maximum},
                member);
}
template <class Options>
Field<Options> choice(std::string Options::*member, std::string name, std::string label,
                      std::string help, std::vector<std::string> choices) {
    FieldSpec spec{std::move(name), std::move(label), std::move(help), FieldKind::Choice};
    spec.choices = std::move(choices);
    return make(std::move(spec), member);
}
template <class Options>
Field<Options> text(std::string Options::*member, std::string name, std::string label,
                    std::string help) {
    return make(FieldSpec{std::move(name), std::move(label), std::move(help), FieldKind::Text},
                member);
}
template <class Options>
Field<Options> integers(std::vector<std::int64_t> Options::*member, std::string name,
                        std::string label, std::string help, double minimum, double maximum) {
    return make(FieldSpec{std::move(name), std::move(label), std::move(help),
                          FieldKind::IntegerList, minimum, maximum},
                member);
}
template <class Options>
Field<Options> texts(std::vector<std::string> Options::*member, std::string name, std::string label,
                     std::string help, std::vector<std::string> choices = {}) {
    FieldSpec spec{std::move(name), std::move(label), std::move(help), FieldKind::TextList};
    spec.choices = std::move(choices);
    return make(std::move(spec), member);
}
template <class Options>
Field<Options> live(Field<Options> field) {
    field.spec.live = true;
    return field;
}
template <class Options>
Field<Options> advanced(Field<Options> field) {
    field.spec.advanced = true;
    return field;
}
template <class Options>
Field<Options> path(Field<Options> field) {
    field.spec.path = true;
    return field;
}
/// `field` with 0 as an automatic value, which `effective` computes or describes.
template <class Options, class Effective>
Field<Options> automatic(Field<Options> field, Effective effective) {
    field.automatic = [effective](const Options& o) {
        using Value = std::invoke_result_t<Effective, const Options&>;
        if constexpr (std::is_convertible_v<Value, std::string>)
            return std::string(effective(o));
        else
            return std::to_string(effective(o));
    };
    return field;
}
template <class Options>
Field<Options> positive(Field<Options> field) {
    field.spec.minimum = 0.0;
    field.spec.aboveMinimum = true;
    return field;
}
template <class Options>
Field<Options> when(std::function<bool(const Options&)> applies, Field<Options> field) {
    field.applies = std::move(applies);
    return field;
}

}  // namespace fields
}  // namespace relascope
