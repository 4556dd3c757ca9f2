// Package onestep is the scenario of a run whose iterations are one request each: templates are
// filled, rows of data are dealt out, and responses are checked.
//
// A value that may not stand where its hole is, such as one with a line end in a header, is never
// sent: its iteration fails, and is counted. What is checked once, before the load, is the text
// around the holes.
//
//	compile.go   texts with holes become requests
//	follow.go    redirects that are followed
//	onestep.go   the scenario, and what it does for each user
//	plan.go      whether a plan needs this scenario, and how it is packed
package onestep

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"dyno/internal/engine/check"
	"dyno/internal/engine/content"
	"dyno/internal/engine/data"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/sequence"
	"dyno/internal/engine/template"
)

// DefaultBody is how many bytes of a body checks see unless Config says otherwise.
const DefaultBody = 1 << 20

// Config is what a run sends and wants.
type Config struct {
	Requests []Request
	Checks   []*check.Check
	Data     *data.Table // nil: no request has a column
	Order    data.Order
	MaxBody  int64 // bytes of a body that checks see; 0: DefaultBody
	Follow   Follow
}

// A Maker is the scenario of a run. The plan's Requests are its requests, the plan's Steps their
// names, and the plan's Checks its Checks.
type Maker struct {
	requests []compiled
	order    []uint32 // of the requests
	checks   []*check.Check
	table    *data.Table
	rows     data.Order
	want     proto.Want
	follow   Follow
	values   int // of the request that has most
	longest  int // bytes of what is generated for one request, at most

	redirectChecks int // the first of them among the plan's Checks
}

// compiled is a request with what is computed once for all of its messages.
type compiled struct {
	Request
	bodyHoles []proto.Hole
	inserted  []*insertion
}

// An insertion is a column in a part of requests where some of its values may not stand.
type insertion struct {
	column int
	in     proto.Part
	wrong  []uint64 // a bit for each row: its value may not
}

// isWrong reports whether the value of a row may not stand there.
func (i *insertion) isWrong(row int) bool { return i.wrong[row/64]>>(row%64)&1 != 0 }

// insertions are those of all requests of a run. They are found before the load, and each once: to
// check a value for each message costs more, and a table may have a million rows.
type insertions struct {
	table *data.Table
	found map[place]*insertion // nil: all values may stand there
}

// A place is a column in a part of a message.
type place struct {
	column int
	json   bool
	in     proto.Part
}

// in are the insertions of a request.
func (a *insertions) in(r *Request) (all []*insertion) {
	for _, h := range r.Holes {
		s := r.Sources[h.Value]
		if s.Kind != template.Column || h.In == proto.InBody || !hasColumn(a.table, s.Index) {
			continue
		}
		key := place{s.Index, s.JSON, h.In}
		one, known := a.found[key]
		if !known {
			one = findInsertion(a.table, s, h.In)
			a.found[key] = one
		}
		if one != nil && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// findInsertion is the insertion of a column, or nil.
func findInsertion(t *data.Table, s template.Source, in proto.Part) (i *insertion) {
	for row := range t.Rows() {
		value := t.Value(row, s.Index)
		if s.JSON {
			value = template.AppendJSON(nil, value)
		}
		if proto.ValueProblem(in, value) != "" {
			if i == nil {
				i = &insertion{s.Index, in, make([]uint64, t.Rows()/64+1)}
			}
			i.wrong[row/64] |= 1 << (row % 64)
		}
	}
	return i
}

// New makes the scenario.
func New(c Config) (*Maker, error) {
	m := &Maker{checks: c.Checks, table: c.Data, rows: c.Order, follow: c.Follow}
	var faults []error
	var weights []int
	places := insertions{c.Data, map[place]*insertion{}}
	for i, r := range c.Requests {
		weights = append(weights, r.Weight)
		one := compiled{Request: r, bodyHoles: r.BodyHoles(), inserted: places.in(&r)}
		longest := 0
		for k, s := range r.Sources {
			longest += s.Longest()
			if s.Kind == template.Capture || s.Kind == template.Column && !hasColumn(c.Data, s.Index) {
				faults = append(faults, fmt.Errorf("request %d: nothing has value %d", i+1, k+1))
			}
		}
		for _, k := range r.Checks {
			if k < 0 || k >= len(c.Checks) {
				faults = append(faults, fmt.Errorf("request %d: there is no check %d", i+1, k))
			}
		}
		m.values, m.longest = max(m.values, len(r.Sources)), max(m.longest, longest)
		m.requests = append(m.requests, one)
	}
	if len(c.Requests) == 0 {
		faults = append(faults, errors.New("there is no request"))
	}
	for _, k := range c.Checks {
		if f := k.Field(); f == "" {
			m.want.Body = c.MaxBody
			if c.MaxBody <= 0 {
				m.want.Body = DefaultBody
			}
		} else if !slices.Contains(m.want.Fields, f) {
			m.want.Fields = append(m.want.Fields, f)
		}
	}
	if m.want.Body > 0 && !slices.Contains(m.want.Fields, encodingField) {
		m.want.Fields = append(m.want.Fields, encodingField)
	}
	if m.follow.Most > 0 {
		m.want.Fields = append(m.want.Fields, locationField)
		m.redirectChecks = len(m.CheckNames()) - len(m.follow.checks())
	}
	m.order = sequence.Order(weights)
	return m, errors.Join(faults...)
}

// hasColumn reports whether the data has a column of that number: that of a foreign plan may not.
func hasColumn(t *data.Table, i int) bool {
	return t != nil && i >= 0 && i < len(t.Columns())
}

// Want is what the checks need.
func (m *Maker) Want() proto.Want { return m.want }

// CheckNames are the checks, as the plan's Checks. Behind those of Config there are three more if
// a check needs the body: that it is what its Content-Encoding says; that no other exceeded the
// limits of a search; and one that fails if it is longer than what another check, which did not
// pass, could see. Three more are of redirects, if any is followed.
func (m *Maker) CheckNames() []string {
	var all []string
	for _, c := range m.checks {
		all = append(all, c.Name())
	}
	if m.want.Body > 0 {
		all = append(all, scenario.BodyDecodes, scenario.JudgedWithin)
		all = append(all, fmt.Sprintf(scenario.BodyWithin+"%d bytes", m.want.Body))
	}
	if m.follow.Most > 0 {
		all = append(all, m.follow.checks()...)
	}
	return all
}

// Make makes the scenario of a worker.
func (m *Maker) Make(s scenario.Share) (scenario.Scenario, error) {
	if m.table != nil {
		if err := m.rows.Check(s, m.table.Rows()); err != nil {
			return nil, fmt.Errorf("rows %v: %w", m.rows, err)
		}
	}
	return &worker{Maker: m, numbering: scenario.NewNumbering(s)}, nil
}

// A worker is the scenario of one worker.
type worker struct {
	*Maker
	numbering scenario.Numbering
	facts     template.Facts
	scratch   check.Scratch
	refused   error // why the first message with a wrong value was not sent
	decoder   content.Decoder
	decoded   scenario.Response // of which only checks are told
}

// A message is what a user sends. Its memory is used again for the user's next one.
type message struct {
	request   int
	fill      proto.Fill
	values    [][]byte
	generated []byte // as long as can be from the start: values point into it
	body      []byte
	hop       *hop // nil: it has followed no redirect yet
}

var errUsedUp = errors.New("all rows of the data are used up")

// Start makes the request of an iteration.
func (w *worker) Start(u *scenario.User) scenario.Step {
	x, is := u.State.(*message)
	if !is {
		x = &message{values: make([][]byte, w.values), generated: make([]byte, 0, w.longest)}
		u.State = x
	}
	place, number := w.numbering.Next(u.Warmup)
	row := 0
	if w.table != nil {
		if row, is = w.rows.Row(u, place, w.table.Rows()); !is {
			return scenario.Refuse(errUsedUp)
		}
	}
	x.request = int(w.order[place%int64(len(w.order))])
	r := &w.requests[x.request]
	for _, i := range r.inserted {
		if i.isWrong(row) {
			return w.refuse(i, row)
		}
	}
	step := scenario.Step{Message: proto.Message{Request: x.request}, Route: x.request,
		Timeout: r.Timeout, KeepGoing: w.follow.Most > 0}
	if x.hop != nil {
		x.hop.n = 0
	}
	if len(r.Sources) == 0 {
		return step
	}
	w.facts.Rand, w.facts.Seq, w.facts.Due = u.Rand, number, u.Due
	x.generated = x.generated[:0]
	for i, s := range r.Sources {
		if s.Kind == template.Column && !s.JSON {
			x.values[i] = w.table.Value(row, s.Index)
			continue
		}
		from := len(x.generated)
		if s.JSON {
			x.generated = template.AppendJSON(x.generated, w.table.Value(row, s.Index))
		} else {
			x.generated = s.Append(x.generated, &w.facts)
		}
		x.values[i] = x.generated[from:]
	}
	x.fill = proto.Fill{Values: x.values[:len(r.Sources)]}
	if len(r.bodyHoles) > 0 {
		x.body = proto.AppendFilled(x.body[:0], r.Body, r.bodyHoles, x.values)
		x.fill.Body = x.body
	}
	step.Message.Fill = &x.fill
	return step
}

// Example is the first request as its first message may be: with the first row and, each time, the
// same random values. due is what {{now}} is, in ns since the Unix epoch. It is nobody's iteration.
func (m *Maker) Example(due int64) (proto.Request, error) {
	w := worker{Maker: m, numbering: scenario.NewNumbering(scenario.Share{Users: 1})}
	u := scenario.User{Due: due, Rand: rand.New(rand.NewPCG(1, 1))}
	step := w.Start(&u)
	if step.Refused != nil {
		return proto.Request{}, fmt.Errorf("the first request: %w", step.Refused)
	}
	r := &m.requests[step.Message.Request]
	return r.Filled(step.Message.Fill), nil
}

// refuse ends an iteration that cannot be sent: the value of a row may not stand at i. All refusals
// of a worker have the reason of its first one, for results show one.
func (w *worker) refuse(i *insertion, row int) scenario.Step {
	if w.refused == nil {
		w.refused = fmt.Errorf("column %s, row %d: the value %s", w.table.Columns()[i.column], row+1,
			proto.ValueProblem(i.in, w.table.Value(row, i.column)))
	}
	return scenario.Refuse(w.refused)
}

// encodingField says how a body is encoded.
const encodingField = "content-encoding"

// Next follows a redirect, or checks the response.
func (w *worker) Next(u *scenario.User, r *scenario.Response) scenario.Step {
	x := u.State.(*message)
	if w.follow.Most > 0 {
		if step, is := w.followRedirect(x, r); is {
			return step
		}
	}
	w.check(u, x, r)
	if w.follow.Most > 0 && r.FailedCheck() >= 0 {
		return scenario.Fail()
	}
	return scenario.End()
}

// check checks a response. That its body is too long counts once, for however many checks it is.
func (w *worker) check(u *scenario.User, x *message, r *scenario.Response) {
	seen, long, exceeded := r, false, false
	for _, i := range w.requests[x.request].Checks {
		if w.checks[i].Field() == "" && seen == r {
			seen = w.decode(r)
		}
		passes, sure := w.checks[i].Passes(seen, &w.scratch)
		if r.Unjudged = u.Spend(w.scratch.Steps); r.Unjudged {
			break
		}
		if !sure && !long {
			long = true
			r.Check(len(w.checks)+2, false)
		}
		if w.scratch.Exceeded && !exceeded {
			exceeded = true
			r.Check(len(w.checks)+1, false)
		}
		r.Check(i, passes)
	}
}

// decode is a response as checks see its body: without a Content-Encoding that is known. A body
// that is not what it says is checked as it is, and fails a check of its own.
func (w *worker) decode(r *scenario.Response) *scenario.Response {
	if w.decoded = *r; len(r.Body) == 0 {
		return &w.decoded
	}
	encoding := r.Field(encodingField)
	if encoding == nil || !content.Knows(encoding) {
		return &w.decoded
	}
	body, more, err := w.decoder.Decode(encoding, r.Body, !r.Truncated(), w.want.Body)
	if err != nil {
		r.Check(len(w.checks), false)
		return &w.decoded
	}
	if w.decoded.Body, w.decoded.BodyBytes = body, int64(len(body)); more {
		w.decoded.BodyBytes++
	}
	return &w.decoded
}
