package judge

import (
	"math"
	"slices"
	"strings"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/say"
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
			lab.Holds(c.Alone) && c.Alone.Low > 0 {
			return max(c.Alone.High, 1/c.Alone.Low) - 1
		}
	}
	return 0
}

// concludeSensitivity says how much the generator matters: the setting that moves the cell most of
// those that move it by at least the margin, or how much none moves it.
func concludeSensitivity(s *lab.Sensitivity, margin float64) {
	f := warn(generatorChoice(s, margin), fact.Scope{Variant: s.Arm, Level: s.Level})
	if !s.Matters {
		f.Severity = fact.Note
	}
	s.Fact, s.Sentence = &f, say.Sentence(f)
}

// generatorChoice is what the settings of the generator show. It sets whether they matter.
func generatorChoice(s *lab.Sensitivity, margin float64) fact.GeneratorChoice {
	a := fact.GeneratorChoice{Metric: s.Metric}
	most, widest := -1, 0.0
	for i, v := range s.Settings {
		if !lab.Holds(v.Ratio) {
			a.Open, a.Rounds = fact.TooFewRounds, v.Trials
			return a
		}
		widest = max(widest, v.Ratio.High-1, 1/v.Ratio.Low-1)
		apart := v.Ratio.Low > 1 || v.Ratio.High < 1
		if apart && distance(v.Ratio) >= margin &&
			(most < 0 || distance(v.Ratio) > distance(s.Settings[most].Ratio)) {
			most = i
		}
	}
	switch {
	case most < 0 && widest > 1:
		a.Open = fact.RoundsDiffer
	case most < 0:
		a.High = 100 * widest
	default:
		s.Matters = true
		v := s.Settings[most].Ratio
		a.Setting, a.Percent = s.Settings[most].Name, math.Abs(100*(v.Estimate-1))
		a.Low, a.High = 100*(v.Low-1), 100*(v.High-1)
		if v.Estimate < 1 {
			a.Low, a.High = -a.High, -a.Low
		}
	}
	return a
}

// distance is by which share a ratio differs from 1.
func distance(v stats.Interval) float64 { return max(v.Estimate, 1/v.Estimate) - 1 }
