// SPDX-License-Identifier: GPL-3.0-or-later
// Models by name: the cache of the hub on this machine, as the hub's Python client lays it out.
// Nothing in it is changed here, and no connection is made (hub/hub_fetch.h does both).
//
// CACHE/models--ORG--NAME/refs/REVISION              a commit, as text
// CACHE/models--ORG--NAME/snapshots/COMMIT/FILE      a link to ../../blobs/ETAG, or the file itself
// CACHE/models--ORG--NAME/blobs/ETAG
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace relascope::core {

/// Begins the name of a model where a command takes a path: "hub:ORG/NAME@REVISION".
inline constexpr const char* kHubPrefix = "hub:";

/// The revision that stands for those that are steps of one training (checkpoint/series.h): "*"
/// for the group with most steps, "GROUP*" for the one whose names also have GROUP.
inline constexpr const char* kAllRevisions = "*";
inline bool isSeriesRevision(const std::string& revision) {
    return revision.ends_with(kAllRevisions);
}
/// "stage1" of "stage1-*"; empty of "*".
std::string seriesGroup(const std::string& revision);

/// A model of the hub.
struct HubModel {
    std::string name;               ///< "ORG/NAME", or "NAME"
    std::string revision = "main";  ///< a branch, a tag or a commit; isSeriesRevision()
    /// The model as text: "ORG/NAME", with "@REVISION" unless that is main.
    std::string text() const { return revision == "main" ? name : name + "@" + revision; }
    bool operator==(const HubModel&) const = default;
};
/// Reads "ORG/NAME[@REVISION]". Throws OptionError("model", ...) for what cannot be a name.
HubModel hubModel(const std::string& text);

/// The value of the first of these environment variables that is set, with ~ and $NAME in it
/// replaced as the hub's Python client does; "" where none is set.
std::string hubPlace(std::initializer_list<const char*> names);

/// The folder of the cache: $HF_HUB_CACHE, $HUGGINGFACE_HUB_CACHE, $TRANSFORMERS_CACHE, else
/// $HF_HOME/hub, else huggingface/hub in $XDG_CACHE_HOME or ~/.cache. Throws Error where neither
/// one of these nor HOME is set.
std::string hubCacheFolder();
/// The folder of a model in the cache, CACHE/models--ORG--NAME.
std::string hubModelFolder(const HubModel& model);
/// Whether the name of a file or folder of the hub stays below where it is put.
bool isHubFileName(const std::string& name);

struct CachedModel {
    std::string name;       ///< "ORG/NAME"
    std::string commit;     ///< commit of the newest snapshot
    std::string path;       ///< the folder of that snapshot
    std::int64_t time = 0;  ///< when the snapshot was made, in seconds since 1970
};
/// A branch or a tag.
struct HubRevision {
    std::string name;    ///< "chck_10M"
    std::string commit;  ///< what it names now
};
/// The revisions of a model that the cache knows (refs), by name. Looks at nothing else.
std::vector<HubRevision> cachedRevisions(const std::string& model);

/// The models of the cache that have a snapshot with weights, newest first. Looks at names of files
/// alone.
std::vector<CachedModel> cachedModels();

/// The commit and the folder of a model's revision in the cache; nothing if it is not there. Throws
/// FileError where a link of the snapshot leads out of the folder of the model.
std::optional<CachedModel> findCachedModel(const HubModel& model);

/// The name "ORG/NAME" for a snapshot of a cache, or a file in it; else empty.
std::string hubNameOf(const std::string& path);

/// The run of the revisions of a model (checkpoint/series.h), whether it is there or not, in the
/// cache of Relascope: $XDG_CACHE_HOME/relascope/series/ORG--NAME, of a group ORG--NAME@GROUP.
std::string hubSeriesFolder(const HubModel& model);

/// The path that a text stands for: "hub:ORG/NAME" is the folder of its snapshot in the cache,
/// "hub:ORG/NAME@*" the run of its revisions, anything else is returned as it is. Throws Error with
/// how to fetch a model that is not there.
std::string hubPath(const std::string& text);

}  // namespace relascope::core
