package labanswer

import (
	"slices"
	"strings"

	"dyno/internal/lab/judge"
	"dyno/internal/lab/versus"
	"dyno/internal/redact"
	"dyno/internal/result"
	"dyno/internal/setting"
	"dyno/internal/view/repeat"
)

// ownSettings are settings of a run that an experiment chooses itself.
var ownSettings = []string{"duration", "requests", "warmup", "drain", "seed"}

// InTurns are the URLs of the servers of stored results, and the settings of the load that all of
// them got, so that dyno vs repeats them; ok is false if they differ in anything else, or if dyno
// vs does not have what it takes.
func InTurns(u *judge.Unpaired) (urls []string, load []setting.Given, ok bool) {
	most := versus.MostServers()
	for i, g := range u.Groups {
		rs := g.Results()
		if g.Record != nil || !areOfOneURL(rs) || i == most {
			return nil, nil, false
		}
		for k, r := range rs {
			own, ok := settingsInTurns(r)
			if !ok || i+k > 0 && !slices.Equal(wordsOf(own), wordsOf(load)) {
				return nil, nil, false
			}
			load = own
		}
		at := rs[0].Plan.Target.URL
		if slices.Contains(urls, at) || redact.HasMark(at) {
			return nil, nil, false
		}
		urls = append(urls, at)
	}
	return urls, load, len(urls) > 1
}

// wordsOf are settings as flags, each with its value in the quotes of a shell.
func wordsOf(all []setting.Given) (words []string) {
	for _, given := range all {
		words = append(words, repeat.Word(given))
	}
	return words
}

// settingsInTurns are those by which dyno vs repeats a result's load; ok is false if it cannot.
func settingsInTurns(r *result.Result) (own []setting.Given, ok bool) {
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
			own = append(own, given)
		}
	}
	return own, true
}

// vsCommand is the dyno vs that repeats a comparison; "" if none does.
func vsCommand(u *judge.Unpaired) string {
	urls, load, ok := InTurns(u)
	if !ok {
		return ""
	}
	words := []string{"dyno vs"}
	for _, one := range urls {
		words = append(words, setting.ShellQuote(one))
	}
	return strings.Join(append(words, wordsOf(load)...), " ")
}
