#pragma once

#include <string>

#include "app/settings.h"

namespace convscope {

/// The settings that a computation of side A depends on; all others at their defaults.
Settings computed_part(const Settings&);
/// Whether both ask for the same computation; makes no copies.
bool same_computation(const Settings&, const Settings&);
/// Puts the settings that a computation depends on back, and leaves the others.
void restore_computed_part(Settings&, const Settings& from);
/// The first key whose value differs, or empty.
std::string changed_key(const Settings&, const Settings&);

}  // namespace convscope
