package labreport

import (
	"strings"
	"testing"
	"unicode"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// Whatever an experiment found, no sentence and no table of it has a number with an exponent.
func TestNoFigureHasAnExponent(t *testing.T) {
	for _, size := range []float64{1e-9, 1e-3, 1, 1e3, 1e9, 1e18} {
		r := servers()
		for i := range r.Verdicts {
			c := &r.Verdicts[i]
			c.Ratio, c.Low, c.High, c.Margin, c.Floor = size, size/1e3, size*1e3, size, 2*size
			c.Verdict = []stats.Verdict{stats.Different, stats.Negligible, stats.Equivalent,
				stats.Inconclusive}[i%4]
		}
		r.Experiment = &experiment.Experiment{Design: experiment.Design{Metrics: []experiment.Metric{"p99"}},
			Levels: []experiment.Level{{Name: "c10", Connections: 10}}}
		r.Noise = []lab.Noise{{Metric: "p99", Level: "c10", Now: size, Usual: size}}
		r.Advice = &lab.Advice{Within: size, Between: size, CostS: size}
		r.Cells = []lab.Cell{{Arm: "go", Level: "c10", Metric: "p99", Unit: "µs",
			Median: stats.Interval{Low: size / 1e3, Estimate: size, High: size * 1e3, Level: 0.95}}}
		words := reporttest.Text(t, func(b *strings.Builder) error { return Experiment(b, r, format.Style{Detail: true}) })
		words += strings.Join(ExperimentWordsOf(r).Verdicts, "\n")
		for _, word := range strings.FieldsFunc(words, func(c rune) bool {
			return unicode.IsSpace(c) || strings.ContainsRune("[](),;:", c)
		}) {
			if strings.ContainsAny(word, "0123456789") && strings.ContainsAny(strings.TrimPrefix(word, "+"), "+∞") ||
				strings.Contains(word, "e-0") {
				t.Errorf("with figures around %g: %q", size, word)
			}
		}
	}
}
