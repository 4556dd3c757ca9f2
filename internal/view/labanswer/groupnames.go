package labanswer

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/view/format"
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
