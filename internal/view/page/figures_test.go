package page

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
	"dyno/internal/view/labreport"
	"dyno/internal/view/page/pagetest"
)

// Whatever an experiment found, its page writes each ratio, each end of an interval and each
// median as the text report does, figure by figure.
func TestFiguresOfPageAndTextAreAlike(t *testing.T) {
	dir := experimentFolder(t, 7, 2)
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 5))
		wild := func() float64 { return math.Pow(10, 7*random.Float64()-3) }
		rewrite(t, filepath.Join(dir, "experiment.json"), func(record map[string]any) {
			for _, c := range record["verdicts"].([]any) {
				v, at := c.(map[string]any), wild()
				v["ratio"], v["low"], v["high"] = at, at/(1+wild()), at*(1+wild())
				v["confidence"] = []float64{0.5, 0.96}[random.IntN(2)]
			}
			for _, c := range record["cells"].([]any) {
				m, at := c.(map[string]any)["median"].(map[string]any), wild()
				m["estimate"], m["low"], m["high"] = at, at/(1+wild()), at*(1+wild())
				m["level"] = []float64{0.5, 0.96}[random.IntN(2)]
			}
		})
		r, err := judge.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		html, _ := experimentHTML(t, dir)
		tab := chromium.OpenPage(t, html)
		tab.ShowTables()
		alike(t, tab, r)
	}
}

// alike fails the test unless what a tab shows of verdicts and medians is what text has.
func alike(t *testing.T, tab *pagetest.Tab, r *lab.Record) {
	t.Helper()
	var b bytes.Buffer
	if err := labreport.WholeMarkdown(&b, r); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(b.String(), `\`, "")
	shown := func(key string) []string {
		return pagetest.Evaluate[[]string](tab, fmt.Sprintf(
			`[...document.querySelectorAll('#verdicts [data-key="%s"], #verdict [data-key="%[1]s"], .view [data-key="%[1]s"]')].map((e) => e.textContent)`,
			key))
	}
	for i, c := range r.Verdicts {
		at := fmt.Sprintf("record.verdicts.%d.", i)
		ratios := shown(at + "ratio")
		if len(ratios) < 2 {
			t.Fatalf("%d ratios of verdict %d", len(ratios), i)
		}
		for _, ratio := range ratios {
			row := "| " + c.Variant + " | " + ratio + " | "
			if c.Confidence >= 0.95 {
				row += "[" + shown(at + "low")[0] + ", " + shown(at + "high")[0] + "] | "
			} else {
				row += "– | "
			}
			if row = strings.ReplaceAll(row, "<", "&lt;"); !strings.Contains(text, row) {
				t.Errorf("verdict %d of %g [%g, %g]: no line of the text has %q", i, c.Ratio, c.Low, c.High, row)
			}
		}
	}
	medians := 0
	for i, c := range r.Cells {
		key := fmt.Sprintf("record.cells.%d.median.estimate", i)
		for _, median := range pagetest.Evaluate[[]string](tab, fmt.Sprintf(
			`[...document.querySelectorAll('#medians-closed [data-key="%s"], #medians-open [data-key="%[1]s"]')].map((e) => e.textContent)`, key)) {
			judged := false
			for _, m := range r.Experiment.Design.Metrics {
				judged = judged || string(m) == c.Metric
			}
			if judged {
				medians++
			}
			if judged && !strings.Contains(text, "| "+median+" |") {
				t.Errorf("the median %g [%g, %g] is %q, and the text has no such cell", c.Median.Estimate,
					c.Median.Low, c.Median.High, median)
			}
		}
	}
	if medians < 6 {
		t.Errorf("%d medians were compared", medians)
	}
}
