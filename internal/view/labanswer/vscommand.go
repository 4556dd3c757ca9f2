package labanswer

import (
	"slices"
	"strings"

	"dyno/internal/lab/judge"
	"dyno/internal/lab/versus"
	"dyno/internal/redact"
	"dyno/internal/result"
	"dyno/internal/setting"
	"dyno/internal/view/format"
	"dyno/internal/view/repeat"
)

// ownSettings are settings of a run that an experiment chooses itself.
var ownSettings = []string{"duration", "requests", "warmup", "drain", "seed"}

// InTurns are the URLs of the servers of stored results, and the flags of the load that all of them
// got, so that dyno vs repeats them; ok is false if they differ in anything else, or if dyno vs
// does not have what it takes. A flag has its value, in the quotes of a shell.
func InTurns(u *judge.Unpaired) (urls, flags []string, ok bool) {
	most := versus.MostServers()
	for i, g := range u.Groups {
		rs := g.Results()
		if g.Record != nil || !areOfOneURL(rs) || i == most {
			return nil, nil, false
		}
		for k, r := range rs {
			own, ok := flagsInTurns(r)
			if !ok || i+k > 0 && !slices.Equal(own, flags) {
				return nil, nil, false
			}
			flags = own
		}
		at := rs[0].Plan.Target.URL
		if slices.Contains(urls, at) || redact.HasMark(at) {
			return nil, nil, false
		}
		urls = append(urls, at)
	}
	return urls, flags, len(urls) > 1
}

// flagsInTurns are the flags by which dyno vs repeats a result's load; ok is false if it cannot.
func flagsInTurns(r *result.Result) (own []string, ok bool) {
	all, lost := repeat.Settings(r.Plan)
	if len(lost) > 0 {
		return nil, false
	}
	for _, given := range all {
		switch {
		case slices.Contains(ownSettings, given.Name):
		case given.On&setting.Vs == 0 || given.Name == "requests-file": // which may be another now
			return nil, false
		default:
			own = append(own, repeat.Word(given))
		}
	}
	return own, true
}

// vsCommand is the dyno vs that repeats a comparison; "" if none does.
func vsCommand(u *judge.Unpaired) string {
	urls, flags, ok := InTurns(u)
	if !ok {
		return ""
	}
	words := []string{"dyno vs"}
	for _, one := range urls {
		words = append(words, format.ShellQuote(one))
	}
	return strings.Join(append(words, flags...), " ")
}
