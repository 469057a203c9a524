#pragma once

#include <set>
#include <string>

#include "app/cli/options.h"

namespace convscope {

/// Throws UsageError for a setting of the command line (`given`: their keys) that has no effect beside the
/// others, which would otherwise be dropped without a word. What a session holds may lie idle.
void refuse_without_effect(const Settings&, const std::set<std::string>& given, Command);

}  // namespace convscope
