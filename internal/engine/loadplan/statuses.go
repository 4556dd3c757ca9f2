package loadplan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// String is the range as ParseStatuses reads it, if it is a code, a class of them, or all.
func (s Statuses) String() string {
	switch {
	case s == AnyStatus():
		return "any"
	case s.From == s.To:
		return strconv.Itoa(int(s.From))
	case s.From%100 == 0 && s.To == s.From+99:
		return fmt.Sprintf("%dxx", s.From/100)
	}
	return fmt.Sprintf("%d-%d", s.From, s.To)
}

// NotThere are the statuses in which a gateway or a proxy answers for a server that is not there,
// or a server says itself that it is not ready.
var NotThere = []int{407, 502, 503, 504}

func areRanges(all []Statuses) bool {
	return !slices.ContainsFunc(all, func(s Statuses) bool {
		return s.From < 100 || s.To > 999 || s.From > s.To
	})
}

func hasStatus(all []Statuses, status uint16) bool {
	for _, s := range all {
		if s.From <= status && status <= s.To {
			return true
		}
	}
	return false
}

// Expects reports whether an answer of that status is right for a request of the plan.
func (r *Request) Expects(p *Plan, status uint16) bool {
	if own := r.Expect; own != nil && own.Status != nil {
		return hasStatus(own.Status, status)
	}
	return p.Expects(status)
}

// OwnStatuses reports whether a request has statuses of its own.
func (p *Plan) OwnStatuses() bool {
	return slices.ContainsFunc(p.Requests, func(r Request) bool {
		return r.Expect != nil && r.Expect.Status != nil
	})
}

// ParseStatuses parses status codes and classes of them, "200,204" or "2xx", or "any".
func ParseStatuses(s string) ([]Statuses, error) {
	var all []Statuses
	for part := range strings.SplitSeq(s, ",") {
		class, isClass := strings.CutSuffix(strings.ToLower(part), "xx")
		n, err := strconv.ParseUint(class, 10, 16)
		switch {
		case strings.EqualFold(part, "any"):
			all = append(all, AnyStatus())
		case err == nil && isClass && 1 <= n && n <= 5:
			all = append(all, Statuses{From: uint16(n * 100), To: uint16(n*100 + 99)})
		case err == nil && !isClass && 100 <= n && n <= 599:
			all = append(all, Statuses{From: uint16(n), To: uint16(n)})
		default:
			return nil, fmt.Errorf("%q is not a status; write codes from 100 to 599 and classes, "+
				"as 200,204 or 2xx, or any", part)
		}
	}
	return all, nil
}
