// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/public/family.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/architecture.h"
#include "model/public/public_options.h"

namespace relascope::core {
namespace {

constexpr std::string_view kBlockNumber = ".I.", kTextNumber = ".K.", kExpertNumber = ".E.",
                           kRowNumber = ".J";

// The name with a number in place of a letter.
std::string numbered(const std::string& name, std::int64_t number,
                     std::string_view letter = kBlockNumber) {
    const auto at = name.find(letter);
    if (at == std::string::npos) return name;
    return name.substr(0, at + 1) + std::to_string(number) + name.substr(at + 2);
}

bool has(const std::string& name, std::string_view letter) {
    return name.find(letter) != std::string::npos;
}

std::string shapeOf(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const auto n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
    return "[" + text + "]";
}

// The shape in the file of tensors of the model that have these shapes.
std::vector<std::int64_t> shapeInFile(StoredForm form,
                                      const std::vector<std::vector<std::int64_t>>& parts,
                                      const ModelOptions& options) {
    auto shape = parts.front();
    if (shape.empty()) return shape;
    for (std::size_t i = 1; i < parts.size(); ++i) shape.front() += parts[i].front();
    if (form == StoredForm::Unbatched) {
        const auto first = std::find_if(shape.begin(), shape.end() - 1,
                                        [](std::int64_t size) { return size != 1; });
        return {first, shape.end()};
    }
    if (shape.size() < 2) return shape;
    if (form == StoredForm::Transposed || form == StoredForm::Thirds) std::swap(shape[0], shape[1]);
    if (form == StoredForm::Patches) {
        const auto& o = options.get<ImageInput>();
        return {shape[0], o.channels(), o.patch_size.at(1), o.patch_size.at(0)};
    }
    return shape;
}

}  // namespace

const std::vector<Family>& families() {
    static const auto all = [] {
        auto list = decoderFamilies();
        list.insert(list.end(), encoderFamilies().begin(), encoderFamilies().end());
        list.insert(list.end(), nanochatFamilies().begin(), nanochatFamilies().end());
        list.insert(list.end(), imageFamilies().begin(), imageFamilies().end());
        return list;
    }();
    return all;
}

const Family* findFamily(const std::string& type) {
    for (const auto& family : families())
        if (family.type == type) return &family;
    return nullptr;
}

const Family* familyOf(const ModelOptions& options) {
    const auto* name = options.find<FamilyName>();
    return name ? findFamily(name->family) : nullptr;
}

std::string modelTitle(const ModelOptions& options) {
    const auto* family = familyOf(options);
    return family ? family->title : options.architecture();
}

std::string noRelationsText(const ModelOptions& options) {
    const auto* family = familyOf(options);
    const auto* heads = options.find<BlockOptions>();
    if (!family || (options.info().dual && heads->n_heads_ra > 0)) return {};
    return "a " + family->title + " has no relational heads; sensory heads are in all " +
           std::to_string(options.get<StackDepth>().n_layers) + " layers";
}

std::string noTrainingText(const ModelOptions& options) {
    const auto* family = familyOf(options);
    if (!family) return {};
    if (const auto* images = options.find<PublicImageOptions>())
        return images->num_classes > 0 && images->answer == "own"
                   ? std::string()
                   : "is a " + family->title +
                         " without a classifier, whose answer are features; fit a head on them, or "
                         "take a checkpoint with a classifier";
    if (!family->inner.empty())
        return "is " + family->title +
               ", of a model that is not opened as a whole, so it cannot be trained further; take "
               "one of its sizes without pictures";
    if (readsBothWays(options))
        return "is a " + family->title +
               ", which reads in both directions, and training on hidden words is not offered; "
               "take "
               "a model of next tokens";
    if (const auto* experts = options.find<ExpertOptions>(); experts && experts->experts > 0)
        return "is a " + family->title +
               ", whose choice of experts is not trained here; take a model without experts";
    return {};
}

std::int64_t knownVocabulary(const ModelOptions& options) {
    return options.info().opened ? 0 : options.outputs();
}

std::vector<FileTensor> fileTensors(const ModelOptions& options) {
    const auto* family = familyOf(options);
    if (!family) return {};
    std::map<std::string, const TensorShape*> shapes;
    const auto all = modelShapes(options);
    for (const auto& shape : all) shapes[shape.name] = &shape;
    const auto* tower = options.find<TextTowerOptions>();
    const std::pair<std::string_view, std::int64_t> stacks[] = {
        {kBlockNumber, options.get<StackDepth>().n_layers},
        {kTextNumber, tower ? tower->text_layers : 0}};
    std::vector<FileTensor> tensors;
    // The row of the first name of a shared tensor becomes the further one.
    const auto keep = [&tensors](FileTensor& tensor, const std::string& first) {
        for (auto& other : tensors)
            if (other.parts.size() == 1 && other.parts.front() == first) {
                other.optional = true, tensor.optional = false;
                tensor.parts = {first};
            }
    };
    const auto add = [&](const FamilyTensor& row, std::string_view letter, std::int64_t block,
                         const char* kind) {
        if (!row.when.holds(options)) return;
        const auto numbered = [&](const std::string& name) {
            return core::numbered(name, block, letter);
        };
        FileTensor tensor;
        tensor.name = numbered(row.stored) + kind;
        if (!row.also.empty()) tensor.also = numbered(row.also) + kind;
        tensor.further = !row.further.empty() && row.further == kind;
        if (row.gammas && *kind)
            tensor.also =
                numbered(row.stored) + (kind == std::string_view(".bias") ? ".beta" : ".gamma");
        tensor.outside = row.outside;
        tensor.sizedBy = row.sizedBy;
        tensor.form = row.form;
        tensor.absent = row.absent;
        std::vector<std::vector<std::int64_t>> sizes;
        for (const auto& part : row.parts) {
            const auto found = shapes.find(numbered(part) + kind);
            if (found == shapes.end()) return;
            tensor.parts.push_back(found->first);
            sizes.push_back(found->second->shape);
            tensor.optional = !found->second->aliasOf.empty();
        }
        if (const auto* heads = options.find<BlockOptions>())
            tensor.heads = heads->sa_n_kv_heads > 0 ? heads->sa_n_kv_heads : heads->n_heads_sa;
        if (const auto* images = options.find<ImageInput>())
            tensor.patch = {images->patch_size.at(1), images->patch_size.at(0), images->channels()};
        for (const auto& size : sizes) tensor.rows.push_back(size.empty() ? 1 : size.front());
        tensor.shape = shapeInFile(row.form, sizes, options);
        if (has(tensor.name, kRowNumber)) {
            tensor.shape.erase(tensor.shape.begin());
            const auto name = tensor.name;
            for (tensor.index = 0; tensor.index < tensor.rows.front(); ++tensor.index) {
                tensor.name = core::numbered(name, tensor.index, kRowNumber);
                tensors.push_back(tensor);
            }
            return;
        }
        if (row.kept && tensor.optional) keep(tensor, shapes.at(tensor.parts.front())->aliasOf);
        tensors.push_back(std::move(tensor));
    };
    const auto* details = options.find<BlockDetails>();
    const auto addRow = [&](const FamilyTensor& row, std::string_view letter, std::int64_t block) {
        const bool each = has(row.stored, kExpertNumber);
        for (std::int64_t e = 0; e < (each ? details->experts : 1); ++e) {
            auto one = row;
            one.stored = numbered(row.stored, e, kExpertNumber);
            for (auto& part : one.parts) part = numbered(part, e, kExpertNumber);
            for (const char* kind : {"", ".weight", ".bias"}) add(one, letter, block, kind);
        }
    };
    for (const auto& row : family->tensors)
        if (!has(row.stored, kBlockNumber) && !has(row.stored, kTextNumber))
            addRow(row, kBlockNumber, -1);
    for (const auto& [letter, layers] : stacks)
        for (std::int64_t block = 0; block < layers; ++block)
            for (const auto& row : family->tensors)
                if (has(row.stored, letter)) addRow(row, letter, block);
    return tensors;
}

FamilyFile::FamilyFile(const ModelOptions& options, const std::vector<StoredTensor>& stored)
    : m_family(*familyOf(options)), m_stored(stored), m_tensors(fileTensors(options)) {
    std::set<std::string_view> there;
    bool prefixed = stored.empty();
    for (const auto& tensor : stored) there.insert(tensor.name);
    // The first prefix that any tensor has.
    auto prefix = m_family.prefix;
    auto prefixes = m_family.otherPrefixes;
    prefixes.insert(prefixes.begin(), prefix);
    for (const auto& one : prefixes) {
        prefixed = prefixed || std::any_of(stored.begin(), stored.end(), [&](const auto& tensor) {
                       return tensor.name.starts_with(one);
                   });
        if (prefixed) {
            prefix = one;
            break;
        }
    }
    for (const auto& tensor : m_tensors) {
        const auto with = [&](const std::string& name) {
            return tensor.outside ? name : prefix + name;
        };
        std::string own = prefixed ? with(tensor.name) : tensor.name;
        for (const auto& name : {with(tensor.name), tensor.name, with(tensor.also), tensor.also})
            if (there.count(name)) {
                own = name;
                break;
            }
        m_names.push_back(own);
    }
}

const std::string& FamilyFile::nameOf(const FileTensor& tensor) const {
    return m_names.at(static_cast<std::size_t>(&tensor - m_tensors.data()));
}

const StoredTensor* FamilyFile::find(const FileTensor& tensor) const {
    const auto& name = nameOf(tensor);
    for (const auto& stored : m_stored)
        if (stored.name == name) return &stored;
    return nullptr;
}

bool FamilyFile::ignores(const StoredTensor& stored) const {
    auto name = stored.name;
    const auto& known = m_family.ignored;
    for (const auto& one : known)  // "vision_tower.*"
        if (one.ends_with(".*") && has(name, std::string_view(one).substr(0, one.size() - 1)))
            return true;
    if (name.starts_with(m_family.prefix)) name.erase(0, m_family.prefix.size());
    // The number of the block as "I".
    for (std::size_t at = 0; (at = name.find('.', at)) != std::string::npos; ++at) {
        auto end = at + 1;
        while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end]))) ++end;
        if (end == at + 1 || end >= name.size() || name[end] != '.') continue;
        name.replace(at + 1, end - at - 1, "I");
        break;
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) return false;
    // Masks are of rank 4; anything else of that name would be a weight.
    return !name.ends_with("attn.bias") && !name.ends_with("attention.bias")
               ? true
               : stored.shape.size() == 4;
}

std::vector<CheckpointProblem> FamilyFile::problems() const {
    std::map<std::string_view, const StoredTensor*> stored;
    for (const auto& tensor : m_stored) stored[tensor.name] = &tensor;
    std::vector<CheckpointProblem> problems;
    std::set<std::string_view> known;
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        const auto& tensor = m_tensors[i];
        const auto& name = m_names[i];
        known.insert(name);
        const auto found = stored.find(name);
        if (found == stored.end()) {
            if (!tensor.optional && !tensor.absent && !tensor.further)
                problems.push_back({ProblemKind::Missing, name,
                                    "the model needs it, " + shapeOf(tensor.shape) +
                                        ", but it is not in the file"});
            continue;
        }
        const auto& type = found->second->dtype;
        if (found->second->shape != tensor.shape)
            problems.push_back({ProblemKind::WrongShape, name,
                                "is " + shapeOf(found->second->shape) + " in the file, " +
                                    shapeOf(tensor.shape) + " in the model" +
                                    (tensor.sizedBy.empty()
                                         ? ""
                                         : ", as '" + tensor.sizedBy + "' of config.json says")});
        else if (type != "F32" && type != "F16" && type != "BF16" && type != "F64")
            problems.push_back({ProblemKind::File, name,
                                "has " + type +
                                    " values, which cannot be used as weights; save the model in "
                                    "float32, float16 or bfloat16"});
    }
    for (const auto& tensor : m_stored) {
        if (known.count(tensor.name) || ignores(tensor)) continue;
        std::string text = "it is in the file, " + shapeOf(tensor.shape) + ", but not in the model";
        for (const auto& [part, instead] : m_family.refused)
            if (has(tensor.name, part)) text = instead;
        problems.push_back({ProblemKind::Unexpected, tensor.name, text});
    }
    return problems;
}

std::string FamilyFile::prefixOf(const std::string& prefix) const {
    if (prefix.empty()) return {};
    std::string common;
    bool first = true;
    for (std::size_t i = 0; i < m_tensors.size(); ++i)
        for (const auto& part : m_tensors[i].parts) {
            if (part != prefix && !part.starts_with(prefix + ".")) continue;
            const auto& name = m_names[i];
            if (first) {
                common = name, first = false;
                continue;
            }
            const auto end = std::mismatch(common.begin(), common.end(), name.begin(), name.end());
            common.erase(end.first, common.end());
        }
    // Whole parts of a name.
    const bool whole = std::find(m_names.begin(), m_names.end(), common) != m_names.end();
    if (!whole || common.ends_with(".weight") || common.ends_with(".bias"))
        common.erase(std::min(common.rfind('.'), common.size()));
    return common;
}

}  // namespace relascope::core
