package load

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
)

// This file keeps samples of errors: what was sent, and what the server said. A worker keeps them
// in memory that it allocates when such an error happens, and gives them away with its totals.

// Limits of samples. With all of them reached a thread keeps 80 MiB of bodies. Headers have the
// limits of their codecs.
const (
	SamplesMost  = 20       // of each kind of error, with Plan.SaveErrors; else 1
	SampledBody  = 64 << 10 // bytes of a request's body, and of a response's
	sampledKinds = 32       // kinds of errors that a worker has samples of: the first it meets
)

// A Sample is a request of the window that failed, and what there was of its response. Without
// Plan.SaveErrors it has no Request, of the response only what the scenario wants, and there are
// samples of the phases Expect and Check only.
type Sample struct {
	Phase   Phase
	Kind    string // as in Failure
	Address string
	Detail  string // as in Failure, but of this error

	Due, Sent, Ended time.Duration // after the window's start

	Thread     int    // from 0
	Connection int    // of those of the thread, from 0
	Life       uint32 // which of its sockets, from 1
	Protocol   string // of it, such as HTTP11; "": not known any more

	Step            string // of a scenario, and whose it was; "": there is none
	User, Iteration int64

	Request      proto.Request // as it was sent, without holes; of Body the first SampledBody bytes
	RequestBytes int64         // of its body

	Status    uint16        // 0: no response arrived
	Fields    []proto.Field // of its header, with names in lower case
	Trailers  []proto.Field
	Body      []byte // SampledBody bytes at most
	BodyBytes int64  // -1: not all of it arrived
}

// A sampleKind is what samples are counted by.
type sampleKind struct {
	phase  Phase
	kind   string
	status uint16 // of Expect; each is told apart
}

func kindOfStatus(status uint16) sampleKind { return sampleKind{Expect, badStatus, status} }

// A sampler holds a worker's samples.
type sampler struct {
	most   int  // of each kind; 0: none is kept
	whole  bool // Plan.SaveErrors
	kept   []Sample
	count  map[sampleKind]int
	judged messageCopy
}

func newSampler(p *Plan) sampler {
	s := sampler{whole: p.SaveErrors, count: map[sampleKind]int{}}
	switch {
	case p.SaveErrors:
		s.most = SamplesMost
	case p.Scenario != nil:
		s.most = 1
	}
	return s
}

// wants reports whether a sample of that kind is to be kept.
func (s *sampler) wants(k sampleKind) bool {
	n, known := s.count[k]
	return n < s.most && (known || len(s.count) < sampledKinds)
}

// keepMessage keeps a copy of a message until the response to it has been judged: the scenario may
// use its memory for the next.
func (s *sampler) keepMessage(m proto.Message) {
	if s.whole {
		s.judged.copyMessage(m)
	}
}

// A place is where an exchange took place.
type place struct {
	conn  *conn
	life  uint32
	addr  int
	whole *scenario.Response // all of the response; nil: not kept
}

func (w *worker) placeOf(c *conn, tag uint32) place {
	p := place{conn: c, life: c.life, addr: c.addr}
	if c.responses.whole != nil {
		p.whole = &c.responses.whole.of[tag]
	}
	return p
}

// takeWhole takes the response from its connection, which may have the next one before this one is
// needed.
func (p *place) takeWhole() {
	if p.whole != nil {
		kept := *p.whole
		*p.whole = scenario.Response{}
		p.whole = &kept
	}
}

// sampleAnswer keeps a sample of an answer that is an error by its status, in a load without a
// scenario.
func (w *worker) sampleAnswer(c *conn, tag uint32, body int64) {
	x := &c.exchanges[tag]
	if k := kindOfStatus(x.status); w.samples.wants(k) {
		p := w.placeOf(c, tag)
		s := w.addSample(k, x, w.now, p)
		s.setRequest(w.plan, proto.Message{Request: int(x.request)})
		s.setResponse(p.whole, x.status, body)
	}
}

// sampleStep keeps a sample of a step whose response is an error: by its status, or by a check.
func (w *worker) sampleStep(x *exchange, r *scenario.Response, at int64, p place, k sampleKind) {
	if !w.samples.wants(k) {
		return
	}
	s := w.addSample(k, x, at, p)
	if body := r.BodyBytes; w.samples.whole {
		s.setRequest(w.plan, w.samples.judged.message)
		s.RequestBytes = max(s.RequestBytes, w.samples.judged.bytes)
		s.setResponse(p.whole, x.status, body)
	} else {
		s.setResponse(r, x.status, body)
	}
}

// sampleFailure keeps a sample of a request that failed before its response was complete.
func (w *worker) sampleFailure(c *conn, tag uint32, phase Phase, err error) {
	if !w.samples.whole {
		return
	}
	k := sampleKind{phase: phase, kind: failureKind(err)}
	if !w.samples.wants(k) {
		return
	}
	x, p := &c.exchanges[tag], w.placeOf(c, tag)
	s := w.addSample(k, x, w.now, p)
	s.Detail = describeError(err)
	m := proto.Message{Request: int(x.request)}
	if w.users != nil {
		m = w.users.all[x.request].step.Message
	}
	s.setRequest(w.plan, m)
	if x.status != cutShort {
		s.setResponse(p.whole, x.status, -1)
	}
}

// addSample adds a sample of an exchange that was over at an instant.
func (w *worker) addSample(k sampleKind, x *exchange, at int64, p place) *Sample {
	w.samples.count[k]++
	s := Sample{Phase: k.phase, Kind: k.kind, Address: w.addrs[p.addr].String(),
		Due: time.Duration(x.due - w.from), Sent: time.Duration(x.sent - w.from),
		Ended: time.Duration(at - w.from), Thread: w.id, Life: p.life}
	switch k.phase {
	case Expect:
		s.Detail = statusDetail(k.status)
	case Check:
		s.Detail = failedCheck
	}
	for i := range w.conns {
		if &w.conns[i] == p.conn {
			s.Connection = i
		}
	}
	if p.conn.life == p.life {
		s.Protocol = p.conn.protocol
	}
	if w.users != nil {
		u := &w.users.all[x.request]
		s.Step, s.User, s.Iteration = w.plan.Steps[u.step.Route], u.Number, u.Iteration
	}
	w.samples.kept = append(w.samples.kept, s)
	return &w.samples.kept[len(w.samples.kept)-1]
}

// setRequest sets what was sent: the message without holes, and with the fields that dyno adds.
func (s *Sample) setRequest(p *Plan, m proto.Message) {
	r := p.filledRequest(m)
	s.RequestBytes = int64(len(r.Body))
	r.Body = bytes.Clone(r.Body[:min(len(r.Body), SampledBody)])
	s.Request = r
}

// filledRequest is the request without holes that a message is.
func (p *Plan) filledRequest(m proto.Message) proto.Request {
	if m.Fill != nil && m.Fill.Own != nil {
		r := *m.Fill.Own
		r.Header = slices.Clone(r.Header)
		return r
	}
	r := p.Requests[m.Request].Request
	holes := r
	r.Holes, r.Header = nil, slices.Clone(r.Header)
	if m.Fill == nil {
		return r
	}
	r.Path = string(proto.AppendFilled(nil, r.Path, holes.PathHoles(), m.Fill.Values))
	for i := range r.Header {
		f := &r.Header[i]
		f.Value = string(proto.AppendFilled(nil, f.Value, holes.FieldHoles(i), m.Fill.Values))
	}
	if m.Fill.Body != nil {
		r.Body = m.Fill.Body
	}
	return r
}

// SentFields are the fields of the header as it was sent: those of the request, and those that dyno
// adds. HTTP/2 and HTTP/3 send Host as :authority, and FastCGI all of them as parameters.
func (s *Sample) SentFields() (all []proto.Field) {
	r := &s.Request
	given := func(name string) bool {
		return slices.ContainsFunc(r.Header, func(f proto.Field) bool {
			return strings.EqualFold(f.Name, name)
		})
	}
	if !given("Host") {
		all = append(all, proto.Field{Name: "Host", Value: r.Authority})
	}
	if !given("User-Agent") {
		all = append(all, proto.Field{Name: "User-Agent", Value: agent})
	}
	all = append(all, r.Header...)
	sized := s.RequestBytes > 0 || slices.Contains([]string{"POST", "PUT", "PATCH"}, r.Method)
	if sized && !given("Content-Length") && !given("Transfer-Encoding") {
		length := strconv.FormatInt(s.RequestBytes, 10)
		all = append(all, proto.Field{Name: "Content-Length", Value: length})
	}
	return all
}

// setResponse sets what there is of the response; r may be nil.
func (s *Sample) setResponse(r *scenario.Response, status uint16, body int64) {
	s.Status, s.BodyBytes = status, body
	if r == nil {
		return
	}
	for i := range r.Fields() {
		name, value, trailer := r.FieldAt(i)
		to := &s.Fields
		if trailer {
			to = &s.Trailers
		}
		*to = append(*to, proto.Field{Name: string(name), Value: string(value)})
	}
	s.Body = bytes.Clone(r.Body[:min(len(r.Body), SampledBody)])
}

// statusDetail is the Detail of an answer with a status that is not expected.
func statusDetail(status uint16) string { return fmt.Sprintf("%03d", status) }

// failedCheck is the Detail of an answer that did not pass a check.
const failedCheck = "the answer did not pass the check"

// sumSamples are the samples of all workers: of each kind those that were over first.
func sumSamples(workers []*worker) (all []Sample) {
	if len(workers) == 0 {
		return nil
	}
	sum := sampler{most: workers[0].samples.most, count: map[sampleKind]int{}}
	for _, w := range workers {
		all = append(all, w.samples.kept...)
	}
	slices.SortStableFunc(all, func(a, b Sample) int { return cmp.Compare(a.Ended, b.Ended) })
	return slices.DeleteFunc(all, func(s Sample) bool {
		k := sampleKind{phase: s.Phase, kind: s.Kind}
		if s.Phase == Expect {
			k.status = s.Status
		}
		if !sum.wants(k) {
			return true
		}
		sum.count[k]++
		return false
	})
}

// A messageCopy is a copy of a message, in memory that is used again for the next.
type messageCopy struct {
	message proto.Message
	bytes   int64 // of its body, of which SampledBody bytes at most are copied; 0: it is the set's
	fill    proto.Fill
	own     proto.Request
	text    []byte // of the values
	body    []byte
}

func (k *messageCopy) copyMessage(m proto.Message) {
	k.message, k.bytes = m, 0
	if m.Fill == nil {
		return
	}
	k.message.Fill = &k.fill
	k.text, k.fill.Values = k.text[:0], k.fill.Values[:0]
	for _, v := range m.Fill.Values {
		from := len(k.text)
		k.text = append(k.text, v...)
		k.fill.Values = append(k.fill.Values, k.text[from:])
	}
	if m.Fill.Own == nil {
		k.fill.Own, k.fill.Body = nil, k.copyBody(m.Fill.Body)
		return
	}
	header := append(k.own.Header[:0], m.Fill.Own.Header...)
	k.own, k.fill.Own = *m.Fill.Own, &k.own
	k.own.Header, k.own.Body = header, k.copyBody(k.own.Body)
}

// copyBody is a copy of a body's beginning; nil of no body.
func (k *messageCopy) copyBody(b []byte) []byte {
	if b == nil {
		return nil
	}
	k.bytes = int64(len(b))
	k.body = append(k.body[:0], b[:min(len(b), SampledBody)]...)
	return k.body
}

// wholeResponses is the sink of one connection of a plan with SaveErrors: all there is of its
// responses, by tag. The scenario is given what it wants of them.
type wholeResponses struct {
	of   []scenario.Response
	part *responses // nil: there is no scenario
	want proto.Want // of the scenario
}

// wholeSinkOf is the sink of a connection whose responses are kept whole.
func (w *worker) wholeSinkOf(c *conn) proto.Sink {
	if c.responses.whole == nil {
		c.responses.whole = &wholeResponses{}
		if w.users != nil {
			c.responses.whole.part, c.responses.whole.want = &c.responses, w.users.want
		}
	}
	return c.responses.whole
}

func (a *wholeResponses) beginResponse(tag uint32) { a.of = beginResponse(a.of, tag) }

// Field keeps a field.
func (a *wholeResponses) Field(tag uint32, name, value []byte, trailer bool) {
	a.of[tag].AddField(name, value, trailer)
	if a.part != nil && a.want.WantsField(name) {
		a.part.Field(tag, name, value, trailer)
	}
}

// Body keeps a piece of a body.
func (a *wholeResponses) Body(tag uint32, b []byte) {
	r := &a.of[tag]
	r.AddBody(b[:min(len(b), SampledBody-len(r.Body))])
	if a.part == nil {
		return
	}
	got := int64(len(a.part.of[tag].Body))
	if b = a.want.Cut(got, b); len(b) > 0 {
		a.part.Body(tag, b)
	}
}
