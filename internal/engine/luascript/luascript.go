// Package luascript runs scripts in Lua with wrk's API as a scenario.
//
// A run has one machine of Lua for each thread, in which init, delay, request and response run, and
// one more for setup and done: they exchange values through thread:get and thread:set, as in wrk.
// Machines of different threads share nothing that changes under load.
//
// What a script makes is the text of a request. It is read as a request here (request.go), because
// protocols other than HTTP/1 cannot send text. A script without a function request has one
// request, which is made before the load: then a request costs no call of Lua.
//
// A script may be wrong, or somebody else's. It cannot reach files, processes or the network, and
// its instructions, memory and time have limits (package luavm): what exceeds them ends the run,
// and so does an error in the script.
//
//	chunk.go       compiles the text of a script
//	done.go        the function done and its summary
//	lacks.go       what a script does not have, which is refused before it runs; require
//	luascript.go   Config, Compile; runs a script's setup and init
//	limits.go      the limits of a call
//	machine.go     one machine of Lua
//	measures.go    counters and histograms of a script: dyno.counter
//	pack.go        a script for another process
//	request.go     the text that a script makes, read as a request
//	stream.go      dyno.stream: which answers are streams of events
//	user.go        dyno.user: what stays of a user
//	worker.go      request, delay and response under load
//	wrk.go         the table wrk: format, connect, lookup, threads
package luascript

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/luavm"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/engine/proto/h1"
	"dyno/internal/engine/scenario"
	lua "github.com/yuin/gopher-lua"
)

// MaxBody is how many bytes of a body response() sees.
const MaxBody = 1 << 20

// Config is a script and the run that it is of.
type Config struct {
	Name, Source string
	Args         []string // of init

	Request            proto.Request   // that of the command line: wrk.method, path, headers and body
	URL                string          // as the user wrote it: args[0]
	Scheme, Host, Port string          // of the URL; "": it has no port
	HTTP2              bool            // requests have to be such that HTTP/2 or 3 can send them
	Pipelines          bool            // request() may return several requests
	Threads            int             // how many the run has
	Seed               uint64          // of math.random
	MaxMemory          uint64          // bytes; 0: DefaultMemory
	MaxSetup           int64           // instructions of setup, init and done; 0: DefaultSetup
	Ended              <-chan struct{} // closed once nobody waits for the script; nil: never

	Output io.Writer                        // what scripts print; nil: nowhere
	Getenv func(name string) (string, bool) // nil: there are no variables
	Lookup func() ([]netip.AddrPort, error) // the addresses of Host; nil: there are none
}

// A Maker is the scenario of one run.
type Maker struct {
	Config
	chunk
	expected []string // checks of a plan that came from another process,
	streamed string   // and the format of its streams, if the script marks them
	memory   *luavm.Guard

	dynamic, delays, wants bool // the script defines request, delay, response
	fixed                  *message
	parameters             int  // of response
	many                   int  // requests that the first request() returned,
	first                  bool // which dyno.stream marked
	want                   proto.Want

	printing sync.Mutex // Output

	making sync.Mutex // all below
	main   *machine   // of setup and done
	ready  []*machine // of threads that the load has not taken
	made   int        // machines of threads
	known  []netip.AddrPort
}

// Compile reads a script, and makes the machines of a run: setup and init are over then. An error
// has the file and the line.
func Compile(c Config) (*Maker, error) {
	m := &Maker{Config: c}
	if err := m.compile(); err != nil {
		return nil, err
	}
	return m, m.begin()
}

// compile compiles the script. Nothing of it runs.
func (m *Maker) compile() (err error) {
	m.MaxMemory, m.MaxSetup = cmp.Or(m.MaxMemory, DefaultMemory), cmp.Or(m.MaxSetup, DefaultSetup)
	if m.chunk, err = compileChunk(m.Name, m.Source); err != nil {
		return err
	}
	return m.lackFault(m.Name)
}

// Again is the scenario of another run of the same script: everything begins anew.
func (m *Maker) Again() (*Maker, error) {
	again := &Maker{Config: m.Config, chunk: m.chunk, known: m.known}
	return again, again.begin()
}

// begin makes the machines of all threads, and finds out what the script defines.
func (m *Maker) begin() error {
	for range max(m.Threads, 1) {
		t, err := m.newThread()
		if err != nil {
			return err
		}
		m.ready = append(m.ready, t)
	}
	first := m.ready[0]
	response := first.function("response")
	m.dynamic, m.delays = first.function("request") != nil, first.function("delay") != nil
	if response != nil {
		m.parameters = 3 // of a function in Go, such as print
		if response.Proto != nil && response.Proto.IsVarArg == 0 {
			m.parameters = int(response.Proto.NumParameters)
		}
		m.setWant()
	}
	return m.verify(first)
}

// recompile compiles a script that came from another process with a plan, which it must fit.
func (m *Maker) recompile() error {
	switch err := m.compile(); {
	case err != nil:
		return err
	case !slices.Equal(m.checks, m.expected):
		return fmt.Errorf("%s has the checks %q, and the plan %q", m.Name, m.checks, m.expected)
	case m.stream != m.streamed:
		return fmt.Errorf("%s has streams of the format %q, and the plan %q", m.Name, m.stream,
			m.streamed)
	}
	return nil
}

// newThread makes the machine of a thread, and has setup and init run.
func (m *Maker) newThread() (*machine, error) {
	if m.main == nil {
		var err error
		if m.Chunk == nil { // it came from another process
			if err := m.recompile(); err != nil {
				return nil, err
			}
		}
		m.memory = luavm.NewGuard(m.MaxMemory)
		if m.main, err = m.newMachine(0); err != nil {
			return nil, err
		}
	}
	m.made++
	t, err := m.newMachine(uint64(m.made))
	if err != nil {
		return nil, err
	}
	t.own = &threadValue{of: t}
	t.wrk.RawSetString("thread", t.own.in(t.LState))
	if f := m.main.function("setup"); f != nil {
		if err := m.main.setUp(0, f, t.own.in(m.main.LState)); err != nil {
			return nil, err
		}
	}
	t.setHost()
	if f := t.function("init"); f != nil {
		args := t.NewTable()
		args.RawSetH(lua.LNumber(0), lua.LString(m.URL))
		for _, a := range m.Args {
			args.Append(lua.LString(a))
		}
		if err := t.setUp(0, f, args); err != nil {
			return nil, err
		}
	}
	if f, is := t.wrk.RawGetString("format").(*lua.LFunction); is {
		if err := t.setUp(1, f); err != nil {
			return nil, err
		}
		t.static, _ = t.take().(lua.LString)
	}
	return t, nil
}

// verify makes the first request, as wrk does, and reports why it could not be sent. A script's
// first request is not sent, and what it counts does not count: only the load sends.
func (m *Maker) verify(first *machine) error {
	text, f := string(first.static), first.function("request")
	if m.dynamic {
		first.measures.paused, first.user = true, &scenario.User{} // of nobody who sends
		defer func() { first.measures.paused, first.user = false, nil }()
		var err error
		if text, err = first.requestText(f); err != nil {
			return err
		}
		m.first = first.streams
	}
	for rest := text; rest != ""; m.many++ {
		x := &message{}
		var err error
		if rest, err = m.read(first, f, x, rest); err != nil {
			return err
		}
		if m.fixed == nil {
			m.fixed = x
		}
	}
	return m.refuseSeveral(first, f, m.many)
}

// refuseSeveral is the error of several requests in one text where the protocol has no such thing.
func (m *Maker) refuseSeveral(t *machine, f *lua.LFunction, n int) error {
	if n <= 1 || m.Pipelines {
		return nil
	}
	return t.at(f, "request() returned %d requests at once, which only HTTP/1 can send; return one, "+
		"or load over HTTP/1.1", n)
}

// read reads the next request of a text that the script returned.
func (m *Maker) read(t *machine, f *lua.LFunction, x *message, text string) (string, error) {
	rest, err := x.read(text, m.Request.Authority)
	if err == nil && !strings.HasPrefix(x.request.Path, "/") {
		x.request.Path, err = m.ownPath(x.request.Path)
	}
	if err == nil {
		if m.HTTP2 {
			err = fields.Check(x.request)
		} else {
			err = h1.Check(x.request)
		}
	}
	if err == nil && t.streams {
		err = streamFault(&x.request)
	}
	if err != nil {
		return "", t.at(f, "what request() returned cannot be sent: %v", err)
	}
	return rest, nil
}

// ownPath is the path of a URL of the run's own origin, which a proxy would be asked for.
func (m *Maker) ownPath(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text, nil // which is checked like any path
	}
	scheme := strings.Replace(m.Scheme, "h2c", "http", 1)
	usual := map[string]string{"http": "80", "https": "443"}[scheme]
	switch {
	case u.Scheme != scheme || !strings.EqualFold(u.Hostname(), m.Host) ||
		cmp.Or(u.Port(), usual) != cmp.Or(m.Port, usual):
		return "", fmt.Errorf("it is for %s://%s, and this run may load only %s://%s", u.Scheme, u.Host,
			scheme, m.Request.Authority)
	case u.User != nil:
		return "", errors.New("its URL has a user; write the header Authorization")
	}
	_, rest, _ := strings.Cut(text, "://")
	i := strings.IndexAny(rest, "/?")
	switch {
	case i < 0:
		return "/", nil
	case rest[i] == '?':
		return "/" + rest[i:], nil
	}
	return rest[i:], nil
}

// IsRandom reports that the plan's seed is used.
func (m *Maker) IsRandom() bool { return true }

// Want is what response needs.
func (m *Maker) Want() proto.Want { return m.want }

// Measured are the names of the script's counters and histograms. all is false if it may have
// others, whose names it computes.
func (m *Maker) Measured() (counters, histograms []string, all bool) {
	return m.counters, m.histograms, m.uses == m.written
}

// Functions are the names of the functions that the script has of those that wrk calls.
func (m *Maker) Functions() (all []string) {
	for _, name := range []string{"setup", "init", "delay", "request", "response", "done"} {
		if m.main.function(name) != nil {
			all = append(all, name)
		}
	}
	return all
}

// Returned is how many requests the first call of request returned.
func (m *Maker) Returned() int { return m.many }

// Addresses are those that setup gave to threads, each once, if the script chose any.
func (m *Maker) Addresses() (chosen []netip.Addr) {
	for _, t := range m.ready {
		if u, is := t.own.address.(*lua.LUserData); is {
			if a := u.Value.(netip.AddrPort).Addr(); !slices.Contains(chosen, a) {
				chosen = append(chosen, a)
			}
		}
	}
	return chosen
}

// SetPlan gives a plan the script. The plan's only request is what the script sends if it has no
// function request, and else that of the command line.
func (m *Maker) SetPlan(p *loadplan.Plan) {
	sum := sha256.Sum256([]byte(m.Source))
	p.Script = &loadplan.Script{File: filepath.Base(m.Name), SHA256: hex.EncodeToString(sum[:]),
		Args: m.Args}
	p.Scenario, p.Checks, p.Steps = m, m.checks, nil
	if m.stream != "" {
		p.Stream.Format, p.Stream.Marked = m.stream, true
	}
	r := loadplan.Request{Request: m.Request, Weight: 1, Name: m.Request.Method + " " + m.Request.Path}
	if !m.dynamic {
		r.Request = m.fixed.request
		r.Header, r.Body = slices.Clone(r.Header), bytes.Clone(r.Body)
		r.Name = r.Method + " " + r.Path
		given := m.Request
		r.Template = &given
	}
	p.Requests = []loadplan.Request{r}
	if m.delays { // users think
		p.Steps = []string{r.Name}
	}
}

// Make makes the scenario of a worker.
func (m *Maker) Make(s scenario.Share) (scenario.Scenario, error) {
	m.making.Lock()
	defer m.making.Unlock()
	var t *machine
	if len(m.ready) > 0 {
		t, m.ready = m.ready[0], m.ready[1:]
	} else {
		var err error
		if t, err = m.newThread(); err != nil {
			return nil, err
		}
	}
	return &worker{machine: t, users: s.Users}, nil
}

// Example is the first request that the script makes, for those who ask once before the load.
func (m *Maker) Example(int64) (proto.Request, error) {
	if m.fixed == nil {
		return m.Request, nil
	}
	return m.fixed.request, nil
}
