package loadresult

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
)

// A Sample is a request of the window that failed, and what there was of its response. Those of
// phase Shown are the first of the window, Plan.Show in number, whatever became of them; their
// Detail is why there is no whole response. Without
// the plan's SaveErrors it has no Request, of the response only what the scenario wants, and there
// are samples of the phases Expect and Check only.
type Sample struct {
	Phase   Phase
	Kind    string // as in Failure; of phase Shown: Hop, or ""
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
	RequestKept  int           // bytes of its body that Request has, secrets and all
	Added

	Status    uint16        // 0: no response arrived
	Fields    []proto.Field // of its header, with names in lower case
	Trailers  []proto.Field
	Body      []byte // SampledBody bytes at most
	BodyBytes int64  // -1: not all of it arrived
	Seen
}

// A Seen is how much of a response was kept, and the events of one that is a stream.
type Seen struct {
	LeftOut  int          // fields of header and trailer that were not kept: see Plan.SampledShare
	BodyKept int          // bytes of the body that Body has, secrets and all
	Events   []ShownEvent // of phase Shown
	More     int          // events that were not kept
}

// A ShownEvent is an event of a stream.
type ShownEvent struct {
	After   time.Duration // since its request was sent
	Bytes   int           // of data
	Counted bool
	Text    []byte // its data; empty if it is too long
}

// Limits of what a Seen keeps of a stream.
const (
	ShownEvents = 1000
	ShownText   = 4 << 10   // bytes of an event
	ShownTexts  = 256 << 10 // of all
)

// Add adds an event with that data, as far as there is room.
func (s *Seen) Add(after time.Duration, data []byte, counted bool, room *int) {
	if len(s.Events) == ShownEvents {
		s.More++
		return
	}
	e := ShownEvent{After: after, Bytes: len(data), Counted: counted}
	if len(data) <= min(*room, ShownText) {
		e.Text = bytes.Clone(data)
		*room -= len(data)
	}
	s.Events = append(s.Events, e)
}

// An Added is what says which fields dyno adds to a request.
type Added struct {
	BodyHoles bool          // its body had holes: its length was sent, 0 included
	Defaults  []proto.Field // of the plan
	ChunkSize int           // likewise
}

// Hop is the kind of a Sample of phase Shown whose answer was a redirect that was followed.
const Hop = "hop"

// FirstSamples are the samples that are wanted, which is asked of those first that were over first.
func FirstSamples(all []Sample, wanted func(Sample) bool) []Sample {
	slices.SortStableFunc(all, func(a, b Sample) int { return cmp.Compare(a.Ended, b.Ended) })
	return slices.DeleteFunc(all, func(s Sample) bool { return !wanted(s) })
}

// SetRequest sets what was sent: the message without holes, and with the fields that dyno adds.
func (s *Sample) SetRequest(p *loadplan.Plan, m proto.Message) {
	r := p.FilledRequest(m)
	s.RequestBytes = int64(len(r.Body))
	own := m.Fill != nil && m.Fill.Own != nil
	s.BodyHoles = !own && p.Requests[m.Request].HasHoles(proto.InBody)
	r.Body = bytes.Clone(r.Body[:min(len(r.Body), loadplan.SampledBody)])
	s.Request, s.RequestKept = r, len(r.Body)
	s.Defaults, s.ChunkSize = p.DefaultFields(), p.ChunkSize
}

// SentFields are the fields of the header as it was sent: those of the request, and those that dyno
// adds. HTTP/2 and HTTP/3 send Host as :authority, and FastCGI all of them as parameters.
func (s *Sample) SentFields() (all []proto.Field) {
	r := &s.Request
	if !r.HasField("Host") {
		all = append(all, proto.Field{Name: "Host", Value: r.Authority})
	}
	for _, f := range s.Defaults {
		if !r.HasField(f.Name) {
			all = append(all, f)
		}
	}
	all = append(all, r.Header...)
	switch {
	case r.HasField("Content-Length"), r.IsChunked():
	case s.ChunkSize > 0 && (s.BodyHoles || s.RequestBytes > 0):
		all = append(all, proto.Field{Name: "Transfer-Encoding", Value: "chunked"})
	case s.BodyHoles || r.SendsLength():
		length := strconv.FormatInt(s.RequestBytes, 10)
		all = append(all, proto.Field{Name: "Content-Length", Value: length})
	}
	return all
}

// SetResponse sets what there is of the response; r may be nil.
func (s *Sample) SetResponse(r *scenario.Response, status uint16, body int64) {
	s.Status, s.BodyBytes = status, body
	if r == nil {
		return
	}
	s.LeftOut = r.FieldsLeftOut()
	for i := range r.Fields() {
		name, value, trailer := r.FieldAt(i)
		to := &s.Fields
		if trailer {
			to = &s.Trailers
		}
		*to = append(*to, proto.Field{Name: string(name), Value: string(value)})
	}
	s.Body = bytes.Clone(r.Body[:min(len(r.Body), loadplan.SampledBody)])
	s.BodyKept = len(s.Body)
}
