package cli

import (
	"strings"

	"dyno/internal/nearest"
)

// elsewhere maps flags of curl, wrk, hey and others to dyno's.
var elsewhere = map[string]string{
	"-k": "insecure", "-z": "duration", "-m": "method", "-s": "quiet",
	"--request": "method", "--data": "body", "--qps": "rate", "--clients": "connections",
	"--concurrency": "connections", "--silent": "quiet", "--max-time": "timeout",
	"--out": "output", "--servername": "sni",
}

// nearestFlag is the option that was probably meant by flag, which includes its dashes.
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
