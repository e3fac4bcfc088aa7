// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers of means: in the file of the edits, or as tensors in a file beside it
// (resources/docs/interventions.md section 4). Does not include torch.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "files/safetensors.h"
#include "types/edit.h"

namespace relascope::core {

inline constexpr const char* kEditValuesFormat = "relascope-edit-values/1";
/// The most numbers of all means of a file together: 16 MiB of float32.
inline constexpr std::int64_t kMostStoredNumbers = std::int64_t{1} << 22;
/// Means that take more text than this together are written to the file beside.
inline constexpr std::size_t kMostInlineValues = std::size_t{64} << 10;  // bytes

/// Floats as the shortest decimal numbers that give them again, so that files hold no digits that
/// the model never had.
std::vector<double> storedNumbers(std::span<const float> numbers);

/// Reads the tensors that the "values" of a file's means name. Files are taken from the folder.
class StoredValues {
public:
    explicit StoredValues(std::filesystem::path folder) : m_folder(std::move(folder)) {}
    /// Reads a tensor: F32, at most four axes, finite. The header is checked before anything is
    /// allocated. Throws OptionError(field, ...), FileError if it is no such file.
    EditValues read(const std::string& file, const std::string& tensor, const std::string& field);

private:
    std::filesystem::path m_folder;
    std::map<std::string, SafetensorsFile> m_files;
    std::int64_t m_numbers = 0;
};

/// The tensor of edit number `index` in the file beside.
std::string valuesTensor(std::size_t index);
/// The file beside a file of edits: NAME.safetensors for NAME.json.
std::string valuesFileOf(const std::string& path);
/// Writes the values of the means of a list to `path`, atomically. Throws FileError if the file
/// exists and holds something else, or if the values are too many.
void writeValues(const EditList& list, const std::string& path);

/// The list with the values of its means, so that it stands alone; their references name the
/// examples that were really used.
EditList withValues(EditList list, const TakenMeans& means);

/// A mean in words: "mean of 1,024 examples of train, standard error 0.012", for a few examples
/// with a warning; "mean as given" for values without a reference. `taken` is null while the mean
/// is not known. Empty for other operations.
std::string meanText(const Edit& edit, const TakenMean* taken);

}  // namespace relascope::core
