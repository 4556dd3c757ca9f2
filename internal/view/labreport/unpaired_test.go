package labreport

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// repeated are six runs of about a rate, each two minutes after the one before,
// with latencies to match.
func repeated(minute int, rate float64) (all []*result.Result) {
	for i, part := range []float64{1, 1.002, 0.998, 1.003, 0.999, 1.001} {
		r := reporttest.Closed()
		r.ID = ""
		r.Window.Started = r.Window.Started.Add(time.Duration(minute+2*i) * time.Minute)
		r.Rate.Completed = rate * part
		r.Latency = reporttest.Spread(3_000_000, 1e8/r.Rate.Completed)
		all = append(all, r)
	}
	return all
}

func compared(t *testing.T, groups ...judge.Group) *judge.Unpaired {
	t.Helper()
	u, err := judge.CompareGroups(groups, nil, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	u.DecideGate()
	return u
}

// unpaired are comparisons by the name of their goldens.
func unpaired(t *testing.T) map[string]*judge.Unpaired {
	slow, bound := repeated(1, 180_000), repeated(100, 200_900)
	slow[0].Generator.Verdict = result.Suspect
	slow[0].Generator.Reasons = []string{"the generator was busy 85 % of the time"}
	for _, r := range bound {
		r.Generator.Verdict, r.Generator.Reasons = result.ClientBound, []string{"it was busy"}
		r.Generator.BusyPercent = 98
		r.Host.CPU, r.Plan.Threads = "Another CPU", 4
	}
	base := judge.GroupResults("base", repeated(0, 200_000))
	single := func(name string, rs []*result.Result) judge.Group { return judge.GroupResults(name, rs[:1]) }
	return map[string]*judge.Unpaired{
		"groups": compared(t, base, judge.GroupResults("slow", slow), judge.GroupResults("bound", bound),
			judge.GroupResults("three", repeated(300, 150_000)[:3])),
		"singles": compared(t, single("base", repeated(0, 200_000)), single("slow", slow)),
		"streams": compared(t, judge.GroupResults("base", streamingRuns(1)), judge.GroupResults("late", streamingRuns(2))),
	}
}

// streamingRuns are repeated runs of streams, whose routes differ a little.
func streamingRuns(n float64) (all []*result.Result) {
	for i, r := range repeated(int(n)*1000, 200_000) {
		r.Routes = streaming(n).Routes
		r.Routes[0].First.P99 += float64(i) * 1e3
		if i%2 == 1 {
			r.Routes[2].Goodput = nil
		}
		all = append(all, r)
	}
	return all
}

// unpairedPhrases are the sentences of a comparison.
func unpairedPhrases(t *testing.T, u *judge.Unpaired) (all []reporttest.Phrase) {
	t.Helper()
	parts, err := UnpairedParts(u)
	if err != nil {
		t.Fatal(err)
	}
	a, err := UnpairedAnswer(u)
	if err != nil {
		t.Fatal(err)
	}
	all = append(reporttest.Phrases("sentence", a.Sentence), reporttest.Phrases("next", a.Next.Says)...)
	for _, p := range parts {
		name := p.Head
		if name == "" {
			name = "caution"
		}
		all = append(all, reporttest.Phrases(name, p.Text...)...)
	}
	return all
}

// checkBoth compares a comparison with its goldens.
func checkBoth(t *testing.T, name string, u *judge.Unpaired) {
	t.Helper()
	var text, page bytes.Buffer
	if err := errors.Join(Unpaired(&text, u, format.Style{}), UnpairedMarkdown(&page, u)); err != nil {
		t.Fatal(err)
	}
	phrases := unpairedPhrases(t, u)
	golden(t, name+".compare", reporttest.LayoutOf(text.Bytes(), phrases))
	golden(t, name+".compare.md", reporttest.LayoutOf(page.Bytes(), phrases))
}

func TestUnpairedGolden(t *testing.T) {
	for name, u := range unpaired(t) {
		checkBoth(t, name, u)
	}
}

// What a file says of itself is not for the terminal.
func TestUnpairedIsPlain(t *testing.T) {
	const bad = "\x1b[2J\r\n\x00"
	rs := repeated(1, 100)
	rs[0].Plan.Target.URL, rs[0].Plan.Requests[0].Method, rs[0].Host.CPU = bad, bad, bad
	rs[0].Generator.Verdict, rs[0].Generator.Reasons = result.Suspect, []string{bad}
	u := compared(t, judge.GroupResults(bad, rs), judge.GroupResults("other", repeated(2, 100)[1:]))
	var b bytes.Buffer
	if err := errors.Join(Unpaired(&b, u, format.Style{}), UnpairedMarkdown(&b, u)); err != nil {
		t.Fatal(err)
	}
	if at := bytes.IndexAny(b.Bytes(), "\x1b\r\x00"); at >= 0 {
		t.Errorf("%q", b.Bytes()[max(0, at-60):at+5])
	}
	for name, err := range map[string]error{
		"text": Unpaired(reporttest.Full{}, u, format.Style{}), "markdown": UnpairedMarkdown(reporttest.Full{}, u)} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
