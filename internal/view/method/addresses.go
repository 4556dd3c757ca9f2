package method

import (
	"fmt"

	"dyno/internal/result"
	"dyno/internal/view/format"
)

// addressesMost is how many addresses of a name a line has.
const addressesMost = 8

// AddressesText is what went to each address of a name, and how often that was looked up again.
func AddressesText(c result.Connections) (s string) {
	for i, a := range c.Addresses {
		if i == addressesMost {
			s += fmt.Sprintf("; and to %d more", len(c.Addresses)-i)
			break
		}
		s += fmt.Sprintf("; to %s: %s, %s, %s", format.PlainLine(a.Address),
			format.Plural(a.Connections, "connection"), format.Plural(a.Answers, "answer"),
			format.Plural(a.Errors, "error"))
	}
	if c.Lookups > 0 {
		s += "; " + format.Plural(c.Lookups, "lookup")
		if c.Unlooked > 0 {
			s += fmt.Sprintf(" (%s failed)", format.Count(c.Unlooked))
		}
	}
	return s
}
