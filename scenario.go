package dyno

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
	"dyno/internal/engine/proto/h2"
	"dyno/internal/engine/requests"
	"dyno/internal/engine/scenario"
)

// A Scenario is a function that says what users do: it returns the next request of a user.
//
//	func visit(u *dyno.User, last *dyno.Response) (*dyno.Request, error) {
//		switch {
//		case last == nil: // an iteration begins
//			return &dyno.Request{Step: "login", Path: "/login"}, nil
//		case last.Status != 200:
//			return nil, fmt.Errorf("%s: status %d", last.Step, last.Status)
//		case last.Step == "login":
//			return &dyno.Request{Step: "search", Path: "/search?q=pen"}, nil
//		}
//		return nil, nil // the iteration is over
//	}
//
// Each user goes through iterations, one after the other. Run calls the Scenario with a nil
// Response to begin an iteration, and then with the Response to each request. The Scenario returns
// a Request, or nil to end the iteration, or an error if the iteration has failed. An iteration may
// have no request at all.
//
// # Errors
//
// Run calls the Scenario whatever the status of the Response is, and also if no response came
// (Status 0). A status that Load.Expect does not name makes the request one of Result.Errors. The
// iteration goes on, if the Scenario returns a Request.
//
// If the Scenario returns an error for a Response, the iteration ends and counts in
// Iterations.Failed. The request that the Response belongs to counts in Result.Errors. A Failure of
// phase "check" has the text of the error, which should contain no secret. If the request had
// failed already, it counts once, and its Failure is that of before.
//
// The iteration also fails if the Scenario returns an error at its beginning, or a Request that is
// not valid HTTP, such as one with a blank in its path. Nothing is sent then, and Result.Errors
// does not count it. A Failure of phase "check" and kind "value" does.
//
// A Request whose step is not in Load.Steps is a mistake in the program. It ends the run: see Run.
//
// # Concurrency
//
// Run calls the Scenario from several goroutines at once, but never twice at once for one user.
// What one user keeps belongs in User.State. What users share must be safe for concurrent use.
//
// The calling thread makes the load. So a Scenario must not block or sleep: use Request.Wait.
//
// A Scenario must not change a Request that it has returned, nor its Header and Body, until it is
// called again for the same user.
type Scenario func(u *User, last *Response) (next *Request, err error)

// A User is one of those who follow a Scenario. It stays the same from one iteration to the next.
type User struct {
	Number    int64 // which of all users it is, from 0
	Iteration int64 // how many iterations this user had before
	Warmup    bool  // this iteration was due before the measured window

	// Rand (of math/rand/v2) is for this user alone, and the same Load.Seed draws the same numbers.
	// In a test of a Scenario it is nil, unless the test sets it.
	Rand *rand.Rand

	State any // what the Scenario keeps for this user, from one iteration to the next; nil at first
}

// A Request is what a user sends next.
type Request struct {
	Step   string      // its name, one of Load.Steps; "": the first of them
	Method string      // "": GET, or POST if Body is not nil
	Path   string      // replaces path and query of Load.URL: "/search?q=pen"; "": those of Load.URL
	Header http.Header // as Load.Header
	Body   []byte      // nil: none

	// Wait is how long a user thinks: the request is due so long after the last response or, if it
	// is the first, after its iteration was due. 0 or less: not at all.
	Wait time.Duration
}

// A Response is what came back for a user's request. It is valid until the Scenario returns. Tests
// of a Scenario make their own.
type Response struct {
	Step   string        // that of the request: one of Load.Steps, or "" if there are none
	Status int           // 0: no response came
	Body   []byte        // its first MiB at most; keep a copy, not Body itself
	Took   time.Duration // from the sending of the request to the end of the response; 0: none came

	// Fields is for tests, which make a Response with it: Header reads it. In a run it is nil, and
	// a Scenario reads header fields with Header.
	Fields http.Header
	of     *scenario.Response
}

// Header returns the value of the first header field of that name, in upper or lower case. It
// returns "" if there is none.
func (r *Response) Header(name string) string {
	if r.of != nil {
		return string(r.of.Field(strings.ToLower(name)))
	}
	for field, values := range r.Fields {
		if strings.EqualFold(field, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

// bodyMost is how many bytes of a body a Scenario is given.
const bodyMost = 1 << 20

// setScenario has p follow the Scenario.
func (l Load) setScenario(p *loadplan.Plan, u requests.URL) (faults []error) {
	if l.Method != "" || l.Header != nil || l.Body != nil {
		faults = append(faults, FieldError{"Method, Header, Body",
			"the Scenario says what to send; leave them out"})
	}
	p.Steps = slices.Clone(l.Steps)
	if len(p.Steps) == 0 {
		p.Steps = []string{"request"}
	}
	f := &followed{does: l.Scenario, steps: p.Steps, several: len(l.Steps) > 0, base: u,
		http1: !p.OnlyHTTP2() && !p.OnlyHTTP3(), http2: p.Target.TLS || p.OnlyHTTP2() || p.OnlyHTTP3()}
	p.Checks = []string{accepted}
	p.Scenario = scenario.Program{Wants: proto.Want{AllFields: true, Body: bodyMost},
		New: func(scenario.Share) (scenario.Scenario, error) { return scenario.Func(f.next), nil }}
	return faults
}

// accepted is the check that the Scenario returned no error for a response.
const accepted = "scenario"

// A followed is a Scenario as the generator calls it.
type followed struct {
	does         Scenario
	steps        []string
	several      bool // requests in an iteration are possible
	base         requests.URL
	http1, http2 bool // which the connections may speak
}

// A following is the state of one user.
type following struct {
	user User
	own  proto.Request
	fill proto.Fill
	last Response
	step string // of the last request
}

func (f *followed) next(u *scenario.User, r *scenario.Response) scenario.Step {
	s, is := u.State.(*following)
	if !is {
		s = &following{user: User{Number: u.Number, Rand: u.Rand}}
		s.fill.Own, u.State = &s.own, s
	}
	s.user.Iteration, s.user.Warmup = u.Iteration, u.Warmup
	var last *Response
	if r != nil {
		s.last = Response{Step: s.step, Status: int(r.Status), Body: r.Body, Took: r.Took, of: r}
		last = &s.last
	}
	next, err := f.does(&s.user, last)
	if r != nil && (err != nil || r.Status != 0) {
		r.CheckError(0, err)
	}
	switch {
	case err != nil && r == nil:
		return scenario.Refuse(err)
	case err != nil:
		return scenario.Fail()
	case next == nil:
		return scenario.End()
	case r != nil && !f.several:
		return scenario.Step{End: true, Failed: true, Fault: fmt.Errorf("an iteration sends a second " +
			"request, and Load.Steps names none; name the requests of an iteration there")}
	}
	step := 0
	if next.Step != "" {
		if step = slices.Index(f.steps, next.Step); step < 0 {
			return scenario.Step{End: true, Failed: true, Fault: fmt.Errorf("a request is of step %q, "+
				"and Load.Steps has %q", next.Step, f.steps)}
		}
	}
	if f.several {
		s.step = f.steps[step]
	}
	if err := f.compose(&s.own, next); err != nil {
		return scenario.Refuse(err)
	}
	return scenario.Step{Message: proto.Message{Fill: &s.fill}, Route: step, Think: next.Wait,
		KeepGoing: true}
}

// compose makes the message of a request, and checks that it can be sent.
func (f *followed) compose(to *proto.Request, r *Request) error {
	*to = proto.Request{Method: r.Method, Authority: f.base.Authority, Path: r.Path, Body: r.Body,
		Header: fields(r.Header, f.base.Basic)}
	if to.Path == "" {
		to.Path = f.base.Path
	}
	if to.Method == "" {
		if to.Method = "GET"; r.Body != nil {
			to.Method = "POST"
		}
	}
	if f.http2 {
		if err := h2.Check(*to); err != nil {
			return err
		}
	}
	if f.http1 {
		return h1.Check(*to)
	}
	return nil
}
