package luascript

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"dyno/internal/engine/metric"
	lua "github.com/yuin/gopher-lua"
)

// This file has dyno.counter, dyno.histogram and dyno.check.

// mostMeasures is how many counters and histograms a script can have. A histogram takes 264 kB in
// each thread.
const mostMeasures = 100

// longestName is how many characters the name of one can have.
const longestName = 100

// Thousandths: histograms have values from 0.001 to greatestValue, with three digits.
const (
	perUnit       = 1000
	greatestValue = float64(metric.Longest) / perUnit
)

// measures are the counters and histograms of one machine.
type measures struct {
	all    map[string]*measure
	paused bool // in a warm-up nothing counts
}

// A measure is one of them.
type measure struct {
	metric.Named
	owner *measures
}

// Named are all of them, in the order of their names.
func (m *measures) named() (all []metric.Named) {
	for _, name := range slices.Sorted(maps.Keys(m.all)) {
		all = append(all, m.all[name].Named)
	}
	return all
}

// keep has the measures be those of the whole run.
func (m *measures) keep(all []metric.Named) {
	m.paused = true
	for _, one := range all {
		if known := m.all[one.Name]; known != nil {
			known.Named = one
		} else {
			m.all[one.Name] = &measure{one, m}
		}
	}
}

// open makes the table dyno of a machine.
func (t *machine) openDyno() {
	t.measures.all = map[string]*measure{}
	counter := t.NewTypeMetatable("dyno.counter")
	counter.RawSetString("__index", t.SetFuncs(t.NewTable(), map[string]lua.LGFunction{
		"add": addToCounter, "value": counterValue}))
	histogram := t.NewTypeMetatable("dyno.histogram")
	methods := t.SetFuncs(t.NewTable(), map[string]lua.LGFunction{
		"record": recordValue, "percentile": histogramPercentile})
	histogram.RawSetString("__index", t.NewClosure(histogramField, methods))
	histogram.RawSetString("__len", t.NewFunction(histogramCount))
	dyno := t.SetFuncs(t.NewTable(), map[string]lua.LGFunction{
		"counter":   t.definer(counter, false),
		"histogram": t.definer(histogram, true),
		"check":     t.check,
		"stream":    t.markStream,
	})
	t.openUser(dyno)
	t.SetGlobal("dyno", dyno)
	for _, name := range t.counters {
		_, _ = t.measures.define(name, false) // a name that cannot be is an error where it is used
	}
	for _, name := range t.histograms {
		_, _ = t.measures.define(name, true)
	}
}

// definer returns dyno.counter or dyno.histogram: the measure of a name, which is new or known.
func (t *machine) definer(methods *lua.LTable, isHistogram bool) lua.LGFunction {
	values := map[string]*lua.LUserData{}
	return func(l *lua.LState) int {
		name := l.CheckString(1)
		if values[name] == nil {
			m, err := t.measures.define(name, isHistogram)
			if err != nil {
				l.RaiseError("%v", err)
			}
			values[name] = &lua.LUserData{Value: m, Metatable: methods}
		}
		l.Push(values[name])
		return 1
	}
}

// define is the measure of a name.
func (m *measures) define(name string, isHistogram bool) (*measure, error) {
	known := m.all[name]
	switch {
	case known != nil && (known.Histogram != nil) != isHistogram:
		return nil, fmt.Errorf("%q is a counter and a histogram; give one another name", name)
	case known != nil:
		return known, nil
	case !isName(name):
		return nil, fmt.Errorf("%.120q is no name: it has 1 to %d characters that can be printed", name,
			longestName)
	case len(m.all) >= mostMeasures:
		return nil, fmt.Errorf("there are more than %d counters and histograms", mostMeasures)
	}
	known = &measure{metric.Named{Name: name}, m}
	if isHistogram {
		known.Histogram = metric.NewHistogram(metric.Fine)
	}
	m.all[name] = known
	return known, nil
}

// isName reports whether a report can have a row of that name.
func isName(name string) bool {
	n := utf8.RuneCountInString(name)
	for _, r := range name {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return n > 0 && n <= longestName
}

// measureOf is the measure of which a method is called.
func measureOf(l *lua.LState) *measure {
	m, is := l.CheckUserData(1).Value.(*measure)
	if !is {
		l.ArgError(1, "a counter or a histogram is wanted, as in dyno.counter(name):add(1)")
	}
	return m
}

func addToCounter(l *lua.LState) int {
	m, n := measureOf(l), float64(l.OptNumber(2, 1))
	if sum := m.Sum + n; math.IsNaN(sum) || math.IsInf(sum, 0) {
		l.ArgError(2, "is no number that can be added")
	}
	if !m.owner.paused {
		m.Sum += n
	}
	return 0
}

func counterValue(l *lua.LState) int {
	l.Push(lua.LNumber(measureOf(l).Sum))
	return 1
}

func recordValue(l *lua.LState) int {
	m, x := measureOf(l), float64(l.CheckNumber(2))
	if !(x >= 0 && x <= greatestValue) || m.Histogram == nil {
		l.ArgError(2, fmt.Sprintf("a histogram has values from 0 to %.0f", greatestValue))
	}
	if !m.owner.paused {
		m.Histogram.Record(int64(math.Round(x * perUnit)))
	}
	return 0
}

func histogramCount(l *lua.LState) int {
	l.Push(lua.LNumber(measureOf(l).Histogram.Count))
	return 1
}

func histogramPercentile(l *lua.LState) int {
	m, p := measureOf(l), float64(l.CheckNumber(2))
	l.Push(lua.LNumber(float64(m.Histogram.View().Quantile(p/100)) / perUnit))
	return 1
}

// histogramField is a method or a value of a histogram.
func histogramField(l *lua.LState) int {
	h, name := measureOf(l).Histogram, l.CheckString(2)
	switch name {
	case "min":
		l.Push(lua.LNumber(float64(h.Min) / perUnit))
	case "max":
		l.Push(lua.LNumber(float64(h.Max) / perUnit))
	case "mean":
		l.Push(lua.LNumber(h.Mean() / perUnit))
	case "stdev":
		l.Push(lua.LNumber(h.View().Stdev() / perUnit))
	default:
		l.Push(l.CheckTable(lua.UpvalueIndex(1)).RawGetString(name))
	}
	return 1
}

// check is dyno.check(name, ok): an error of the response that is handled if it is not ok.
func (t *machine) check(l *lua.LState) int {
	name, ok := l.CheckString(1), l.ToBool(2)
	number := slices.Index(t.checks, name)
	switch {
	case number < 0:
		l.RaiseError("dyno.check: the name %q is not written in the script as dyno.check(%q, …), by "+
			"which the checks are known before the load", name, name)
	case t.response == nil:
		l.RaiseError("dyno.check is about a response: call it in response()")
	}
	t.response.Check(number, ok)
	l.Push(lua.LBool(ok))
	return 1
}
