package luascript

import (
	"bytes"
	"net/textproto"
	"strings"
	"time"

	"dyno/internal/engine/luavm"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
	lua "github.com/yuin/gopher-lua"
)

// A worker is the scenario of one worker. An iteration is one request.
type worker struct {
	*machine
	users int64
	rest  string // of what request() returned: further requests
	from  *lua.LFunction
}

// Measures are the counters and histograms of the worker's machine.
func (w *worker) Measures() []metric.Named { return w.measures.named() }

// longestDelay is how long a delay can be, in milliseconds: a day.
const longestDelay = 24 * 3600 * 1000

// Start is the next request of the script.
func (w *worker) Start(u *scenario.User) scenario.Step {
	w.measures.paused, w.user = u.Warmup, u
	step := scenario.Step{KeepGoing: w.wants, Plain: w.isPlain()}
	if w.stopped {
		return stop()
	}
	if w.delays && w.rest == "" {
		think, err := w.think()
		if err != nil {
			return scenario.Step{End: true, Failed: true, Fault: err}
		}
		step.Think = think
	}
	if !w.dynamic {
		return w.unlessStopped(step)
	}
	x := stateOf(u)
	if err := w.next(&x.message); err != nil {
		return scenario.Step{End: true, Failed: true, Fault: err}
	}
	step.Message, step.Plain = proto.Message{Fill: &x.fill}, w.isPlain()
	return w.unlessStopped(step)
}

// stop is the end of a thread's load.
func stop() scenario.Step { return scenario.Step{End: true, Stop: true} }

func (w *worker) unlessStopped(s scenario.Step) scenario.Step {
	if w.stopped {
		return stop()
	}
	return s
}

// think is what delay() returned.
func (w *worker) think() (time.Duration, error) {
	f := w.function("delay")
	if f == nil {
		return 0, nil
	}
	if err := w.underLoad(1, f); err != nil {
		return 0, err
	}
	v := w.take()
	ms, is := luavm.NumberOf(v)
	if !is || !(ms >= 0 && ms <= longestDelay) {
		return 0, w.at(f, "delay() returned %.60s; it returns milliseconds, from 0 to %d", v.String(),
			longestDelay)
	}
	return time.Duration(ms * float64(time.Millisecond)), nil
}

// next reads the next request into x.
func (w *worker) next(x *message) (err error) {
	if w.rest == "" {
		w.from = w.function("request")
		if w.rest, err = w.requestText(w.from); err != nil {
			return err
		}
	}
	one := len(w.rest)
	if w.rest, err = w.read(w.machine, w.from, x, w.rest); err != nil {
		return err
	}
	if w.rest != "" && one > 0 {
		return w.refuseSeveral(w.machine, w.from, 2)
	}
	return nil
}

// requestText is what request() returns, or wrk.request() if the script took its own away.
func (t *machine) requestText(f *lua.LFunction) (string, error) {
	t.streams = false
	if f == nil {
		return string(t.static), nil
	}
	t.requesting = true
	err := t.underLoad(1, f)
	if t.requesting = false; err != nil {
		return "", err
	}
	v := t.take()
	text, is := v.(lua.LString)
	if !is || text == "" {
		what := v.Type().String()
		if is {
			what = "an empty string"
		}
		return "", t.at(f, "request() returned %s; it returns the text of a request, as wrk.format does",
			what)
	}
	return string(text), nil
}

// Next hands a response to the script.
func (w *worker) Next(u *scenario.User, r *scenario.Response) scenario.Step {
	w.user = u
	failed := r.Failed != ""
	if w.wants && r.Status != 0 {
		if err := w.respond(r); err != nil {
			return scenario.Step{End: true, Failed: true, Fault: err}
		}
		failed = failed || r.FailedCheck() >= 0
	}
	return scenario.Step{End: true, Failed: failed, Stop: w.stopped}
}

// respond calls response().
func (w *worker) respond(r *scenario.Response) error {
	f := w.function("response")
	if f == nil {
		return nil
	}
	w.response = r
	defer func() { w.response = nil }()
	headers, body := lua.LValue(lua.LNil), lua.LValue(lua.LNil)
	if w.want.AllFields {
		headers = w.headers(r)
	}
	if w.want.Body > 0 {
		body = lua.LString(r.Body)
	}
	return w.underLoad(0, f, lua.LNumber(r.Status), headers, body)
}

// A seenField is the name of a field as scripts have it, and the value that it last had: most
// responses have the same.
type seenField struct {
	name  string
	value lua.LString
	boxed lua.LValue // value
}

// mostNames is how many names of fields a machine remembers.
const mostNames = 1000

// headers is the table of a response's header: as wrk has it, the last of several fields of a name.
// Names are written as X-Token. A name in other letters is found, too: HTTP/2 has only small ones.
func (w *worker) headers(r *scenario.Response) *lua.LTable {
	all := w.CreateTable(0, r.Fields())
	for i := range r.Fields() {
		name, value, trailer := r.FieldAt(i)
		if trailer {
			continue
		}
		seen := w.names[string(name)]
		if seen == nil {
			seen = &seenField{name: textproto.CanonicalMIMEHeaderKey(string(name)), boxed: lua.LString("")}
			if len(w.names) < mostNames {
				w.names[string(name)] = seen
			}
		}
		if !bytes.Equal([]byte(seen.value), value) {
			seen.value = lua.LString(value)
			seen.boxed = seen.value
		}
		all.RawSetString(seen.name, seen.boxed)
	}
	all.Metatable = w.anyCase()
	return all
}

// anyCase is the metatable by which fields are found whatever the case of their names is.
func (t *machine) anyCase() *lua.LTable {
	if t.ofHeaders == nil {
		t.ofHeaders = t.NewTable()
		t.ofHeaders.RawSetString("__index", t.NewFunction(func(l *lua.LState) int {
			name := textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(l.ToString(2)))
			l.Push(l.CheckTable(1).RawGetString(name))
			return 1
		}))
	}
	return t.ofHeaders
}
