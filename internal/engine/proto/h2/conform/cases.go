package conform

import "slices"

// Cases are all of them.
var Cases = slices.Concat(right, frames, controls, messages, blocks)
