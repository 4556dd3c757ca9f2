package report

import (
	"math"
	"strings"
	"testing"
	"unicode"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/result"
	"dyno/internal/stats"
)

// A figure has no digit beyond the second of its uncertainty, and none has an exponent.
func TestUncertain(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct{ got, want string }{
		{plusMinus(1913, 47622), "2,000 ± 48,000"}, {plusMinus(15.34, 0.46), "15.3 ± 0.5"},
		{plusMinus(15.34, 0.012), "15.3 ± 0.01"}, {plusMinus(332014, 500), "332,010 ± 500"},
		{plusMinus(332014, 1.4), "332,014 ± 1"}, {plusMinus(499.6, 9.96), "500 ± 10"},
		{plusMinus(0.0123, 0.0004), "0.0123 ± 0.0004"}, {plusMinus(12, 0), "12.0"},
		{plusMinus(12, inf), "12.0"}, {plusMinus(-1913, 47622), "-2,000 ± 48,000"},
		{plusMinus(3, 47622), "3 ± 48,000"}, {plusMinus(200, 47622), "200 ± 48,000"},
		{plusMinus(0, 47622), "0 ± 48,000"}, {plusMinus(-3.4, 47622), "-3 ± 48,000"},
		{withInterval(40, 3, 4000), "40 [3, 4,000]"}, {withInterval(0.4, 0, 4000), "0.4 [0, 4,000]"},
		{withInterval(200100, 199600, 200600), "200,100 [199,600, 200,600]"},
		{withInterval(500, 498.6, 501.2), "500 [499, 501]"}, {withInterval(5, 5, 5), "5.00"},
		{withInterval(1913, 100, 95344), "2,000 [100, 95,000]"},
		{ratioIn(0.287, 0.245, 0.342), "0.287"}, {ratioIn(0.8123, 0.71, 0.93), "0.81"},
		{ratioIn(1.2, 0.012, 144), "1.2"}, {ratioIn(0.0123, 0.0123, 144), "0.012"},
		{ratioIn(144.3, 0.012, 144.3), "144"}, {ratioIn(47622, 0.012, 47622), "48,000"},
		{ratioIn(1.00049, 1.0003, 1.0006), "1.000"}, {ratioIn(inf, 1, inf), "–"}, {ratioIn(0, 0, 2), "0.0"},
		{ratioAlone(1.2345), "1.23"}, {ratioAlone(0.0241), "0.0241"}, {ratioAlone(1913.4), "1,910"},
		{ratioAlone(0), "0.000"}, {ratioAlone(math.NaN()), "–"},
		{inPercent(0.05), "5 %"}, {inPercent(0.0526), "5.26 %"}, {inPercent(1.5), "150 %"},
		{inPercent(72), "more than ten times"}, {inPercent(inf), "more than ten times"},
		{inPercent(1e-9), "below 0.00001 %"}, {inPercent(0.0000123), "0.00123 %"}, {inPercent(0), "0 %"},
		{percentage(0.0009996, 4), "0.09996 %"}, {byPercent(-12.3), "-12 %"}, {byPercent(2300), "more than ten times"},
		{byPercent(123), "+123 %"}, {byPercent(0.5), "+0.5 %"},
		{significantDigits(0.0000012346, 4), "0.000001235"}, {significantDigits(1234567, 3), "1,234,567"}, {significantDigits(2.50, 4), "2.5"},
		{digits3(1e19), "10,000,000,000,000,000,000"},
	} {
		if test.got != test.want {
			t.Errorf("%s, want %s", test.got, test.want)
		}
	}
}

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
		words := text(t, func(b *strings.Builder) error { return Experiment(b, r, Style{}) })
		words += strings.Join(ExperimentWordsOf(r).Verdicts, "\n")
		for _, word := range strings.FieldsFunc(words, func(c rune) bool {
			return unicode.IsSpace(c) || strings.ContainsRune("[](),;:", c)
		}) {
			if strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "+∞") ||
				strings.Contains(word, "e-0") {
				t.Errorf("with figures around %g: %q", size, word)
			}
		}
	}
}

// A setting that is a whole number is shown as one, however large: it is a seed.
func TestSeedsDifferAsWholeNumbers(t *testing.T) {
	a, b := late(), late()
	a.Plan.Seed, b.Plan.Seed = 7_339_825_175_987_076, 7
	words := text(t, func(w *strings.Builder) error { return Compare(w, []*result.Result{a, b}) })
	if !strings.Contains(words, "7339825175987076") || strings.Contains(words, "e+15") {
		t.Error(words)
	}
}
