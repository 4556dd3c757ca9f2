package wire

import (
	"fmt"
	"time"
)

// linesMax is how many lines a minute a LimitedLog prints: the owner of the bus must not be able
// to fill an agent's disk.
const linesMax = 60

// A LimitedLog tells an agent's owner what the agent does not do, in up to 60 lines a minute. The
// zero value prints nothing.
type LimitedLog struct {
	Log func(string) // nil: print nothing

	since time.Time
	lines int // since then
}

// Print prints what is not done, and why.
func (c *LimitedLog) Print(what string, why error, now time.Time) {
	if c.Log == nil {
		return
	}
	if now.Sub(c.since) >= time.Minute {
		if more := c.lines - linesMax; more > 0 {
			c.Log(fmt.Sprintf("and %d more that were not done", more))
		}
		c.since, c.lines = now, 0
	}
	if c.lines++; c.lines <= linesMax {
		c.Log(what + ": " + Readable(why.Error()))
	}
}
