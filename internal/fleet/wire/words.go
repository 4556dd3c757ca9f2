package wire

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// readableMost is how many characters of somebody else's words are shown.
const readableMost = 500

// Readable is what somebody else says, for a terminal: it may not be who one thinks.
func Readable(s string) string {
	runes := []rune(strings.ToValidUTF8(s[:min(len(s), 4*readableMost)], "?"))
	for i, c := range runes {
		if !unicode.IsPrint(c) {
			runes[i] = ' '
		}
	}
	return string(runes[:min(len(runes), readableMost)])
}

// complaintsMost is how many lines a minute an agent says of what it does not do: who owns
// the bus must not fill its disk.
const complaintsMost = 60

// Complaints are what an agent says to its owner of what it does not do, up to 60 lines a
// minute. The zero value says nothing.
type Complaints struct {
	Tell func(string) // nil: nobody listens

	since time.Time
	lines int // since then
}

// Say says what is not done, and why.
func (c *Complaints) Say(what string, why error, now time.Time) {
	if c.Tell == nil {
		return
	}
	if now.Sub(c.since) >= time.Minute {
		if more := c.lines - complaintsMost; more > 0 {
			c.Tell(fmt.Sprintf("and %d more that were not done", more))
		}
		c.since, c.lines = now, 0
	}
	if c.lines++; c.lines <= complaintsMost {
		c.Tell(what + ": " + Readable(why.Error()))
	}
}
