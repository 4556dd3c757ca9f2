package payload

import (
	"math"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/observe/probe"
)

// panels are what was watched while trials were measured: of each as many instants as there
// is room for. Where there is none for all trials, those of the last rounds are left out.
type panels struct {
	Trials  []panel `json:"trials"`
	LeftOut int     `json:"left_out,omitempty"` // trials

	room int // bytes
}

// A panel is one trial's recording, in groups that share their instants.
type panel struct {
	Trial     int          `json:"trial"`
	MeasuredS float64      `json:"measured_s"` // the window is from 0 to there
	Groups    []panelGroup `json:"-"`
	Absent    []string     `json:"absent,omitempty"` // what is n/a, and why
}

type panelGroup struct {
	T      column        `json:"t_s"`  // after the window's start
	Over   int           `json:"over"` // readings that a point is the mean of
	Series []panelSeries `json:"series"`
}

type panelSeries struct {
	Name string      `json:"name"`
	Unit string      `json:"unit,omitempty"`
	Of   string      `json:"of,omitempty"`
	Tree string      `json:"tree,omitempty"`
	PID  int         `json:"pid,omitempty"`
	V    columnOrOne `json:"v"`
}

// columnOrOne are a column, or one number where all are the same.
type columnOrOne column

// MarshalJSON writes the numbers, rounded.
func (v columnOrOne) MarshalJSON() ([]byte, error) {
	for _, x := range v {
		if x != v[0] {
			return column(v).MarshalJSON()
		}
	}
	return appendRounded(nil, v[0]), nil
}

const (
	panelsRoom = 400_000 // bytes of all panels together, before they are packed
	panelLeast = 8_000   // of one: with less there would be nothing to see
	pointSize  = 5       // of a number in it, about
	pointsFew  = 8       // of a series that is thinned
)

// addTrial takes over a trial's recording, in about so many bytes.
func (p *panels) addTrial(number int, t *lab.Trial, room int) {
	if t.Meanwhile == nil || t.Result == nil {
		return
	}
	if p.room < room/2 {
		p.LeftOut++
		return
	}
	began := t.Meanwhile.Started.Sub(t.Result.Window.Started).Seconds() - t.Result.Window.WarmupS
	one := panel{Trial: number, MeasuredS: t.Result.Window.MeasuredS, Absent: t.Meanwhile.Unavailable}
	kept := keptSeries(t.Meanwhile.Series)
	points := max(pointsFew, room/pointSize/max(len(kept), 1))
	var last []float64
	for _, s := range kept {
		whole := wholeReadings(s.T)
		if len(one.Groups) == 0 || !sameSlice(s.T, last) {
			over := (whole + points - 1) / points
			at := meanOfEach(s.T[:whole], over)
			for i := range at {
				at[i] += began
			}
			one.Groups = append(one.Groups, panelGroup{T: at, Over: over})
			last = s.T
		}
		g := &one.Groups[len(one.Groups)-1]
		unit, scale := shortUnit(s.Unit)
		v := meanOfEach(s.V[:whole], g.Over)
		for i := range v {
			v[i] *= scale
		}
		g.Series = append(g.Series, panelSeries{s.Name, unit, s.Of, s.Tree, s.PID, columnOrOne(v)})
		p.room -= pointSize*len(v) + 60
	}
	p.Trials = append(p.Trials, one)
}

// wholeReadings is how many readings there are without the very last, if that was taken because
// the trial ended: a rate over a moment is noise.
func wholeReadings(at []float64) int {
	n := len(at)
	if n > 2 && at[n-1]-at[n-2] < (at[n-2]-at[n-3])/2 {
		return n - 1
	}
	return n
}

// keptSeries are those that say something: not what is absent, nor what follows from others.
func keptSeries(all []probe.Series) (kept []probe.Series) {
	for _, s := range all {
		if s.Name == "host.cpu.idle" || s.Name == "host.memory.available" || !hasNumber(s.V) {
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// hasNumber reports whether there is a number among them.
func hasNumber(all []float64) bool {
	for _, x := range all {
		if !math.IsNaN(x) {
			return true
		}
	}
	return false
}

func sameSlice(a, b []float64) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// meanOfEach is the mean of every so many, without those that are absent.
func meanOfEach(all []float64, over int) column {
	var out column
	for i := 0; i < len(all); i += max(over, 1) {
		sum, n := 0.0, 0
		for _, x := range all[i:min(i+max(over, 1), len(all))] {
			if !math.IsNaN(x) {
				sum, n = sum+x, n+1
			}
		}
		out = append(out, sum/float64(n)) // NaN of none
	}
	return out
}

// shortUnit is a unit in which numbers are short, and what to multiply by.
func shortUnit(unit string) (string, float64) {
	if rest, bytes := strings.CutPrefix(unit, "bytes"); bytes {
		return "MB" + rest, 1e-6
	}
	return unit, 1
}
