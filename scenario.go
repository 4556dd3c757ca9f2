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

// A Scenario is what users do, again and again: each time is an iteration. Run calls it with last
// nil when an iteration begins, and it returns the first request. Run calls it again with the
// response to each request. It returns the next request, or nil to end the iteration. If it returns
// nil at once, the iteration is one without requests.
//
// Run calls it with responses of any status, and with those that never came (Status 0). A status
// that Load.Expect does not name, such as 404, makes the request one of Result.Errors, and it alone
// does not end the iteration.
//
// If it returns an error, the iteration ends, as one that failed, and the request that
// last answers counts in Result.Errors. Its Failure is of phase "check", unless the status was
// an error already. The text of the first error is Failure.Detail, so it should name no secret. If
// it returns an error when last is nil, or a request that cannot be sent, the iteration ends as one
// that failed, too. No request was sent then: a Failure of phase "check" and kind "value" counts
// it, but not Result.Errors.
//
// Run calls it from several goroutines at once, but for one user from one at a time. What users
// share must be safe for that; what one user keeps belongs in User.State. Its calls hold up the
// thread that makes the load, so it must not block or sleep: Request.Wait is for that. It must not
// change a Request that it has returned, nor its Header and Body, until it is called again for the
// same user.
type Scenario func(u *User, last *Response) (next *Request, err error)

// A User is one of those who follow a Scenario. It stays the same from one iteration to the next.
type User struct {
	Number    int64      // which of all users it is, from 0
	Iteration int64      // how many iterations this user had before
	Warmup    bool       // this iteration is before the measured window
	Rand      *rand.Rand // of this user alone; Load.Seed makes it repeatable
	State     any        // what the Scenario keeps for this user, over iterations too; nil at first
}

// A Request is what a user sends next.
type Request struct {
	Step   string        // its name, one of Load.Steps; "": the first of them
	Method string        // "": GET, or POST if Body is not nil
	Path   string        // with the query, in place of those of Load.URL; "": those of Load.URL
	Header http.Header   // sent sorted by name
	Body   []byte        // nil: none
	Wait   time.Duration // how long after the last response, or the iteration's start, it is due
}

// A Response is the answer to a user's request. Tests of a Scenario make their own.
type Response struct {
	Step   string        // that of the request: one of Load.Steps, or "" if there are none
	Status int           // 0: no answer came
	Body   []byte        // at most the first MiB; copy what is needed after the Scenario returns
	Took   time.Duration // from the sending of the request to the end of the answer; 0: none came

	// Fields is for tests, which make a Response: Header reads it. Run leaves it nil, so a Scenario
	// calls Header.
	Fields http.Header
	of     *scenario.Response
}

// Header is the value of the first header field of that name, or "" if there is none. Upper and
// lower case of the name are the same.
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
