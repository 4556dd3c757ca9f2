package labanswer

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/lab/versus"
	"dyno/internal/redact"
	"dyno/internal/result"
	"dyno/internal/setting"
	"dyno/internal/view/format"
	"dyno/internal/view/repeat"
)

// names are the names of a comparison's groups, by letter. There is none where the letter says all
// that can be said.
type names map[string]string

// widestServer is the longest name of a server, in characters.
const widestServer = 40

// groupNames are the servers of stored results: "127.0.0.1:8081 (B)". If all have the same host it
// is the URL, and if that is the same, too, it is as what they are stored. Of an experiment it is
// the arm, unless the group has several, whose labels name them.
func groupNames(u *judge.Unpaired) names {
	var hosts, urls, stored []string
	for i, g := range u.Groups {
		host, whole, name := "", "", g.Name
		if g.Record != nil {
			if name = onlyArm(u, i); name == "" {
				return nil
			}
		} else if rs := g.Results(); areOfOneURL(rs) {
			_, whole, _ = strings.Cut(rs[0].Plan.Target.URL, "://")
			host = whole
			if at, err := url.Parse(rs[0].Plan.Target.URL); err == nil && at.Host != "" {
				host = at.Host
			}
		}
		hosts, urls, stored = append(hosts, host), append(urls, whole), append(stored, name)
	}
	for _, all := range [][]string{hosts, urls, stored} {
		other := func(one string) bool { return one != all[0] }
		if slices.Contains(all, "") || !slices.ContainsFunc(all, other) {
			continue
		}
		named := names{}
		for i, one := range all {
			letter := judge.Letter(i)
			name := format.Clip(format.PlainLine(one), widestServer)
			named[letter] = fmt.Sprintf("%s (%s)", name, letter)
		}
		return named
	}
	return nil
}

// onlyArm is the arm of a group that has the label of a letter alone; "" if its labels name arms.
func onlyArm(u *judge.Unpaired, i int) (arm string) {
	for _, s := range u.Groups[i].Samples {
		if arm = s.Arm; u.Label(s.Name) != judge.Letter(i) {
			return ""
		}
	}
	return arm
}

// areOfOneURL reports whether there are results, and all are of one URL.
func areOfOneURL(rs []*result.Result) bool {
	other := func(r *result.Result) bool { return r.Plan.Target.URL != rs[0].Plan.Target.URL }
	return len(rs) > 0 && !slices.ContainsFunc(rs, other)
}

// of is the name of a label.
func (n names) of(label string) string {
	if name, has := n[label]; has {
		return name
	}
	return label
}

// labelled are comparisons by the names of their groups.
func (n names) labelled(u *judge.Unpaired, all []lab.Comparison) []lab.Comparison {
	all = u.Labelled(all)
	for i, c := range all {
		all[i].Baseline, all[i].Variant = n.of(c.Baseline), n.of(c.Variant)
	}
	return all
}

// lackingRuns is how many more runs of each group it takes for a verdict.
func lackingRuns(u *judge.Unpaired) string {
	enough := u.EnoughRuns()
	var parts []string
	for i, g := range u.Groups {
		if n := enough - len(g.Results()); n > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s", format.Plural(int64(n), "more run"),
				judge.Letter(i)))
		}
	}
	if len(parts) == 0 {
		return "repeat each"
	}
	return fmt.Sprintf("a verdict takes %d runs of each, in turns: %s", enough, fewNames(parts))
}

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
