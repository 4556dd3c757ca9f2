// Package fleet makes one load of many machines: a Controller cuts a plan into parts
// and each Agent carries out one. What they say to each other is in package wire, how
// they come to the bus is not theirs to know.
//
// A run goes through stages that nobody passes alone: every agent accepts its part or
// says why not, all open their connections, the controller learns how far each agent's
// monotonic clock is from its own, all begin at one instant, and then nobody needs to
// talk: the parts are shares of one schedule. Each second an agent reports what it
// measured, and at last all of it once more; the two are held against each other.
//
// Whoever hears nothing of the other for Lease gives it up: an agent stops its load, and
// the controller calls the agent lost. An agent that was started again is another one.
package fleet

import (
	"crypto/rand"
	"time"

	"dyno/internal/fleet/wire"
)

const (
	// Lease is for how long an agent and a controller believe in one another unheard.
	Lease = 5 * time.Second

	heartbeatInterval = 500 * time.Millisecond // of agents and controllers
	deadlineInterval  = 100 * time.Millisecond // how often deadlines are looked at
	resendDelay       = time.Second            // after which a report is said again
)

// How much of one agent, or one controller, waits to be read, in messages and bytes. What comes
// then is lost, and said again if it has to be heard. An agent's plan may come at once.
const (
	queuedMessagesMax  = 4 << 10
	queuedBytesMax     = 8 << 20
	queuedPlanBytesMax = 2 * wire.BundleMax
)

// newRandomID is a name that nothing else has.
func newRandomID() string { return rand.Text() }
