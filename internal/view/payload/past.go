package payload

import (
	"math"
	"path/filepath"
	"slices"
	"time"

	"dyno/internal/lab"
	"dyno/internal/store"
	"dyno/internal/view/format"
	"dyno/internal/view/historytext"
)

// A Past is what the runs of an experiment on a machine found, one after the other.
type Past struct {
	Runs    []pastRun    `json:"runs"`               // oldest first; the last is the one of the page
	LeftOut int          `json:"left_out,omitempty"` // older ones, for which there is no room
	Lines   []pastLine   `json:"lines"`
	Differs []difference `json:"differs,omitempty"` // what not all of Runs ran in and on
}

// A pastRun is one run of the experiment.
type pastRun struct {
	ID      string    `json:"id"` // its folder's name
	Started time.Time `json:"started"`
	Dyno    string    `json:"dyno"`
	Trials  int       `json:"trials"`
}

// A pastLine is an arm's medians by a measure at a level, an entry for each of Past.Runs. Low and
// High are their 95 % intervals, where there were trials enough.
type pastLine struct {
	Arm       string          `json:"arm"`
	Level     string          `json:"level"`
	Metric    string          `json:"metric"`
	Median    column          `json:"median"`
	Low       column          `json:"low"`
	High      column          `json:"high"`
	Over      []bool          `json:"over,omitempty"` // the median is only known to be higher
	Changes   []Turn          `json:"changes,omitempty"`
	Stretches []store.Stretch `json:"stretches,omitempty"` // of Runs, if there are changes
}

// A Turn is a change point as a plot has it.
type Turn struct {
	At      int      `json:"at"` // of the runs, the first after it
	Verdict string   `json:"verdict"`
	Ratio   float64  `json:"ratio"`
	Low     float64  `json:"low"` // of its 95 % interval
	High    float64  `json:"high"`
	Words   string   `json:"words"`
	Texts   turnText `json:"texts"`
}

// A turnText is how a page writes the numbers of a Turn.
type turnText struct {
	Ratio string `json:"ratio"`
	Low   string `json:"low"`
	High  string `json:"high"`
}

// TurnsOf are the changes of a series.
func TurnsOf(s store.Series) []Turn {
	var all []Turn
	for _, c := range s.Changes {
		text := func(f float64) string { return format.RatioIn(f, c.Low, c.High) }
		all = append(all, Turn{s.RunsBefore(c), c.Verdict, c.Ratio, c.Low, c.High,
			historytext.ChangeWords(c), turnText{text(c.Ratio), text(c.Low), text(c.High)}})
	}
	return all
}

const (
	pastMost = 60      // runs that are drawn, the newest
	pastRoom = 300_000 // bytes of all lines together
	pastSize = 3 * 7   // bytes of a run in a line, about
)

// PastOf is the past of r, of which earlier are the runs before it, oldest first (lab.Earlier);
// nil if there are none.
func PastOf(r *lab.Record, earlier []*lab.Record) *Past {
	if len(earlier) == 0 {
		return nil
	}
	room := max(2, min(pastMost, pastRoom/pastSize/max(len(r.Cells), 1)))
	runs := append(slices.Clone(earlier), r)
	p := &Past{LeftOut: max(len(runs)-room, 0)}
	runs = runs[p.LeftOut:]
	var seen survey
	for _, one := range runs {
		p.Runs = append(p.Runs, pastRun{folderName(one.Dir), one.Started, one.Dyno, len(one.Trials)})
		seen.beginTrial()
		for _, f := range one.Environment() {
			seen.noteValue(f.Name, format.Clip(f.Value, longestValue))
		}
	}
	p.Differs = seen.conditions().Differs
	for _, c := range r.Cells {
		p.Lines = append(p.Lines, pastOf(c, runs))
	}
	return p
}

// folderName is the name of a folder, however it was written.
func folderName(dir string) string {
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	return filepath.Base(dir)
}

// pastOf is a cell in each of the runs.
func pastOf(of lab.Cell, runs []*lab.Record) pastLine {
	absent := math.NaN()
	l := pastLine{Arm: of.Arm, Level: of.Level, Metric: of.Metric}
	s := store.Series{}
	var places []int // of s.Runs among all
	for i, r := range runs {
		l.Median, l.Low, l.High = append(l.Median, absent), append(l.Low, absent), append(l.High, absent)
		at := slices.IndexFunc(r.Cells, func(c lab.Cell) bool {
			return c.Arm == of.Arm && c.Level == of.Level && c.Metric == of.Metric
		})
		if at < 0 {
			continue
		}
		v := r.Cells[at].Median
		l.Median[i] = v.Estimate
		if lab.Holds(v) {
			l.Low[i], l.High[i] = v.Low, v.High
		}
		s.Runs = append(s.Runs, store.Run{ID: folderName(r.Dir), Started: r.Started, Value: v.Estimate,
			Over: r.Cells[at].Over})
		if r.Cells[at].Over {
			if l.Over == nil {
				l.Over = make([]bool, len(runs))
			}
			l.Over[i] = true
		}
		places = append(places, i)
	}
	for _, m := range lab.Measures {
		if m.Name == of.Metric {
			s.Metric, s.Changes = m, store.FindChanges(m, s.Runs)
		}
	}
	if len(s.Changes) == 0 {
		return l
	}
	l.Changes, l.Stretches = TurnsOf(s), s.Stretches()
	for i := range l.Changes {
		l.Changes[i].At = places[l.Changes[i].At]
	}
	for i := range l.Stretches {
		t := &l.Stretches[i]
		t.From, t.To = places[t.From], places[t.To-1]+1
	}
	return l
}
