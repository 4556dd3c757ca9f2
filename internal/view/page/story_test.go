package page

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/page/pagetest"
)

// A story is an experiment as people have them, with the figures that it would have.
type story struct {
	name, about string
	baseline    string
	metrics     string
	slower      map[string]float64 // by arm: the factor of its times and of its CPU
	spread      float64            // of a trial, as a share
	bound       bool               // the generator is the limit
	gate        bool
	spoiled     bool              // all trials are of grade F
	missing     map[string]string // why a variant was not tested
	remedy      string
	levels      []string
	text        string // of the file, in place of one that follows from the above
}

// stories are six experiments that end differently.
func stories() []story {
	settings := map[string]float64{"default": 1, "open_file_cache": 0.65, "access_log-off": 0.88, "gzip-off": 0.995,
		"tcp_nopush": 0.999, "sendfile-off": 1.43, "workers-2": 1.03}
	return []story{
		{name: "equivalent", about: "does the new-router cost anything?", baseline: "old-router", metrics: "cpu, p99",
			slower: map[string]float64{"old-router": 1, "new-router": 1.001}, spread: 0.004},
		{name: "inconclusive", about: "is the JSON encoder faster?", baseline: "stdlib-json", metrics: "throughput, p99",
			slower: map[string]float64{"stdlib-json": 1, "sonic": 0.95}, spread: 0.07},
		{name: "client-bound", about: "nginx or Caddy for small files?", baseline: "nginx", metrics: "throughput, p50",
			slower: map[string]float64{"nginx": 1, "caddy": 1.02}, spread: 0.01, bound: true},
		{name: "refused", about: "which proxy in front of the API?", baseline: "nginx", metrics: "cpu, p99",
			slower: map[string]float64{"nginx": 1, "haproxy": 0.8}, spread: 0.01,
			missing: map[string]string{"envoy": "not comparable (fairness: strict): connection is close where nginx has keep-alive"},
			remedy:  "write allow: [connection] into the file"},
		{name: "regression", about: "the release candidate against main", baseline: "main", metrics: "cpu, p99",
			slower: map[string]float64{"main": 1, "candidate": 1.12}, spread: 0.01, gate: true},
		{name: "settings", about: "what nginx's settings cost", baseline: "default", metrics: "cpu, throughput, p99",
			slower: settings, spread: 0.012, levels: []string{"c100", "c10"},
			missing: map[string]string{"keepalive-0": "not comparable (fairness: strict): connection is close where default has keep-alive"},
			remedy:  "write allow: [connection] into the file"},
	}
}

// folder makes the experiment's folder.
func (s *story) folder(t testing.TB) string {
	t.Helper()
	levels := s.levels
	if levels == nil {
		levels = []string{"c100"}
	}
	f := newExperimenter(t, 8, 2, levels)
	f.story = s
	return f.experiment()
}

// arms are the names of all variants: the baseline first, those that were not tested last.
func (s *story) arms() []string {
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(s.slower)), func(name string) bool { return name == s.baseline })
	return slices.Concat([]string{s.baseline}, others, slices.Sorted(maps.Keys(s.missing)))
}

// file is the experiment's file.
func (s *story) file(rounds int, levels string) string {
	if s.text != "" {
		return fmt.Sprintf(s.text, rounds, levels)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "version: 1\nname: %s\ndescription: %q\n", s.name, s.about)
	fmt.Fprintf(&b, "design: {rounds: %d, seed: 7, baseline: %q, measure: 2s, metrics: [%s]}\n", rounds, s.baseline, s.metrics)
	fmt.Fprintf(&b, "levels: [%s]\n", levels)
	if s.gate {
		fmt.Fprintf(&b, "gate: {metrics: [%s], margin: 3%%}\n", s.metrics)
	}
	b.WriteString("variants:\n")
	for _, name := range s.arms() {
		fmt.Fprintf(&b, "  %q: {processes: [{cmd: \"true\"}], url: \"http://127.0.0.1:1/\"}\n", name)
	}
	return b.String()
}

// describe makes a record that of the story.
func (s *story) describe(r *lab.Record) {
	r.Name, r.Fairness, r.Ceilings, r.Profiles, r.Arms = s.name, nil, nil, nil, nil
	r.File, r.Machine = s.name+".yaml", nil
	for _, name := range s.arms() {
		a := lab.Arm{Name: name, Unfit: s.missing[name]}
		if name != s.baseline && s.text == "" {
			a.Baseline = s.baseline
		}
		if a.Unfit != "" {
			a.Remedy = s.remedy
		}
		r.Arms = append(r.Arms, a)
		if name == s.baseline {
			r.Arms = append(r.Arms, lab.Arm{Name: name + " (A/A)", Control: true, Baseline: name})
			s.slower[name+" (A/A)"] = 1
		}
	}
}

// finish makes a trial that of the story.
func (s *story) finish(t *lab.Trial) {
	if s.spoiled {
		t.Grade, t.Reasons = lab.GradeF, []lab.Reason{{Grade: lab.GradeF, Passing: true, Says: "others were at work"}}
	}
	if s.bound {
		g := &t.Result.Generator
		g.Verdict, g.BusyPercent = result.ClientBound, 99
		g.Doubts = []result.Doubt{{Kind: result.Limit, Verdict: result.ClientBound}}
		g.Reasons = []string{"the generator was busy 99 % of the time"}
	}
}

// decide sets the outcome of the gate.
func (s *story) decide(r *lab.Record) {
	r.Gate = &lab.GateOutcome{Verdict: lab.Regression, Confirmed: true}
	for _, c := range r.Verdicts {
		if !c.Control && c.IsWorse() {
			r.Gate.Missed = append(r.Gate.Missed, c)
		}
	}
}

// runStories are two runs: one of which nothing speaks against, and one that was sent late.
func runStories(t testing.TB) map[string]*result.Result {
	s, held := newSampler(), newSampler()
	held.held = &heldUp{share: 0.02, lags: metric.NewHistogram(metric.Fine), service: metric.NewHistogram(metric.Fine)}
	ok, suspect := s.run(10, 2000), held.run(10, 2000)
	for _, r := range []*result.Result{ok, suspect} {
		r.Model, r.Plan.Rate, r.Plan.Duration = result.OpenLoop, loadplan.RatePerSecond(2000), loadplan.Seconds(10*time.Second)
		r.Rate.Offered, r.Requests.Due = set(2000.0), set(int64(20_000))
		r.Requests.Late, r.Requests.LateMax = set(int64(0)), set(120.0)
		r.Generator.Little, r.Generator.SendLagP99, r.Generator.SendLagMax = nil, set(61.0), set(120.0)
	}
	lags := held.distribution(held.held.lags)
	suspect.Requests.Late, suspect.Requests.LateMax = &held.held.late, &lags.Max
	suspect.Service = held.distribution(held.held.service)
	suspect.Phases.FirstByte = suspect.Service
	g := &suspect.Generator
	g.Verdict, g.SendLagP99, g.SendLagMax, g.BusyPercent = result.Suspect, &lags.P99, &lags.Max, 34
	g.Doubts = []result.Doubt{{Cause: result.SendLag, Kind: result.HeldUp, Verdict: result.Suspect}}
	g.Reasons = []string{fmt.Sprintf("the generator sent 1 %% of the requests more than %s late, which counts as latency (mean %s)",
		format.Micros(lags.P99), format.Micros(suspect.Latency.Mean))}
	return map[string]*result.Result{"run-ok": ok, "run-suspect": suspect}
}

// What a stranger asks of a report stands on its first screen, at 1280 × 800, without scrolling: what is better and by
// how much (the sentence, and the row of each variant), how sure that is (its interval), what speaks against it (the
// box) and what to do next (the step and its command).
func TestFiveQuestions(t *testing.T) {
	pages, asked := map[string][]byte{}, map[string][]string{}
	for _, s := range stories() {
		html, data := experimentHTML(t, s.folder(t))
		pages[s.name] = html
		all := textsOf(data, "answer.sentence", "answer.uncovered", "answer.box_text", "answer.cautions.0.says", "answer.next.says", "answer.next.command")
		for i := range 12 {
			row := fmt.Sprintf("answer.groups.0.findings.%d.", i)
			all = append(all, textsOf(data, row+"effect", row+"interval", row+"verdict")...)
		}
		asked[s.name] = append(all, textsOf(data, "answer.not_loaded.0.variant")...)
	}
	for name, r := range runStories(t) {
		pages[name] = runPage(t, r)
		data := dataOf(t, pages[name])
		asked[name] = append(textsOf(data, "answer.sentence", "answer.box_text", "answer.cautions.0.says", "answer.next.says", "answer.next.command"), "One run")
	}
	for name, html := range pages {
		tab := chromium.OpenPage(t, html)
		tab.SetViewport(1280, 800, false)
		seen := pagetest.Evaluate[string](tab, onScreen)
		if len(asked[name]) < 5 {
			t.Errorf("%s: there are only %q to look for", name, asked[name])
		}
		for _, want := range asked[name] {
			if !strings.Contains(seen, blankless(shortPaths(want))) {
				t.Errorf("%s: the first screen does not have %q: %s", name, want, seen)
			}
		}
	}
}

// How many variants can be compared, if not all, stands above the verdicts on any screen, with the reason and the remedy, and
// once.
func TestUncoveredStandsAboveVerdicts(t *testing.T) {
	for _, s := range stories() {
		if s.name != "refused" {
			continue
		}
		html, data := experimentHTML(t, s.folder(t))
		want := textsOf(data, "answer.uncovered")
		if len(want) != 1 || want[0] != "2 of 3 variants can be compared; envoy was not tested" {
			t.Fatalf("it says %q", want)
		}
		tab := chromium.OpenPage(t, html)
		for _, width := range []int64{390, 1280} {
			tab.SetViewport(width, 800, false)
			if !pagetest.Evaluate[bool](tab, `document.querySelector("#answer > .banner").getBoundingClientRect().bottom <=
				document.querySelector("#decide").getBoundingClientRect().top`) {
				t.Errorf("%d pixels: it is not above the chart", width)
			}
		}
		if text := tab.ElementText("#answer > .banner strong"); text != want[0] {
			t.Errorf("above the chart is %q", text)
		}
		for _, part := range []string{want[0], "2 of 3 variants", s.missing["envoy"]} {
			if n := strings.Count(tab.ElementText("#answer"), part); n != 1 {
				t.Errorf("%q is there %d times", part, n)
			}
		}
		for _, bad := range tab.Misplaced() {
			t.Error(bad)
		}
	}
}

// onScreen are all texts that are within the window and seen, without blanks.
const onScreen = `(() => { const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), all = [];
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const r = document.createRange();
		r.selectNodeContents(n);
		const b = r.getBoundingClientRect();
		if (b.width > 0 && b.height > 0 && b.top >= 0 && b.bottom <= innerHeight && b.left >= 0 && b.right <= innerWidth &&
			n.parentElement.checkVisibility()) all.push(n.data);
	}
	return all.join("").replace(/\s/g, ""); })()`

// shortPaths is a command as the page shows it: of a long path it has the last name.
func shortPaths(s string) string {
	words := strings.Split(s, " ")
	for i, word := range words {
		if strings.HasPrefix(word, "/") && len(word) > 24 {
			words[i] = "…/" + filepath.Base(word)
		}
	}
	return strings.Join(words, " ")
}

// blankless is a text without blanks.
func blankless(s string) string { return strings.Join(strings.Fields(s), "") }

// textsOf are the texts at paths of a page's data, of those that are there.
func textsOf(data any, paths ...string) (all []string) {
	for _, path := range paths {
		if s, is := lookup(data, path); is && s != "" {
			all = append(all, s.(string))
		}
	}
	return all
}
