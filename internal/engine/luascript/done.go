package luascript

import (
	"io"
	"math"

	"dyno/internal/engine/metric"
	lua "github.com/yuin/gopher-lua"
)

// A Summary is what done is given of a run.
type Summary struct {
	Duration                              float64 // of the measured window, in µs
	Requests, Bytes                       int64   // answered, and received
	Connect, Read, Write, Status, Timeout int64   // errors, as wrk counts them
	Latency                               Statistics
	Rates                                 Statistics // requests a second of each thread
	Measures                              []metric.Named
	Checks                                []Check
}

// A Check is how often dyno.check of a name was ok.
type Check struct {
	Name           string
	Passed, Failed int64
}

// Statistics are a distribution, in the unit in which scripts see it.
type Statistics struct {
	Min, Max, Mean, Stdev float64
	Values                []Value // in ascending order
}

// A Value is one of a distribution, and how often it was counted.
type Value struct {
	At    float64
	Count int64
}

// NewStatistics are the statistics of some values, which are given in ascending order.
func NewStatistics(values []float64) (s Statistics) {
	if len(values) == 0 {
		return s
	}
	s.Min, s.Max = values[0], values[len(values)-1]
	for _, v := range values {
		s.Mean += v / float64(len(values))
		s.Values = append(s.Values, Value{v, 1})
	}
	for _, v := range values {
		s.Stdev += (v - s.Mean) * (v - s.Mean)
	}
	s.Stdev = math.Sqrt(s.Stdev / float64(max(len(values)-1, 1)))
	return s
}

// percentile is the value that so many percent did not exceed.
func (s *Statistics) percentile(p float64) float64 {
	total, below := int64(0), int64(0)
	for _, v := range s.Values {
		total += v.Count
	}
	rank := max(int64(math.Round(p/100*float64(total)+0.5)), 1)
	for _, v := range s.Values {
		if below += v.Count; below >= rank {
			return v.At
		}
	}
	return s.Max
}

// Done calls the script's function done, if there is one. The load is over.
func (m *Maker) Done(s Summary) error {
	f := m.main.function("done")
	if f == nil {
		return nil
	}
	t := m.main
	t.measures.keep(s.Measures)
	meta := t.NewTypeMetatable("wrk.stats")
	t.SetFuncs(meta, map[string]lua.LGFunction{"__index": statisticsField, "__len": statisticsLength,
		"__call": statisticsValue})
	stats := func(of *Statistics) *lua.LUserData { return &lua.LUserData{Value: of, Metatable: meta} }
	return t.setUp(0, f, t.summaryTable(s), stats(&s.Latency), stats(&s.Rates))
}

// summaryTable is the first argument of done.
func (t *machine) summaryTable(s Summary) *lua.LTable {
	table := func(fields map[string]float64) *lua.LTable {
		all := t.NewTable()
		for name, v := range fields {
			all.RawSetString(name, lua.LNumber(v))
		}
		return all
	}
	summary := table(map[string]float64{"duration": s.Duration, "requests": float64(s.Requests),
		"bytes": float64(s.Bytes)})
	summary.RawSetString("errors", table(map[string]float64{"connect": float64(s.Connect),
		"read": float64(s.Read), "write": float64(s.Write), "status": float64(s.Status),
		"timeout": float64(s.Timeout)}))
	checks := t.NewTable()
	for _, c := range s.Checks {
		checks.RawSetString(c.Name, table(map[string]float64{"passed": float64(c.Passed),
			"failed": float64(c.Failed)}))
	}
	summary.RawSetString("checks", checks)
	return summary
}

func statisticsOf(l *lua.LState) *Statistics {
	s, is := l.CheckUserData(1).Value.(*Statistics)
	if !is {
		l.ArgError(1, "latency or requests is wanted, as in latency:percentile(99)")
	}
	return s
}

func statisticsField(l *lua.LState) int {
	s, name := statisticsOf(l), l.CheckString(2)
	value, is := map[string]float64{"min": s.Min, "max": s.Max, "mean": s.Mean, "stdev": s.Stdev}[name]
	switch {
	case is:
		l.Push(lua.LNumber(value))
	case name == "percentile":
		l.Push(l.NewFunction(func(l *lua.LState) int {
			l.Push(lua.LNumber(statisticsOf(l).percentile(float64(l.CheckNumber(2)))))
			return 1
		}))
	default:
		l.Push(lua.LNil)
	}
	return 1
}

func statisticsLength(l *lua.LState) int {
	l.Push(lua.LNumber(len(statisticsOf(l).Values)))
	return 1
}

// statisticsValue is latency(i): a value, and how often it was counted.
func statisticsValue(l *lua.LState) int {
	s, i := statisticsOf(l), l.CheckInt(2)
	v := Value{}
	if i >= 1 && i <= len(s.Values) {
		v = s.Values[i-1]
	}
	l.Push(lua.LNumber(v.At))
	l.Push(lua.LNumber(v.Count))
	return 2
}

// output writes what a script prints. What cannot be written is lost.
func (m *Maker) output(s string) {
	m.printing.Lock()
	defer m.printing.Unlock()
	if m.Output != nil {
		_, _ = io.WriteString(m.Output, s)
	}
}
