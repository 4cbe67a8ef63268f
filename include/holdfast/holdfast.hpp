#pragma once

/// Everything a program needs: include this, or the single headers.

#include "holdfast/client.hpp"
#include "holdfast/error.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/name.hpp"
#include "holdfast/options.hpp"
#include "holdfast/recursive_mutex.hpp"
#include "holdfast/status.hpp"
#include "holdfast/token.hpp"
#include "holdfast/version.hpp"
