package labreport

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// eight is an experiment of eight variants of nginx at two loads, of which one was refused.
func eight() *lab.Record {
	e := &experiment.Experiment{Description: "what nginx's settings cost", Levels: []experiment.Level{
		{Name: "c100", Connections: 100}, {Name: "c10", Connections: 10}}}
	e.Design.Rounds, e.Design.Metrics = 6, []experiment.Metric{"throughput", "cpu", "p99"}
	e.Design.Measure = experiment.Duration(2 * time.Second)
	began := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	r := &lab.Record{Progress: lab.Progress{Name: "nginx-settings", State: lab.Complete, Seed: 7, Started: began,
		Ended: began.Add(9 * time.Minute)},
		Definition: lab.Definition{Experiment: e, Dir: "/runs/nginx-settings", File: "nginx-settings"},
		Findings:   lab.Findings{SpentS: 500}}
	r.Host.CPUs, r.Host.OS, r.Host.CPU = 4, "linux", "Some CPU"
	settings := []struct {
		name  string
		ratio float64
	}{{"default", 1}, {"open_file_cache", 0.65}, {"access_log-off", 0.88}, {"gzip-off", 0.99}, {"sendfile-off", 1.43},
		{"workers-2", 1.03}, {"tcp_nopush", 0.999}}
	for _, s := range settings {
		r.Arms = append(r.Arms, lab.Arm{Name: s.name, Baseline: "default"})
		for _, level := range e.Levels {
			for round := range 6 {
				r.Trials = append(r.Trials, lab.TrialSummary{Grade: lab.GradeA,
					Slot: lab.Slot{Arm: s.name, Level: level.Name, Round: round + 1}})
			}
			for metric, base := range map[string]float64{"throughput": 50_000, "cpu": 22.4, "p99": 3100} {
				m, _ := lab.MeasureNamed(metric)
				value := base
				if metric == "cpu" {
					value *= s.ratio
				}
				r.Cells = append(r.Cells, lab.Cell{Arm: s.name, Level: level.Name, Metric: metric, Unit: m.Unit, Trials: 6,
					Median: stats.Interval{Low: value * 0.97, Estimate: value, High: value * 1.03, Level: 0.97}})
			}
		}
	}
	r.Arms[0].Baseline = ""
	r.Arms = append(r.Arms, lab.Arm{Name: "keepalive-0", Baseline: "default",
		Unfit: "not comparable (fairness: strict): connection is close where default has keep-alive", Remedy: "write allow: [connection] into the file"})
	for _, level := range e.Levels {
		for _, metric := range []string{"throughput", "cpu", "p99"} {
			for i, s := range settings[1:] {
				m, _ := lab.MeasureNamed(metric)
				c := lab.Comparison{Metric: metric, Level: level.Name, Baseline: "default", Variant: s.name, Margin: 0.02, Better: m.Better,
					Ratio: 1 + 0.01*float64(i), Low: 0.9, High: 1.2, Verdict: stats.Inconclusive, Confidence: 0.97, Trials: 6,
					PValues: lab.PValues{P: 0.03, PAdjusted: 0.03}}
				if c.ClientBound = metric == "throughput"; metric == "cpu" {
					c.Ratio, c.Low, c.High, c.Verdict = s.ratio, s.ratio*0.97, s.ratio*1.03, stats.Different
					switch {
					case s.name == "workers-2":
						c.Verdict, c.More = stats.Inconclusive, 14
					case s.ratio > 0.95 && s.ratio < 1:
						c.Low, c.High, c.Verdict = s.ratio*0.995, s.ratio*1.005, stats.Equivalent
					}
				}
				r.Verdicts = append(r.Verdicts, c)
			}
		}
	}
	return r
}

// A caution that forbids to rely on the figures is red, and no other.
func TestColoursOfCautions(t *testing.T) {
	for severity, want := range map[answer.Severity]format.Color{answer.Bad: format.Red, answer.Doubt: format.Yellow, answer.Note: format.Yellow} {
		if got := cautionRow(answer.Caution{Severity: severity, Says: "x"}).Tone; got != want {
			t.Errorf("severity %v: %q, want %q", severity, got, want)
		}
	}
}

// crowded is eight with every caution and long texts.
func crowded() *lab.Record {
	r := eight()
	r.Quick, r.State, r.Name = true, lab.Interrupted, strings.Repeat("a long name ", 20)
	for i := range 9 {
		text := fmt.Sprintf("he machine %d %s", i, strings.Repeat("was busy ", 40))
		r.Cautions = append(r.Cautions, "t"+text)
		r.Facts = append(r.Facts, fact.Fact{Args: fact.Told{Text: "T" + text}})
		r.Trials = append(r.Trials, lab.TrialSummary{Slot: lab.Slot{Arm: "workers-2", Level: "c100", Round: 7 + i},
			Failure: &lab.Failure{Phase: "start", Reason: strings.Repeat("it ended ", 50)}})
	}
	for i := range r.Verdicts {
		r.Verdicts[i].Disturbed, r.Verdicts[i].OtherLoad, r.Verdicts[i].Missing = 1, 1, 1
	}
	r.Arms[7].Unfit = strings.Repeat("unlike the others ", 60)
	return r
}

// briefly is the report of a terminal that is as wide.
func briefly(t *testing.T, r *lab.Record, width int) string {
	t.Helper()
	return string(format.Visible([]byte(reporttest.Text(t, func(b *strings.Builder) error {
		return Experiment(b, r, format.Style{Width: width})
	})), ""))
}

// The report on terminals of 80, 100 and 160 columns.
func TestBriefGoldens(t *testing.T) {
	for name, r := range map[string]*lab.Record{"eight": eight(), "servers": servers(), "crowded": crowded(), "nothing": new(lab.Record)} {
		all := ""
		for _, width := range []int{80, 100, 160} {
			all += strings.Repeat("-", width) + "\n" + briefly(t, r, width)
		}
		golden(t, name+".text", []byte(all))
	}
	colored := reporttest.Text(t, func(b *strings.Builder) error {
		return Experiment(b, eight(), format.Style{Color: "\x1bpaint-", Width: 100})
	})
	golden(t, "color.text", format.Visible([]byte(colored), "\x1bpaint-"))
}

// In 100 columns eight variants take at most 30 lines, and no line is wider than the terminal.
func TestBriefReportIsBrief(t *testing.T) {
	for name, r := range map[string]*lab.Record{"eight": eight(), "servers": servers(), "crowded": crowded()} {
		for _, width := range []int{80, 100, 160} {
			text := briefly(t, r, width)
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			if width >= 100 && len(lines) > mostLines {
				t.Errorf("%s has %d lines in %d columns:\n%s", name, len(lines), width, text)
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > min(width, 100) {
					t.Errorf("%s has a line of %d characters in %d columns: %s", name, n, width, line)
				}
			}
		}
	}
}

// A finding is a line: by effect, with one verdict, and refused variants among them.
func TestFindingsAreSorted(t *testing.T) {
	text := briefly(t, eight(), 100)
	at := -1
	for _, want := range []string{"open_file_cache", "access_log-off", "gzip-off", "tcp_nopush", "workers-2", "sendfile-off", "not tested   keepalive-0"} {
		next := strings.Index(text, "\n"+strings.Repeat(" ", 4-2*strings.Count(want, "not tested"))+want)
		if next <= at {
			t.Errorf("%s is not where it belongs:\n%s", want, text)
		}
		at = next
	}
	for _, want := range []string{"better", "worse", "the same, within 2 %", "more would decide", "allow: [connection]"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("nothing says %q:\n%s", want, text)
		}
	}
}

// Markdown is to be read at once: less than 60 lines, and 3,000 characters for a pull request.
func TestMarkdownIsBrief(t *testing.T) {
	many := crowded()
	for i := range 60 {
		name := fmt.Sprintf("%s-%d", strings.Repeat("x", 50), i)
		many.Arms = append(many.Arms, lab.Arm{Name: name, Unfit: strings.Repeat("y", 400), Remedy: strings.Repeat("z", 400)})
		c := many.Verdicts[7]
		c.Variant = name
		many.Verdicts = append(many.Verdicts, c)
	}
	for name, r := range map[string]*lab.Record{"eight": eight(), "crowded": crowded(), "many": many} {
		var short, pr bytes.Buffer
		if err := ExperimentMarkdown(&short, r); err != nil {
			t.Fatal(err)
		}
		if err := PullRequest(&pr, r, "x.svg"); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(short.String(), "\n"); n >= 60 {
			t.Errorf("report.md of %s has %d lines:\n%s", name, n, short.String())
		}
		if n := utf8.RuneCount(pr.Bytes()); n > 3000 || n < 200 {
			t.Errorf("pr.md of %s has %d characters:\n%s", name, n, pr.String())
		}
		if regexp.MustCompile(`\\\[[−+0-9]`).Match(pr.Bytes()) {
			t.Errorf("an interval of %s is escaped:\n%s", name, pr.String())
		}
		for _, want := range []string{"keepalive-0", "| verdict |"} {
			if !strings.Contains(pr.String(), want) || !strings.Contains(short.String(), want) {
				t.Errorf("%s lacks %s:\n%s", name, want, pr.String())
			}
		}
		if name == "eight" {
			golden(t, "eight.md", short.Bytes())
			golden(t, "eight.pr.md", pr.Bytes())
		}
	}
}

// ten has a name of 24 characters, and nine more variants that are the same before one that is worse.
func ten() *lab.Record {
	r := eight()
	var all []lab.Comparison
	for _, c := range r.Verdicts {
		if c.Metric == "cpu" && c.Level == "c100" && c.Variant == "tcp_nopush" {
			for i := range 9 {
				c.Variant = fmt.Sprintf("setting-%d-of-a-long-name", i)
				c.Ratio, c.Low, c.High, c.Verdict, c.More = 1.001, 0.99, 1.01, stats.Equivalent, 0
				all = append(all, c)
			}
			c.Variant = "sendfile-off-of-long-name"
			c.Ratio, c.Low, c.High, c.Verdict = 1.43, 1.39, 1.47, stats.Different
			all = append(all, c)
		}
	}
	r.Verdicts = all
	return r
}

// The row of a regression is in each table, however many variants there are.
func TestRegressionIsShown(t *testing.T) {
	var short, pr bytes.Buffer
	if err := ExperimentMarkdown(&short, ten()); err != nil {
		t.Fatal(err)
	}
	if err := PullRequest(&pr, ten(), ""); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"terminal": briefly(t, ten(), 80), "report.md": short.String(), "pr.md": pr.String()} {
		if !strings.Contains(text, "\n| sendfile-off-of-long-name |") && !strings.Contains(text, "\n    sendfile-off-of-long-n") ||
			!strings.Contains(text, "and 2 variants more") {
			t.Errorf("%s:\n%s", name, text)
		}
		for _, line := range strings.Split(text, "\n") {
			if name == "terminal" && utf8.RuneCountInString(line) > 80 {
				t.Errorf("a line of more than 80 characters: %s", line)
			}
		}
	}
}

// A gate says in a pull request what it decided, whatever that is.
func TestGateInPullRequest(t *testing.T) {
	for want, g := range map[string]lab.GateOutcome{
		"**Gate:** passed\n":                       {Verdict: lab.Passed},
		"**Gate:** inconclusive: it is too wide\n": {Verdict: lab.Undecided, Why: "it is too wide"},
		"**Gate:** a regression: cpu of b: worse: +30 % [+20, +40]": {Verdict: lab.Regression,
			Missed: []lab.Comparison{{Metric: "cpu", Variant: "b", Ratio: 1.3, Low: 1.2, High: 1.4, Confidence: 0.95}}},
	} {
		r := eight()
		r.Gate = &g
		var pr bytes.Buffer
		if err := PullRequest(&pr, r, ""); err != nil || !strings.Contains(pr.String(), want) {
			t.Errorf("it does not have %q: %v\n%s", want, err, pr.String())
		}
	}
}

// A gate names each variant and measure that is worse or open, in a pull request and in report.md, however many there are.
// Far beyond that it ends with a whole item, and a number.
func TestGateNamesAll(t *testing.T) {
	for _, n := range []int{1, 12, 100, 1000} {
		r := eight()
		r.Gate = &lab.GateOutcome{Verdict: lab.Regression}
		var names, open []string
		for i := range n {
			c := lab.Comparison{Metric: "p99.9", Level: "c100", Variant: fmt.Sprintf("variant_%d_of-a-long-name", i), Ratio: 1.3, Low: 1.2, High: 1.4, Confidence: 0.95}
			r.Gate.Missed = append(r.Gate.Missed, c)
			c.Variant = fmt.Sprintf("open-%d", i)
			open = append(open, c.Place()+": +5 % [−10, +20], which leaves it open")
			names = append(names, "p99.9 of "+r.Gate.Missed[i].Variant+" at c100: worse: +30 % [+20, +40]")
		}
		r.Gate.Open = open
		names = append(names, open...)
		for name, write := range map[string]func(io.Writer) error{
			"pr.md":     func(w io.Writer) error { return PullRequest(w, r, "x.svg") },
			"report.md": func(w io.Writer) error { return ExperimentMarkdown(w, r) },
		} {
			text := reporttest.Text(t, func(b *strings.Builder) error { return write(b) })
			said := 0
			for _, one := range names {
				if strings.Contains(text, one) {
					said++
				}
			}
			left := fmt.Sprintf("; and %d more: ", len(names)-said)
			if n <= 100 && said < len(names) || n == 1000 && (said < 500 || said == len(names) || !strings.Contains(text, left)) {
				t.Errorf("%s of %d variants names %d", name, n, said)
			}
			if size := utf8.RuneCountInString(text); size > 65_536 {
				t.Errorf("%s of %d variants has %d characters, and GitHub takes 65,536", name, n, size)
			}
			if strings.Count(strings.ReplaceAll(text, "*", ""), "Gate: ") != 1 || strings.Contains(text, "The gate found") ||
				!strings.Contains(text, "keepalive-0: not comparable") {
				t.Errorf("%s of %d variants:\n%s", name, n, text)
			}
		}
	}
}

// All tables of a report have the same verdict for a comparison as its first lines.
func TestOneVerdictEverywhere(t *testing.T) {
	r := eight()
	text := reporttest.Text(t, func(b *strings.Builder) error { return Experiment(b, r, format.Style{Width: 100, Detail: true}) })
	for _, never := range []string{"is different", "equivalent", "inconclusive", "rounds more are needed", "-v\n"} {
		if strings.Contains(text, never) {
			t.Errorf("it has %q:\n%s", never, text)
		}
	}
	for _, want := range []string{"Not valid: the generator was the limit", "not valid, client-bound",
		"go by CPU per request, or load below the generator's limit, at 25,000/s (levels: [{rate: 25000}])"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("it does not have %q:\n%s", want, text)
		}
	}
}

// How many variants can be compared, if not all, stands above the verdicts of every report, unfolded and once. The reason
// stands below.
func TestUncoveredStandsAboveVerdicts(t *testing.T) {
	const want, why = "7 of 8 variants can be compared; keepalive-0 was not tested", "not comparable (fairness: strict)"
	text := func(write func(io.Writer) error) string {
		return reporttest.Text(t, func(b *strings.Builder) error { return write(b) })
	}
	for name, got := range map[string]string{
		"brief": text(func(w io.Writer) error { return Experiment(w, eight(), format.Style{Width: 100}) }),
		"md":    text(func(w io.Writer) error { return ExperimentMarkdown(w, eight()) }),
		"pr.md": text(func(w io.Writer) error { return PullRequest(w, eight(), "") }),
	} {
		at, verdict, reason := strings.Index(got, want), strings.Index(got, "better"), strings.Index(got, why)
		if at < 0 || verdict < at || reason < verdict || strings.Count(got, "of 8 variants") != 1 || strings.Count(got, why) != 1 {
			t.Errorf("%s: at %d, the first verdict at %d, the reason at %d:\n%s", name, at, verdict, reason, got)
		}
		if fold := strings.Index(got, "<details"); fold >= 0 && fold < at {
			t.Errorf("%s: it is folded:\n%s", name, got)
		}
	}
}
