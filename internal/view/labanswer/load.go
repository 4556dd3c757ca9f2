package labanswer

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/redact"
	"dyno/internal/result"
	"dyno/internal/setting"
	"dyno/internal/view/format"
)

// loadOf is what the variants are sent, with the word for it: "load: closed, 50 connections", or
// "load: shop.hurl (3 requests), users.csv (4 rows); closed, 50 users".
func loadOf(r *lab.Record) string {
	if s := LoadText(r); s != "" {
		return "load: " + s
	}
	return ""
}

// mostLoads is how many levels are put into words.
const mostLoads = 2

// LoadText is the files that say what is sent, and the levels. A request of the experiment's file
// is not named. It is "" if they are not known.
func LoadText(r *lab.Record) string {
	if r.Experiment == nil || len(r.Experiment.Levels) == 0 {
		return ""
	}
	var all []string
	if files := filesText(r); files != "" {
		all = append(all, files)
	}
	levels := r.Experiment.Levels
	for _, l := range levels[:min(len(levels), mostLoads)] {
		all = append(all, levelText(l, r.Experiment.Workload))
	}
	if n := len(levels) - mostLoads; n > 0 {
		all = append(all, format.Plural(int64(n), "level")+" more")
	}
	return strings.Join(all, "; ")
}

// mostURLs is how many addresses of variants are named.
const mostURLs = 2

// RequestText is the request, and to which addresses it goes; "" if files say that.
func RequestText(r *lab.Record) string {
	e := r.Experiment
	if e == nil || filesText(r) != "" || len(e.Variants) == 0 {
		return ""
	}
	method := cmp.Or(e.Workload.Request.Method, "GET")
	shown := func(url string) string { // without what may be secret
		at, _, _ := strings.Cut(redact.Replacer(redact.PlainMark).URL(url), "?")
		return format.URL(at)
	}
	if path := e.Workload.Request.Path; path != "" {
		return format.PlainLine(method + " " + shown(path))
	}
	var urls []string
	for _, v := range e.Variants {
		urls = appendOnce(urls, shown(string(v.Value.URL)))
	}
	if n := len(urls) - mostURLs; n > 0 {
		urls = append(urls[:mostURLs:mostURLs], format.Count(int64(n))+" more")
	}
	return format.PlainLine(method + " " + fewNames(urls))
}

// filesText names the files of a workload, with how large they are; "" if there is none.
func filesText(r *lab.Record) string {
	w, size := r.Experiment.Workload, lab.Scenario{}
	if r.Scenario != nil {
		size = *r.Scenario
	}
	return joinFiles(sizedFile(w.Hurl, size.Steps, "request"), sizedFile(w.Script, 0, ""),
		sizedFile(w.RequestsFile, 0, ""), sizedFile(w.URLs, 0, ""),
		sizedFile(w.Data, size.Rows, "row"))
}

// planFiles is the same of the plan of a trial, which has neither requests_file nor urls.
func planFiles(r *result.Result) string {
	var all []string
	p := r.Plan
	for _, s := range p.Hurl {
		all = append(all, sizedFile(s.File, len(p.Steps), "request"))
	}
	if p.Script != nil {
		all = append(all, sizedFile(p.Script.File, 0, ""))
	}
	if p.Rows != nil {
		all = append(all, sizedFile(p.Rows.File, p.Rows.Rows, "row"))
	}
	return joinFiles(all...)
}

// sizedFile is the last name of a file, with how many things it has if that is known: "users.csv (4
// rows)".
func sizedFile(file string, n int, thing string) string {
	if file == "" {
		return ""
	}
	name := format.PlainLine(filepath.Base(filepath.FromSlash(file)))
	if n > 0 {
		name += " (" + format.Plural(int64(n), thing) + ")"
	}
	return name
}

// joinFiles joins the files that there are.
func joinFiles(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), ", ")
}

// levelText is a level of a workload in words. Each slot of a session is a user, unless the file
// says how many there are.
func levelText(l experiment.Level, w experiment.Workload) string {
	slots, rate := format.Plural(int64(l.Connections), "connection"), "/s "
	if w.Hurl != "" {
		rate = " iterations/s "
		if w.Users == 0 {
			slots = format.Plural(int64(l.Connections)*int64(max(l.Pipeline, 1)), "user")
		}
	}
	s, law := "closed, "+slots, cmp.Or(l.Arrival, "constant")
	switch {
	case l.IsSearch():
		s = "a search for the highest rate with " + format.PlainLine(string(l.Find)) + ", " + law + ", " +
			slots
		if l.SearchesCount() {
			s = "a search for the most " + format.PlainLine(l.Axis) + " with " +
				format.PlainLine(string(l.Find)) + ", closed"
		}
	case l.Share > 0:
		s = "open, " + l.Share.String() + " of the smallest capacity, " + law + ", " + slots
	case l.IsOpen():
		s = "open, " + format.Exact3(float64(l.Rate)) + rate + law + ", " + slots
	}
	if w.Users > 0 {
		s += ", " + format.Plural(int64(w.Users), "user")
	}
	return s
}

// LevelText is a level in words, with how its connections are used.
func LevelText(l experiment.Level, w experiment.Workload) string {
	s := levelText(l, w)
	if l.Pipeline > 1 {
		s += fmt.Sprintf(", %d requests in flight on each", l.Pipeline)
	}
	var p loadplan.Plan
	_ = l.SetPlan(&p) // a stored level may lack a value, of which nothing is said
	return s + setting.Description(&p)
}
