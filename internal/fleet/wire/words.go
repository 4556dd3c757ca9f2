package wire

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// readableMax is how many characters of somebody else's words are shown.
const readableMax = 500

// Readable is what somebody else says, for a terminal: it may not be who one thinks.
func Readable(s string) string {
	runes := []rune(strings.ToValidUTF8(s[:min(len(s), 4*readableMax)], "?"))
	for i, c := range runes {
		if !unicode.IsPrint(c) {
			runes[i] = ' '
		}
	}
	return string(runes[:min(len(runes), readableMax)])
}

// linesMost is how many lines a minute an agent says of what it does not do: who owns
// the bus must not fill its disk.
const linesMost = 60

// LimitedLog are what an agent says to its owner of what it does not do, up to 60 lines a
// minute. The zero value says nothing.
type LimitedLog struct {
	Log func(string) // nil: nobody listens

	since time.Time
	lines int // since then
}

// Print says what is not done, and why.
func (c *LimitedLog) Print(what string, why error, now time.Time) {
	if c.Log == nil {
		return
	}
	if now.Sub(c.since) >= time.Minute {
		if more := c.lines - linesMost; more > 0 {
			c.Log(fmt.Sprintf("and %d more that were not done", more))
		}
		c.since, c.lines = now, 0
	}
	if c.lines++; c.lines <= linesMost {
		c.Log(what + ": " + Readable(why.Error()))
	}
}
