package loadplan

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/goodput"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/stream"
)

// A Stream says that answers are streams of events, and how these are read.
type Stream struct {
	stream.Spec
	Stall Seconds `json:"stall_s,omitempty"` // silence behind the first event, at most; 0: any
	// Take is when a user leaves a stream: behind so many counted events, as 100, or so long behind
	// the first, as 30s; "": at its end.
	Take string `json:"take,omitempty"`
	// Steps are those whose answers are streams; none: all. The scenario says so.
	Steps []string `json:"steps,omitempty"`
	// Marked says that a script marks the requests whose answers are streams.
	Marked bool `json:"marked,omitempty"`
}

// mostTaken is how many events Take has at most.
const mostTaken = 1 << 30

// Taken is Take: so many events, or so long. Both 0: all.
func (s *Stream) Taken() (events int64, reads time.Duration, err error) {
	if s.Take == "" {
		return 0, 0, nil
	}
	events, err = strconv.ParseInt(s.Take, 10, 64)
	if err == nil && events > 0 && events <= mostTaken {
		return events, 0, nil
	}
	if reads, err = time.ParseDuration(s.Take); err == nil && reads > 0 && reads <= MaxTime {
		return 0, reads, nil
	}
	return 0, 0, fmt.Errorf("%q is neither a number of events, as 100, nor a time, as 30s", s.Take)
}

// Defaults of a plan whose answers are streams.
const (
	StreamTimeout = Seconds(10 * time.Minute)
	StreamDrain   = Seconds(30 * time.Second)
	StreamStall   = Seconds(30 * time.Second)
)

// IsSet reports whether answers are streams.
func (s *Stream) IsSet() bool { return s.Format != "" }

// LacksTokens is the flaw that something needs the server's number of tokens where no path says
// which part of an event that is; nil: there is a path, or no such format.
func (s *Stream) LacksTokens(needs string) *Flaw {
	switch {
	case s.TellsTokens(), !slices.Contains(stream.Formats, s.Format):
		return nil
	case s.Format == stream.Chunks:
		return &Flaw{Setting: "Format", Problem: needs + " needs the server's number of tokens, and in " +
			"chunks dyno looks for none", Mend: "use another {Format}, or leave it out"}
	}
	return &Flaw{Setting: "Tokens", Problem: needs + " needs the server's number of tokens, and " +
		"nothing says where an event has it", Mend: "give {Tokens}, as $.usage.tokens"}
}

// checkGoodput checks the limits of single requests.
func (p *Plan) checkGoodput(flaw finder) {
	if p.Goodput == "" {
		return
	}
	limits, err := goodput.Parse(p.Goodput)
	flaw(err != nil, "Goodput", "%v", err)
	if !p.Stream.IsSet() {
		err = limits.OfStreams()
		flaw(err != nil, "Goodput", "%v", err).Mend = "give {Format}"
		return
	}
	if lacks := p.Stream.LacksTokens("token_time"); lacks != nil && limits.Has(goodput.TokenTime) {
		flaw(true, "Goodput", "%s", lacks.Problem).Mend = lacks.Mend
	}
}

// checkStream checks how answers are read as streams, and the limits of single requests.
func (p *Plan) checkStream(flaw finder) {
	p.checkGoodput(flaw)
	s := &p.Stream
	if !s.IsSet() {
		given := slices.DeleteFunc([]string{"Count", "Tokens", "End", "Error", "Stall", "Take"},
			func(field string) bool { return reflect.ValueOf(*s).FieldByName(field).IsZero() })
		flaw(len(given) > 0, strings.Join(given, ", "), "say how a stream is read").Mend =
			"give {Format}"
		return
	}
	s.Check(func(field string, err error) { flaw(true, field, "%v", err) })
	flaw(s.Stall < 0 || time.Duration(s.Stall) > MaxTime, "Stall",
		"%v is not within 0s to %v", s.Stall, MaxTime)
	_, _, err := s.Taken()
	flaw(err != nil, "Take", "%v", err)
	flaw(p.Pipeline > 1, "Pipeline", "a stream ends before the next answer begins, so requests "+
		"behind it wait").Mend = "use more {Connections}"
	flaw(p.Target.FastCGI, "Format", "FastCGI has no streams that are measured")
	flaw(p.AcceptEncoding != "" && !strings.EqualFold(p.AcceptEncoding, "identity"), "AcceptEncoding",
		"dyno cannot tell the events of a compressed answer apart while they arrive").Mend =
		"leave it out"
	flaw(p.Probe > 0, "Probe", "its answers would be streams too").Mend =
		"leave one of the two out"
	if s.Marked {
		return // the script makes other requests, and looks at those that it marks
	}
	for i := range p.Requests {
		r := &p.Requests[i]
		if len(s.Steps) > 0 && !slices.Contains(s.Steps, r.Name) {
			continue
		}
		flaw(r.Method == "HEAD", "Format", "the answer to HEAD has no body")
		asks := slices.ContainsFunc(r.Header, func(f proto.Field) bool {
			return strings.EqualFold(f.Name, "Accept-Encoding") &&
				!strings.EqualFold(f.Value, "identity")
		})
		flaw(asks, "Format", "dyno cannot tell the events of a compressed answer apart while they "+
			"arrive").Mend =
			"leave Accept-Encoding out"
		if asks || r.Method == "HEAD" {
			return
		}
	}
}
