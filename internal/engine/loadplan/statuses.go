package loadplan

import (
	"fmt"
	"strconv"
	"strings"
)

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
