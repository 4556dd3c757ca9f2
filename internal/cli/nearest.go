package cli

import (
	"strings"

	"dyno/internal/nearest"
)

// elsewhere has what flags of curl, wrk, hey and others are called here.
var elsewhere = map[string]string{
	"-k": "insecure", "-z": "duration", "-m": "method", "-s": "quiet",
	"--request": "method", "--data": "body", "--qps": "rate", "--clients": "connections",
	"--concurrency": "connections", "--silent": "quiet", "--max-time": "timeout",
	"--out": "output", "--servername": "sni",
}

// nearestFlag is the option that someone who wrote flag, with its dashes, had
// in mind.
func nearestFlag(flag string, groups []group) (option, bool) {
	byName := map[string]option{}
	var names []string
	for _, g := range groups {
		for _, o := range g.options {
			names, byName[o.long] = append(names, o.long), o
		}
	}
	if o, known := byName[elsewhere[flag]]; known {
		return o, true
	}
	o, found := byName[nearest.ClosestName(strings.TrimLeft(flag, "-"), names)]
	return o, found
}
