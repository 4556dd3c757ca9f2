package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dyno/internal/digits"
	"dyno/internal/lab"
	"dyno/internal/stats"
)

// sensitivityOf computes how much the settings of the generator that were tried move their cell;
// nil if none was tried. What was skipped is that of the record.
func sensitivityOf(r *lab.Record, trials []*lab.Trial) *lab.Sensitivity {
	trials = slices.DeleteFunc(slices.Clone(trials), func(t *lab.Trial) bool {
		return !t.TriesGenerator()
	})
	if len(trials) == 0 {
		return nil
	}
	s := &lab.Sensitivity{Level: trials[0].Level, Metric: "throughput"}
	if r.Sensitive != nil {
		s.Skipped = r.Sensitive.Skipped
	}
	s.Arm, _, _ = strings.Cut(trials[0].Arm, " [")
	for _, t := range trials {
		s.Trials = append(s.Trials, t.Summary())
	}
	for _, l := range r.Experiment.Levels {
		if l.Name == s.Level && l.IsOpen() {
			s.Metric = "p50"
		}
	}
	rows := settingRows(s, trials)
	together := stats.SimultaneousIntervals(rows, lab.Confidence)
	for i, v := range together {
		s.Settings[i].Ratio = stats.Interval{Low: math.Exp(v.Low), Estimate: math.Exp(v.Estimate),
			High: math.Exp(v.High), Level: v.Level}
	}
	concludeSensitivity(s, max(float64(r.Experiment.Design.Margin), controlFloor(r, s)))
	return s
}

// settingRows are the log ratios of each setting to what was asked for, by round. It lists the
// settings in s.
func settingRows(s *lab.Sensitivity, trials []*lab.Trial) (rows [][]float64) {
	m, _ := lab.MeasureNamed(s.Metric)
	cells, asked := groupTrials(trials), lab.SettingArm(s.Arm, lab.AsAsked)
	var seen []string
	for _, t := range trials {
		if t.Arm == asked || slices.Contains(seen, t.Arm) {
			continue
		}
		seen = append(seen, t.Arm)
		p := pairArms(cells, m, s.Level, asked, t.Arm)
		if len(p.logs) == 0 {
			continue
		}
		s.Settings = append(s.Settings, lab.SensitiveSetting{Name: s.SettingOf(t.Arm),
			Trials: len(p.logs)})
		rows = append(rows, p.row)
	}
	return rows
}

// controlFloor is the share by which A/A says that the cell may differ from itself; 0 if that is
// not known.
func controlFloor(r *lab.Record, s *lab.Sensitivity) float64 {
	for _, c := range r.Verdicts {
		if c.Control && c.Baseline == s.Arm && c.Metric == s.Metric && c.Level == s.Level &&
			c.Alone.Level >= lab.Confidence-1e-9 && c.Alone.Low > 0 {
			return max(c.Alone.High, 1/c.Alone.Low) - 1
		}
	}
	return 0
}

// concludeSensitivity says in a sentence how much the generator matters: the setting that moves the
// cell most of those that move it by at least the margin, or how much none moves it.
func concludeSensitivity(s *lab.Sensitivity, margin float64) {
	most, widest := -1, 0.0
	for i, v := range s.Settings {
		if v.Ratio.Level < lab.Confidence-1e-9 {
			s.Sentence = fmt.Sprintf("whether the choice of generator moves %s of %s at %s is open: %d "+
				"rounds are too few", s.Metric, s.Arm, s.Level, v.Trials)
			return
		}
		widest = max(widest, v.Ratio.High-1, 1/v.Ratio.Low-1)
		apart := v.Ratio.Low > 1 || v.Ratio.High < 1
		if apart && distance(v.Ratio) >= margin &&
			(most < 0 || distance(v.Ratio) > distance(s.Settings[most].Ratio)) {
			most = i
		}
	}
	if most < 0 && widest > 1 {
		s.Sentence = fmt.Sprintf("whether the choice of generator moves %s of %s at %s is open: the "+
			"rounds differ too much", s.Metric, s.Arm, s.Level)
		return
	}
	if most < 0 {
		s.Sentence = fmt.Sprintf("the choice of generator is not shown to move %s of %s at %s; it may "+
			"move it by up to %.0f %%", s.Metric, s.Arm, s.Level, math.Ceil(100*widest))
		return
	}
	s.Matters = true
	v := s.Settings[most].Ratio
	low, high := 100*(v.Low-1), 100*(v.High-1)
	if v.Estimate < 1 {
		low, high = -high, -low
	}
	s.Sentence = fmt.Sprintf("the choice of generator moves %s of %s at %s by %s %% [%s, %s] "+
		"(%s)", s.Metric, s.Arm, s.Level, twoOf(math.Abs(100*(v.Estimate-1))), twoOf(low), twoOf(high),
		s.Settings[most].Name)
}

// twoOf is a percentage with two significant digits.
func twoOf(x float64) string { return digits.Significant(x, 2) }

// distance is by which share a ratio differs from 1.
func distance(v stats.Interval) float64 { return max(v.Estimate, 1/v.Estimate) - 1 }
