package luascript

import (
	"fmt"
	"net/netip"

	"dyno/internal/engine/luavm"
	lua "github.com/yuin/gopher-lua"
)

// This file is the table wrk, as wrk's documentation has it.

// openWrk makes the table wrk.
func (t *machine) openWrk() {
	headers := t.NewTable()
	for _, f := range t.Request.Header {
		headers.RawSetString(f.Name, lua.LString(f.Value))
	}
	t.wrk = t.SetFuncs(t.NewTable(), map[string]lua.LGFunction{"format": t.format, "lookup": t.lookup,
		"connect": t.connect, "request": t.staticRequest})
	for name, value := range map[string]string{"scheme": t.Scheme, "host": t.Host, "port": t.Port,
		"method": t.Request.Method, "path": t.Request.Path, "body": string(t.Request.Body)} {
		if value != "" {
			t.wrk.RawSetString(name, lua.LString(value))
		}
	}
	t.wrk.RawSetString("headers", headers)
	t.SetGlobal("wrk", t.wrk)
	thread := t.NewTypeMetatable("wrk.thread")
	t.SetFuncs(thread, map[string]lua.LGFunction{"__index": t.threadField,
		"__newindex": setThreadField})
	address := t.NewTypeMetatable("wrk.addr")
	t.SetFuncs(address, map[string]lua.LGFunction{"__tostring": addressText})
}

// setHost gives wrk.headers a Host if it has none.
func (t *machine) setHost() {
	headers, is := t.wrk.RawGetString("headers").(*lua.LTable)
	if is && headers.RawGetString("Host") == lua.LNil {
		headers.RawSetString("Host", lua.LString(t.Request.Authority))
	}
}

// argument is an argument of wrk.format or, if it is nil, the field of wrk of that name.
func (t *machine) argument(l *lua.LState, n int, name string) lua.LValue {
	v := l.Get(n)
	if v == lua.LNil || v == lua.LFalse {
		v = t.wrk.RawGetString(name)
	}
	return v
}

// format is wrk.format: the text of a request. As in wrk, it gives headers the fields Host and
// Content-Length.
func (t *machine) format(l *lua.LState) int {
	method, path := t.argument(l, 1, "method"), t.argument(l, 2, "path")
	headers, is := t.argument(l, 3, "headers").(*lua.LTable)
	if !is {
		l.ArgError(3, "headers are a table, as {Name = value}")
	}
	if headers.RawGetString("Host") == lua.LNil {
		if of, is := t.wrk.RawGetString("headers").(*lua.LTable); is {
			headers.RawSetString("Host", of.RawGetString("Host"))
		}
	}
	body, length := lua.LString(""), lua.LValue(lua.LNil)
	switch v := t.argument(l, 4, "body").(type) {
	case lua.LString:
		body, length = v, lua.LNumber(len(v))
	case lua.LNumber:
		body = lua.LString(luavm.NumberText(float64(v)))
		length = lua.LNumber(len(body))
	}
	if length != lua.LNil || headers.RawGetString("Content-Length") != lua.LNil {
		headers.RawSetString("Content-Length", length)
	}
	b := t.appendValue(l, t.scratch[:0], method)
	b = append(t.appendValue(l, append(b, ' '), path), " HTTP/1.1\r\n"...)
	headers.ForEach(func(name, value lua.LValue) {
		b = append(t.appendValue(l, b, name), ": "...)
		b = append(t.appendValue(l, b, value), "\r\n"...)
	})
	b = t.appendValue(l, append(b, "\r\n"...), body)
	if len(b) <= luavm.MostScratch {
		t.scratch = b
	}
	l.Push(lua.LString(b))
	return 1
}

// appendValue appends a value as Lua prints it.
func (t *machine) appendValue(l *lua.LState, b []byte, v lua.LValue) []byte {
	var s string
	switch v := v.(type) {
	case lua.LString:
		s = string(v)
	case lua.LNumber:
		return luavm.AppendNumber(b, float64(v))
	default:
		s = v.String()
	}
	if n := len(b) + len(s); n > luavm.LongestString {
		t.MakeString(l, "wrk.format", n)
	}
	t.Grow(l, "wrk.format", len(s))
	return append(b, s...)
}

// staticRequest is wrk.request: the request as it was after init.
func (t *machine) staticRequest(l *lua.LState) int {
	if t.static == "" {
		return t.format(l)
	}
	l.Push(t.static)
	return 1
}

// lookup is wrk.lookup, which knows one host: that of the command line.
func (t *machine) lookup(l *lua.LState) int {
	host := l.CheckString(1)
	if host != t.Host && host != t.wrk.RawGetString("host").String() {
		l.RaiseError("wrk.lookup knows only %s, the host of the command line, and not %.100q", t.Host,
			host)
	}
	all, err := t.addresses()
	if err != nil {
		l.RaiseError("%v", err)
	}
	found := l.NewTable()
	for _, a := range all {
		found.Append(&lua.LUserData{Value: a, Metatable: l.GetTypeMetatable("wrk.addr")})
	}
	l.Push(found)
	return 1
}

// addresses are those of the server. They are looked up once.
func (m *Maker) addresses() ([]netip.AddrPort, error) {
	if m.known == nil && m.Lookup != nil {
		var err error
		if m.known, err = m.Lookup(); err != nil {
			return nil, err
		}
	}
	return m.known, nil
}

// connect is wrk.connect: whether an address is one of those that were found. Nothing connects.
func (t *machine) connect(l *lua.LState) int {
	_, is := l.CheckUserData(1).Value.(netip.AddrPort)
	l.Push(lua.LBool(is))
	return 1
}

func addressText(l *lua.LState) int {
	a, _ := l.CheckUserData(1).Value.(netip.AddrPort)
	l.Push(lua.LString(a.String()))
	return 1
}

// A threadValue is what scripts have of a thread: wrk.thread, and the argument of setup.
type threadValue struct {
	of      *machine
	address lua.LValue
}

// in is the value in a machine: that of setup and done, or the thread's own.
func (v *threadValue) in(l *lua.LState) *lua.LUserData {
	return &lua.LUserData{Value: v, Metatable: l.GetTypeMetatable("wrk.thread")}
}

func threadOf(l *lua.LState) *threadValue {
	v, is := l.CheckUserData(1).Value.(*threadValue)
	if !is {
		l.ArgError(1, "a thread is wanted, as in thread:get(name)")
	}
	return v
}

// threadField is thread.addr, or a method.
func (t *machine) threadField(l *lua.LState) int {
	v := threadOf(l)
	switch l.CheckString(2) {
	case "addr":
		if v.address == nil {
			v.address = lua.LNil
			if all, err := v.of.addresses(); err == nil && len(all) > 0 {
				v.address = &lua.LUserData{Value: all[0], Metatable: l.GetTypeMetatable("wrk.addr")}
			}
		}
		l.Push(v.address)
	case "get":
		l.Push(l.NewFunction(t.getGlobal))
	case "set":
		l.Push(l.NewFunction(t.setGlobal))
	case "stop":
		l.Push(l.NewFunction(stopThread))
	default:
		l.Push(lua.LNil)
	}
	return 1
}

// setThreadField sets thread.addr.
func setThreadField(l *lua.LState) int {
	v, name := threadOf(l), l.CheckString(2)
	u, is := l.Get(3).(*lua.LUserData)
	if is {
		_, is = u.Value.(netip.AddrPort)
	}
	if name != "addr" || !is {
		l.RaiseError("of a thread only addr can be set, to an address that wrk.lookup returned")
	}
	v.address = u
	return 0
}

// getGlobal is thread:get(name).
func (t *machine) getGlobal(l *lua.LState) int {
	v, name := threadOf(l), luavm.Text(l, 2)
	x := &transfer{t: t, l: l, name: fmt.Sprintf("thread:get(%.100q)", name)}
	l.Push(x.copy(v.of.G.Global.RawGetString(name), 0))
	return 1
}

// setGlobal is thread:set(name, value).
func (t *machine) setGlobal(l *lua.LState) int {
	v, name := threadOf(l), luavm.Text(l, 2)
	x := &transfer{t: t, l: l, name: fmt.Sprintf("thread:set(%.100q)", name)}
	v.of.G.Global.RawSetString(name, x.copy(l.Get(3), 0))
	return 0
}

// stopThread is thread:stop().
func stopThread(l *lua.LState) int {
	threadOf(l).of.stopped = true
	return 0
}

// Limits of what threads exchange.
const (
	transferDepth  = 100       // tables inside each other
	transferMost   = 1_000_000 // values in all; a table that is there twice is copied twice
	transferMemory = 100       // bytes that a value takes about
)

// A transfer copies a value for another machine.
type transfer struct {
	t      *machine
	l      *lua.LState
	name   string // of the call
	values int
}

func (x *transfer) copy(v lua.LValue, depth int) lua.LValue {
	if x.values++; x.values > transferMost {
		x.l.RaiseError("%s: more than %d values would go from one thread to another", x.name,
			transferMost)
	}
	x.t.Grow(x.l, x.name, transferMemory)
	switch v := v.(type) {
	case *lua.LNilType, lua.LBool, lua.LNumber, lua.LString:
		return v
	case *lua.LTable:
		if depth == transferDepth {
			x.l.RaiseError("%s: the table has more than %d tables inside each other", x.name,
				transferDepth)
		}
		to := &lua.LTable{Metatable: lua.LNil}
		v.ForEach(func(key, value lua.LValue) {
			x.t.GrowFor(x.l, to, key)
			to.RawSet(x.copy(key, depth+1), x.copy(value, depth+1))
		})
		return to
	}
	x.l.RaiseError("%s: a %v cannot go from one thread to another", x.name, v.Type())
	return nil
}
