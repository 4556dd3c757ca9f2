// Package session runs Hurl files as a scenario: one iteration of a user is one run of a file, with
// cookies and captured values of its own, and those of logins that stay.
//
// Compile turns what package hurl has read into requests with holes, and asserts into checks. What
// hurl can do and a load cannot, or what dyno does not have, is refused there, before anything is
// sent. A step with captures and asserts by JSON paths of names and indices allocates nothing;
// regular expressions, XPath and lists do.
//
//	asserts.go      compiles asserts and captures; runs their checks
//	filter.go       runs filters, as toDate and split
//	observe.go      what each step sent, received and found, for dyno scenario run
//	options.go      the section [Options]: retry, delay, location
//	pattern.go      regular expressions of filters and predicates
//	plan.go         the session in a plan, also for another process
//	predicate.go    decides ==, contains, isNumber and so on
//	query.go        reads a value from a response: status, header, body and its charset, jsonpath,
//	                cookie, sha256
//	recurrence.go   # dyno: once, every, again on: what a user keeps from one iteration to the
//	                next
//	redirect.go     follows redirects (location: true)
//	request.go      compiles a request to bytes with holes: URL, form, multipart, cookies
//	scope.go        which variables are known where, and where their values come from
//	session.go      Config, Compile: where a file becomes a scenario; what is unsupported
//	stream.go       # dyno: stream: answers that are streams of events
//	url.go          makes the paths of requests from the URLs of a file
//	value.go        values of captures and variables: their types, equality, texts
//	worker.go       what users do under load, step by step: fills requests, keeps captures
//	xpath.go        the query and the filter xpath
package session

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/cookie"
	"dyno/internal/engine/data"
	"dyno/internal/engine/hurl"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/redirect"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/sequence"
	"dyno/internal/fact"
	"dyno/internal/fault"
	"dyno/internal/say"
)

// DefaultBody is how many bytes of a body captures and asserts see unless Config says otherwise.
const DefaultBody = 1 << 20

// Config is what a run does.
type Config struct {
	Files     []*hurl.File // each iteration runs one of them, as often as their weights say
	Origin    Origin
	Variables []Variable
	Data      *data.Table // nil: there is none
	Order     data.Order
	MaxBody   int64 // bytes of a body that captures and asserts see; 0: DefaultBody

	// Read reads a file that a Hurl file of that name names.
	Read func(hurlFile, name string) ([]byte, error)
	// Check reports why a protocol cannot send a request; nil: nobody asks.
	Check func(proto.Request) error
	// Observe is told of every response and failure, before the next step; nil: nobody wants to know.
	// It is told of all fields of a response.
	Observe func(Observation)
	// User signs requests that say only how they are signed; "": nobody does.
	User string
	// Unknown lets every name be a variable, and any be User. What is compiled so cannot be run.
	Unknown bool
	// Voice is that of whoever describes the load; nil: what to do with a setting is not said.
	Voice say.Voice
}

// An Origin is the server that the command line names.
type Origin struct {
	URL       string // as the user wrote it, for messages
	Scheme    string // http or https
	Host      string // host, and port unless it is the scheme's
	Authority string // the value of Host
}

// ParseOrigin is the origin of a URL.
func ParseOrigin(s string) (o Origin, err error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return o, fmt.Errorf("%.80q is no URL of a server, as http://127.0.0.1:8080", s)
	}
	o = Origin{URL: s, Scheme: u.Scheme, Authority: u.Host}
	o.Host = redirect.OriginOf(u.Scheme, u.Host).Host
	return o, nil
}

// plain is the origin alone.
func (o Origin) plain() redirect.Origin { return redirect.Origin{Scheme: o.Scheme, Host: o.Host} }

// is reports whether that is the origin.
func (o Origin) is(scheme, host string) bool { return redirect.OriginOf(scheme, host) == o.plain() }

// A Maker is the scenario of a run. The plan's Requests are its Requests, the plan's Steps its
// Steps, and the plan's Checks its Checks.
type Maker struct {
	Config
	Requests []proto.Request
	Written  []*proto.Request // with {{names}} in place of values and holes; nil: it has none
	Steps    []string
	Checks   []string

	stepOf []int // of each of the Requests

	stream   string   // the format of the entries whose answers are streams; "": there is none
	streamed []string // their Steps

	programs []program
	memories int      // of a user
	order    []uint32 // of the programs
	limits   int      // the check JudgedWithin
	want     proto.Want
	origin   cookie.Origin
	values   int                          // of the request that has most
	unknowns []string                     // with Config.Unknown
	read     map[string][]loadplan.Beside // by the Hurl file, what it names, each file once
}

// A program is a compiled file.
type program struct {
	name    string
	entries []entry
	slots   []source // what each slot has when an iteration begins
	memory  int      // which of a user's memories it has; 0: it has no login
}

// An entry is a compiled request, and what its response has to be.
type entry struct {
	request  [2]int // without and with a header Cookie, in the Requests
	route    int
	method   string
	fillers  []filler
	cookies  []part // of [Cookies]
	jarValue int    // which value the header Cookie has
	path     []proto.Hole
	body     []proto.Hole

	think    [2]time.Duration // from, to
	repeat   int64
	retry    int64 // how often the request is sent again if it fails
	interval time.Duration
	sets     []assignment
	redirect *redirection // nil: redirects are not followed

	recurrence
	stream     bool
	compressed bool
	auth       string // how the option user says who sends the request; "": Basic
	pathAsIs   bool
	anyStatus  bool
	statuses   []int    // checks of the status
	first      []assert // of the status and the version: the rest is not judged if one fails
	captures   []assert
	asserts    []assert
}

// An assignment is the option variable.
type assignment struct {
	slot  int
	from  *source // nil: of parts
	parts []part
}

// A compiler compiles files.
type compiler struct {
	*Maker
	variables []Variable
	faults    fault.List
	used      map[string]int // names of steps
}

// Compile compiles files. The error has the faults of all of them, each a fault.Fault.
func Compile(c Config) (*Maker, error) {
	if c.MaxBody <= 0 {
		c.MaxBody = DefaultBody
	}
	m := &Maker{Config: c, want: proto.Want{Fields: []string{"set-cookie"}}}
	m.memories = 1
	m.want.AllFields, m.read = c.Observe != nil, map[string][]loadplan.Beside{}
	host := c.Origin.Host
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	m.origin = cookie.NewOrigin(c.Origin.Scheme, host)
	all := checkNames(c.Variables, c.Data)
	var weights []int
	used := map[string]int{}
	named := map[string]bool{}
	for _, f := range c.Files {
		base := filepath.Base(f.Name)
		if named[base] {
			all = append(all, fmt.Errorf("two files have the name %s: checks could not be told apart", base))
		}
		named[base] = true
		k := compiler{Maker: m, variables: c.Variables, faults: fault.List{File: f.Name}, used: used}
		weights = append(weights, f.Weight)
		m.programs = append(m.programs, k.file(f))
		if err := k.faults.Err(); err != nil {
			all = append(all, err)
		}
	}
	if len(m.Checks) > 0 {
		m.limits = len(m.Checks)
		m.Checks = append(m.Checks, scenario.JudgedWithin)
	}
	if m.want.Body > 0 {
		m.Checks = append(m.Checks, fmt.Sprintf(scenario.BodyWithin+"%d bytes", m.want.Body))
	}
	m.order = sequence.Order(weights)
	return m, errors.Join(all...)
}

// wantField has a field of the response kept.
func (s *scope) wantField(name string) {
	if !slices.Contains(s.want.Fields, name) {
		s.want.Fields = append(s.want.Fields, name)
	}
}

// wantBody has the body kept, and the fields that say how to read it.
func (s *scope) wantBody() {
	s.want.Body = s.MaxBody
	s.wantField("content-type")
	s.wantField("content-encoding")
}

// file compiles a file.
func (c *compiler) file(f *hurl.File) program {
	p := program{name: filepath.Base(f.Name)}
	s := c.newScope(f, &p)
	for i := range f.Entries {
		s.compileEntry(&f.Entries[i])
	}
	if len(p.entries) == 0 {
		c.faults.Add(0, 0, "has no request")
	}
	s.compileMemory()
	return p
}

// compileEntry compiles a request and its response. One that is skipped is left out.
func (s *scope) compileEntry(h *hurl.Entry) {
	e := entry{repeat: 1, method: h.Method}
	s.entry = h
	if skipped := s.compileOptions(h, &e); skipped {
		return
	}
	if d := h.Delay; d != nil {
		e.think = [2]time.Duration{d.Low, d.High}
	}
	d := draft{scope: s, entry: &e}
	e.route = len(s.Steps)
	s.Steps = append(s.Steps, d.stepName(h))
	d.request = proto.Request{Method: h.Method, Authority: s.Origin.Authority}
	d.setPath(&h.Request)
	d.setHeader(&h.Request)
	bare := len(d.request.Header)
	d.setBody(&h.Request)
	full := len(d.request.Header)
	e.jarValue = len(e.fillers)
	if e.redirect != nil {
		e.redirect.value, e.redirect.route = e.jarValue+1, len(s.Steps)
		s.Steps = append(s.Steps, "redirect of "+s.Steps[e.route])
	}
	for variant := range 2 {
		if variant == 1 {
			d.setCookies(&h.Request)
		}
		d.addRequest(h, variant)
		if e.redirect != nil {
			d.addRedirects(bare, full, variant)
		}
	}
	s.values = max(s.values, len(e.fillers)+2)
	s.compileResponse(h.Response, &e)
	s.compileRecurrence(h, &e)
	s.compileStream(h, &e)
	s.program.entries = append(s.program.entries, e)
}

// addRequest adds what is drafted to the requests.
func (d *draft) addRequest(h *hurl.Entry, variant int) {
	r := d.request
	r.Header, r.Holes = slices.Clone(r.Header), sortedHoles(r.Holes)
	if err := r.CheckHoles(); err != nil && variant == 0 {
		d.fault(h.Pos, "%v", err)
	} else if err := r.CheckFraming(); err != nil && variant == 0 {
		d.fault(d.framingPos(h), "%v", err)
	} else if d.Check != nil && variant == 0 && err == nil && r.Path != "" {
		if err := d.Check(r); err != nil {
			d.fault(h.Pos, "%v", err)
		}
	}
	e := d.entry
	e.request[variant] = d.addTo(e.route, r, d.written)
	e.path, e.body = r.PathHoles(), r.BodyHoles()
}

// framingPos is where an entry says how its body is framed.
func (d *draft) framingPos(h *hurl.Entry) hurl.Pos {
	for _, kv := range h.Request.Headers {
		switch name, _ := d.literal(kv.Key, fact.HeaderName, ""); strings.ToLower(name) {
		case "content-length", "transfer-encoding":
			return kv.Key.Pos
		}
	}
	return h.Pos
}

// sortedHoles are holes in the order of the parts that they are in.
func sortedHoles(all []proto.Hole) []proto.Hole {
	return slices.SortedStableFunc(slices.Values(all), func(a, b proto.Hole) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.Field, b.Field))
	})
}

// addTo adds a request of a step to the requests, and returns its number.
func (d *draft) addTo(route int, r, written proto.Request) int {
	r.Holes = sortedHoles(r.Holes)
	d.Requests = append(d.Requests, r)
	d.Written = append(d.Written, writtenAs(&r, written))
	d.stepOf = append(d.stepOf, route)
	return len(d.Requests) - 1
}

// writtenAs is a request as it is written, with the names of variables; nil if it has none.
func writtenAs(r *proto.Request, w proto.Request) *proto.Request {
	w.Method, w.Authority, w.Header = r.Method, r.Authority, slices.Clone(w.Header)
	if w.Path == r.Path && slices.Equal(w.Header, r.Header) && bytes.Equal(w.Body, r.Body) &&
		len(r.Holes) == 0 {
		return nil
	}
	return &w
}

// stepName names a step by its method and path, with the line if another has that name.
func (d *draft) stepName(h *hurl.Entry) string {
	const longest = 80
	source := pathSource(h.URL.Source())
	if r := []rune(source); len(r) > longest {
		source = string(r[:longest]) + "…"
	}
	name := h.Method + " " + source
	if d.used[name]++; d.used[name] > 1 {
		name = fmt.Sprintf("%s (%s:%d)", name, d.program.name, h.Pos.Line)
	}
	return name
}

// Unknowns are the variables that have no value, in the order of the files, if Config.Unknown lets
// every name be one.
func (m *Maker) Unknowns() []string { return m.unknowns }

// Want is what captures, asserts and cookies need.
func (m *Maker) Want() proto.Want { return m.want }
