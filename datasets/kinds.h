// Every kind of data by its two functions: one opens its parts, one lists its tasks.
#pragma once

#include "datasets/registry.h"

namespace relascope {

// The openers take options that DataOptions::check() passed, and throw what openData() throws.

DataSplits openRelationalGames(const DataOptions& options, const ProgressCallback& progress,
                               std::stop_token stop);
DatasetPtr evaluateRelationalGames(const std::string& path, const DataOptions& options,
                                   const std::string& split, const ProgressCallback& progress,
                                   std::stop_token stop);
std::vector<DatasetEntry> listRelationalGames();

std::vector<DatasetEntry> listTexts();

DataSplits openSorting(const DataOptions& options, const ProgressCallback& progress,
                       std::stop_token stop);
std::vector<DatasetEntry> listSorting();

DataSplits openPairs(const DataOptions& options, const ProgressCallback& progress,
                     std::stop_token stop);
std::vector<DatasetEntry> listPairs();

DataSplits openSet(const DataOptions& options, const ProgressCallback& progress,
                   std::stop_token stop);
std::vector<DatasetEntry> listSet();

DataSplits openMath(const DataOptions& options, const ProgressCallback& progress,
                    std::stop_token stop);
DatasetPtr evaluateMath(const std::string& path, const DataOptions& options,
                        const std::string& split, const ProgressCallback& progress,
                        std::stop_token stop);
std::vector<DatasetEntry> listMath();

DataSplits openImages(const DataOptions& options, const ProgressCallback& progress,
                      std::stop_token stop);
DatasetPtr evaluateImages(const std::string& path, const DataOptions& options,
                          const std::string& split, const ProgressCallback& progress,
                          std::stop_token stop);
std::vector<DatasetEntry> listImages();

DataSplits openSelectRelate(const DataOptions& options, const ProgressCallback& progress,
                            std::stop_token stop);
std::vector<DatasetEntry> listSelectRelate();

DataSplits openInnerProducts(const DataOptions& options, const ProgressCallback& progress,
                             std::stop_token stop);
std::vector<DatasetEntry> listInnerProducts();

DataSplits openSymbolRecovery(const DataOptions& options, const ProgressCallback& progress,
                              std::stop_token stop);
std::vector<DatasetEntry> listSymbolRecovery();

}  // namespace relascope
