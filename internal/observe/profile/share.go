package profile

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	pprof "github.com/google/pprof/profile"
)

// A Part is what some of a profile's samples have in common, as a share of all.
type Part struct {
	Value int64   `json:"value"` // in the unit of the profile
	Share float64 `json:"share"` // of the profile's total, 0 to 1
	// Samples is how many there are; absent in profiles that do not count them, as those of
	// memory and of waiting.
	Samples  int64     `json:"samples,omitempty"`
	Interval *Interval `json:"interval,omitempty"` // of Share; absent without Samples
}

// An Interval holds the true share in 95 of 100 profiles, if the samples are independent.
// Neighbouring samples of one request are not quite, so that it is rather too narrow.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A FunctionShare is what the functions of a name take of a profile.
type FunctionShare struct {
	Function string `json:"function"`
	Type     string `json:"type"` // of the values: cpu, inuse_space, delay, …
	Unit     string `json:"unit"` // of the values: nanoseconds, bytes, count
	Total    int64  `json:"total"`
	Samples  int64  `json:"samples,omitempty"` // of the whole profile
	// Flat is the share of the samples whose innermost function has the name, Cumulative of
	// those that have it anywhere in the stack.
	Flat       Part `json:"flat"`
	Cumulative Part `json:"cumulative"`
}

// Share is what the functions whose name contains function take of p. A profile without
// samples has no shares: ok is false. A share of 0 is one, with an interval.
func Share(p *Profile, function string) (s FunctionShare, ok bool) {
	w := newWeighing(p)
	s = FunctionShare{Function: function, Type: w.kind.Type, Unit: w.kind.Unit,
		Total: w.total, Samples: w.samples}
	if w.total <= 0 {
		return s, false
	}
	var flat, cumulative sampleCount
	for _, sample := range p.Sample {
		matched := false
		for i, f := range framesOf(sample) {
			if !strings.Contains(f.name, function) {
				continue
			}
			if i == 0 {
				flat.addSample(w.sampleWeight(sample))
			}
			matched = true
		}
		if matched {
			cumulative.addSample(w.sampleWeight(sample))
		}
	}
	s.Flat, s.Cumulative = w.partOf(flat), w.partOf(cumulative)
	return s, true
}

// A Line is what one function takes of a profile.
type Line struct {
	Function   string `json:"function"`
	Kernel     bool   `json:"kernel,omitempty"` // it runs in the kernel
	Flat       Part   `json:"flat"`
	Cumulative Part   `json:"cumulative"`
}

// Top are the n functions with the largest flat share, largest first; all for n <= 0. Of a
// profile without samples there are none.
func Top(p *Profile, n int) []Line {
	w := newWeighing(p)
	if w.total <= 0 {
		return nil
	}
	var lines []Line
	for f, t := range w.functionTotals(p) {
		lines = append(lines, Line{f, t.kernel, w.partOf(t.flat), w.partOf(t.cumulative)})
	}
	slices.SortFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(b.Flat.Value, a.Flat.Value),
			cmp.Compare(b.Cumulative.Value, a.Cumulative.Value),
			strings.Compare(a.Function, b.Function))
	})
	if n > 0 && n < len(lines) {
		lines = lines[:n]
	}
	return lines
}

// A Delta is how one function's share differs between two profiles.
type Delta struct {
	Function string  `json:"function"`
	Kernel   bool    `json:"kernel,omitempty"`
	Base     Part    `json:"base"`   // cumulative
	Other    Part    `json:"other"`  // cumulative
	Change   float64 `json:"change"` // Other's share − Base's, −1 to 1
	// Interval is that of Change; one that holds 0 means: not told apart by so few samples.
	Interval   *Interval `json:"interval,omitempty"`
	FlatChange float64   `json:"flat_change"`
}

// Diff is the difference in cumulative share of every function, largest first in either
// direction, and among equals the larger flat difference. Shares are of each profile's own
// total, so the durations may differ; so a function that costs as much as before has a
// smaller share once another costs more.
func Diff(base, other *Profile) ([]Delta, error) {
	wb, wo, err := weighBoth(base, other)
	if err != nil {
		return nil, err
	}
	was, is := wb.functionTotals(base), wo.functionTotals(other)
	var all []Delta
	add := func(name string, b, o *function) {
		d := Delta{Function: name, Kernel: b.kernel || o.kernel,
			Base: wb.partOf(b.cumulative), Other: wo.partOf(o.cumulative),
			FlatChange: wo.partOf(o.flat).Share - wb.partOf(b.flat).Share}
		d.Change = d.Other.Share - d.Base.Share
		d.Interval = newcombeInterval(d.Base, d.Other)
		all = append(all, d)
	}
	for name, b := range was {
		add(name, b, cmp.Or(is[name], &function{}))
	}
	for name, o := range is {
		if was[name] == nil {
			add(name, &function{}, o)
		}
	}
	slices.SortFunc(all, func(a, b Delta) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Change), math.Abs(a.Change)),
			cmp.Compare(math.Abs(b.FlatChange), math.Abs(a.FlatChange)),
			strings.Compare(a.Function, b.Function))
	})
	return all, nil
}

// weighBoth weighs two profiles of the same kind that both have samples.
func weighBoth(base, other *Profile) (b, o weighing, err error) {
	b, o = newWeighing(base), newWeighing(other)
	switch {
	case b.kind != o.kind:
		err = fmt.Errorf("comparing profiles: one is of %s in %s, the other of %s in %s",
			b.kind.Type, b.kind.Unit, o.kind.Type, o.kind.Unit)
	case b.total <= 0:
		err = fmt.Errorf("comparing profiles: the first is %w", ErrNoSamples)
	case o.total <= 0:
		err = fmt.Errorf("comparing profiles: the second is %w", ErrNoSamples)
	}
	return b, o, err
}

// A weighing is the value of each sample that counts: the profile's default, else the last,
// as pprof has it.
type weighing struct {
	kind         kindOfValue
	value, count int // indices into a sample's values; count is -1 where none are counted
	total        int64
	samples      int64
	effective    float64 // samples of equal weight that say as much as these
}

type kindOfValue struct{ Type, Unit string }

func newWeighing(p *Profile) weighing {
	w := weighing{value: len(p.SampleType) - 1, count: -1}
	for i, t := range p.SampleType {
		if t.Type == p.DefaultSampleType {
			w.value = i
		}
		if t.Type == "samples" && t.Unit == "count" {
			w.count = i
		}
	}
	if w.value < 0 {
		return w
	}
	w.kind = kindOfValue{p.SampleType[w.value].Type, p.SampleType[w.value].Unit}
	// Kish's effective size: the square of the sum over the sum of the squares. A sample
	// stands for count equal ones.
	squares := 0.0
	for _, s := range p.Sample {
		v, n := w.sampleWeight(s)
		w.total += v
		w.samples += n
		if n > 0 {
			squares += float64(v) * float64(v) / float64(n)
		}
	}
	if squares > 0 {
		w.effective = float64(w.total) * float64(w.total) / squares
	}
	return w
}

// sampleWeight is a sample's value and how many it stands for, 0 where none are counted.
func (w weighing) sampleWeight(s *pprof.Sample) (value, count int64) {
	if w.count >= 0 {
		count = s.Value[w.count]
	}
	return s.Value[w.value], count
}

// A sampleCount adds samples.
type sampleCount struct{ value, count int64 }

func (t *sampleCount) addSample(value, count int64) {
	t.value, t.count = t.value+value, t.count+count
}

func (w weighing) partOf(t sampleCount) Part {
	p := Part{Value: t.value, Share: float64(t.value) / float64(w.total), Samples: t.count}
	if w.effective > 0 {
		p.Interval = wilsonInterval(p.Share, w.effective)
	}
	return p
}

type function struct {
	flat, cumulative sampleCount
	kernel           bool
	last             int // the number of the sample that it was counted in
}

// functionTotals are the tallies of all functions by name. A function that is twice in a stack
// counts once.
func (w weighing) functionTotals(p *Profile) map[string]*function {
	all := map[string]*function{}
	for number, sample := range p.Sample {
		for i, frame := range framesOf(sample) {
			f := all[frame.name]
			if f == nil {
				f = &function{kernel: frame.kernel, last: -1}
				all[frame.name] = f
			}
			if i == 0 {
				f.flat.addSample(w.sampleWeight(sample))
			}
			if f.last != number {
				f.last = number
				f.cumulative.addSample(w.sampleWeight(sample))
			}
		}
	}
	return all
}

// A frame is one function's place in a stack.
type frame struct {
	name   string
	file   string
	line   int64 // where the function begins
	kernel bool
}

// framesOf are a sample's, from the leaf on; inlined functions are frames as well. What has
// no function goes by the name of its file in brackets.
func framesOf(s *pprof.Sample) []frame {
	all := make([]frame, 0, len(s.Location))
	for _, l := range s.Location {
		file := ""
		if l.Mapping != nil {
			file = l.Mapping.File
		}
		f := frame{name: unknown, kernel: strings.HasPrefix(file, kernelPrefix)}
		if file != "" && file[0] != '[' {
			f.name = "[" + path.Base(file) + "]"
		}
		if len(l.Line) == 0 {
			all = append(all, f)
		}
		for _, line := range l.Line {
			if fn := line.Function; fn != nil {
				f.name, f.file, f.line = fn.Name, fn.Filename, fn.StartLine
			}
			all = append(all, f)
		}
	}
	return all
}

// z is the standard normal distribution's 97.5 % quantile.
const z = 1.959963984540054

// wilsonInterval is the interval of a share seen in n samples. Source: Wilson, "Probable Inference,
// the Law of Succession, and Statistical Inference", JASA 22 (1927); unlike the share ± its
// standard error, it stays within 0 to 1 and has a width at both ends.
func wilsonInterval(share, n float64) *Interval {
	centre := (share + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(max(0, share*(1-share)/n+z*z/(4*n*n)))
	return &Interval{max(0, centre-half), min(1, centre+half)}
}

// newcombeInterval is the interval of other's share − base's from those of each. Source: Newcombe,
// "Interval estimation for the difference between independent proportions", Statistics in
// Medicine 17 (1998), method 10.
func newcombeInterval(base, other Part) *Interval {
	b, o := base.Interval, other.Interval
	if b == nil || o == nil {
		return nil
	}
	change := other.Share - base.Share
	return &Interval{
		max(-1, change-math.Hypot(other.Share-o.Low, b.High-base.Share)),
		min(1, change+math.Hypot(o.High-other.Share, base.Share-b.Low)),
	}
}
