package luavm

import (
	"math"
	"strings"
	"time"

	generator "dyno/internal/engine/machine"
	"dyno/internal/engine/strftime"
	lua "github.com/yuin/gopher-lua"
)

// openSystem opens what scripts have of Lua's library os.
func (t *Machine) openSystem() {
	lib := t.NewTable()
	t.register(lib, functions{"clock": clock, "date": date, "difftime": timeBetween,
		"getenv": (*Machine).getenv, "time": instant})
	t.SetGlobal("os", lib)
}

// clock is the CPU time of the program, in seconds.
func clock(_ *Machine, l *lua.LState) int {
	return pushNumber(l, generator.ProcessCPU().Seconds())
}

func timeBetween(_ *Machine, l *lua.LState) int {
	return pushNumber(l, number(l, 1)-number(l, 2))
}

// getenv is a variable of the environment, or nil.
func (t *Machine) getenv(l *lua.LState) int {
	name := Text(l, 1)
	if t.getEnv != nil {
		if value, is := t.getEnv(name); is {
			return pushText(l, value)
		}
	}
	l.Push(lua.LNil)
	return 1
}

// latest is the last second that dates are made of: the end of the year 9999.
const latest = 253402300799

// instant is os.time: now, or the instant of a table.
func instant(_ *Machine, l *lua.LState) int {
	if l.Get(1) == lua.LNil {
		return pushNumber(l, float64(time.Now().Unix()))
	}
	of := table(l, 1)
	field := func(name string, otherwise int) int {
		v, ok := NumberOf(of.RawGetString(name))
		if !ok && otherwise < 0 {
			l.RaiseError("field '%s' missing in date table", name)
		} else if !ok {
			return otherwise
		}
		if math.Abs(v) > latest || math.IsNaN(v) {
			l.RaiseError("field '%s' is out of bounds", name)
		}
		return int(v)
	}
	at := time.Date(field("year", -1), time.Month(field("month", -1)), field("day", -1),
		field("hour", 12), field("min", 0), field("sec", 0), 0, time.Local)
	if lua.LVAsBool(of.RawGetString("isdst")) && !at.IsDST() {
		at = at.Add(-time.Hour) // it is said in summer time
	}
	return pushNumber(l, float64(at.Unix()))
}

// date is os.date: a text, or a table for *t.
func date(t *Machine, l *lua.LState) int {
	form, at := optText(l, 1, "%c"), time.Now()
	if l.Get(2) != lua.LNil {
		seconds := integer(l, 2)
		if max(seconds, -seconds) > latest {
			l.ArgError(2, "the time is out of bounds")
		}
		at = time.Unix(int64(seconds), 0)
	}
	if rest, is := strings.CutPrefix(form, "!"); is {
		form, at = rest, at.UTC()
	}
	if strings.HasPrefix(form, "*t") {
		l.Push(dateTable(l, at))
		return 1
	}
	const longest = 20 // bytes of what a specifier of two stands for
	t.MakeString(l, "os.date", len(form)*longest)
	zone, offset := at.Zone()
	form = strings.NewReplacer("%%", "%%", "%Z", zone, "%z", at.Format("-0700")).Replace(form)
	f, err := strftime.Parse(form)
	if err != nil {
		l.RaiseError("os.date: %v", err)
	}
	written := at.Add(time.Duration(offset) * time.Second) // which strftime writes as UTC
	return pushText(l, string(f.Append(nil, written)))
}

func dateTable(l *lua.LState, at time.Time) *lua.LTable {
	all := l.NewTable()
	for name, n := range map[string]int{"year": at.Year(), "month": int(at.Month()), "day": at.Day(),
		"hour": at.Hour(), "min": at.Minute(), "sec": at.Second(), "wday": int(at.Weekday()) + 1,
		"yday": at.YearDay()} {
		all.RawSetString(name, lua.LNumber(n))
	}
	all.RawSetString("isdst", lua.LBool(at.IsDST()))
	return all
}
