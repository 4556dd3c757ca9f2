package dyno

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/engine/proto/h1"
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
	f := &followed{does: l.Scenario, logins: l.Logins, steps: p.Steps, several: len(l.Steps) > 0,
		base: u, chunks: !p.Target.FastCGI && p.HTTP != "1.0", http1: !p.OnlyHTTP2() && !p.OnlyHTTP3(),
		http2: p.Target.TLS || p.OnlyHTTP2() || p.OnlyHTTP3()}
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
	logins       []Login
	steps        []string
	several      bool // requests in an iteration are possible
	base         requests.URL
	http1, http2 bool // which the connections may speak
	chunks       bool // HTTP/1.1, if they speak that
}

// A following is the state of one user.
type following struct {
	user User
	own  proto.Request
	fill proto.Fill
	last Response
	step string // of the last request

	login loginState
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
	next, err := f.ask(s, last, u.Now)
	if r != nil && !r.Again && (err != nil || r.Status != 0) {
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
		Header: sortedFields(r.Header, f.base.Basic)}
	if to.Path == "" {
		to.Path = f.base.Path
	}
	if to.Method == "" {
		if to.Method = "GET"; r.Body != nil {
			to.Method = "POST"
		}
	}
	if f.http2 {
		if err := fields.Check(*to); err != nil {
			return err
		}
	}
	if !f.chunks && to.IsChunked() {
		return errors.New("header Transfer-Encoding: neither HTTP/1.0 nor FastCGI has chunks")
	}
	if f.http1 {
		return h1.Check(*to)
	}
	return nil
}

// A Login has each user of a Scenario log in once, and again when its login has expired.
//
//	login := dyno.Login{
//		Request: func(u *dyno.User) *dyno.Request {
//			return &dyno.Request{Step: "login", Method: "POST", Path: "/login"}
//		},
//		Keep: func(u *dyno.User, r *dyno.Response) error {
//			u.State = r.Header("Token")
//			return nil
//		},
//		Sign: func(u *dyno.User, r *dyno.Request) {
//			r.Header.Set("Authorization", "Bearer "+u.State.(string))
//		},
//		Again: []int{401},
//	}
//
// The Scenario knows nothing of it: it is not given the responses to logins, and gets those to its
// own requests. A login is a request like any other, and its step is one of Load.Steps. It fails if
// no response comes, if the status is 400 or more, or if Keep returns an error. Then the iteration
// fails, and the user tries again at the beginning of its next one.
type Login struct {
	// Request returns the request that logs a user in. nil at the beginning of an iteration: the user
	// need not log in. nil after a status of Again: the Scenario gets that response.
	Request func(u *User) *Request
	// Keep takes from its response what the user needs, and puts it into User.State. The Response is
	// valid until Keep returns.
	Keep func(u *User, r *Response) error
	// Sign writes into a request of the Scenario what the login gave, before it is sent, and also
	// before it is sent again. It is given a copy with a Header that is not nil. nil: nothing.
	Sign func(u *User, r *Request)

	// Every is after how long a user logs in again, at the beginning of an iteration. 0: never.
	Every time.Duration
	// Again are the statuses, from 300 to 599, after which a user logs in and then sends the same
	// request again, once, without Wait. Such a response is no error, and Iterations.Again counts it.
	// If the response to the second has such a status, too, the Scenario gets it.
	Again []int
}

// A loginState is how far one user is with the logins of its Load.
type loginState struct {
	since   []int64  // when each succeeded last, in ns since the Unix epoch; 0: never
	at      int      // whose request is in flight; as many as there are: the Scenario's
	own     *Request // the last of the Scenario
	signed  Request  // its copy, as it is sent
	waiting []int    // whose requests are sent again after the one in flight
	renewed bool     // the one in flight is sent again
}

// ask is what a user sends next, at an instant in ns since the Unix epoch: a login, or what the
// Scenario says.
func (f *followed) ask(s *following, last *Response, now int64) (*Request, error) {
	if len(f.logins) == 0 {
		return f.does(&s.user, last)
	}
	x := &s.login
	if last == nil {
		if x.since == nil {
			x.since = make([]int64, len(f.logins))
		}
		x.waiting = x.waiting[:0]
		return f.begin(s, 0, now)
	}
	if i := f.renewer(x, last.Status); i >= 0 {
		if r := f.logins[i].Request(&s.user); r != nil {
			x.waiting = append(x.waiting, x.at)
			x.at, x.renewed = i, false
			last.of.RunAgain()
			return r, nil
		}
	}
	if x.at == len(f.logins) {
		return f.follow(s, last)
	}
	if last.Status == 0 || last.Status >= leastError {
		return nil, fmt.Errorf("the login failed: status %d", last.Status)
	}
	if err := f.logins[x.at].Keep(&s.user, last); err != nil {
		return nil, err
	}
	last.of.Login = scenario.FirstLogin
	if x.since[x.at] != 0 {
		last.of.Login = scenario.LaterLogin
	}
	x.since[x.at] = now
	if len(x.waiting) == 0 {
		return f.begin(s, x.at+1, now)
	}
	return f.resend(s)
}

// leastError is the lowest status with which a login fails.
const leastError = 400

// renewer is the login after which the request in flight is sent again because of its status; -1:
// it is not. A login may need one before it, and the Scenario the last that is for the status.
func (f *followed) renewer(x *loginState, status int) int {
	for i := x.at - 1; i >= 0 && !x.renewed; i-- {
		if slices.Contains(f.logins[i].Again, status) {
			return i
		}
	}
	return -1
}

// begin is the next login that is due at the beginning of an iteration, or else the first request
// of the Scenario.
func (f *followed) begin(s *following, from int, now int64) (*Request, error) {
	x := &s.login
	x.renewed = false
	for x.at = from; x.at < len(f.logins); x.at++ {
		l, since := &f.logins[x.at], x.since[x.at]
		if since == 0 || l.Every > 0 && now-since >= int64(l.Every) {
			if r := l.Request(&s.user); r != nil {
				return r, nil
			}
		}
	}
	return f.follow(s, nil)
}

// resend is the request that waits for the login that has just succeeded.
func (f *followed) resend(s *following) (*Request, error) {
	x := &s.login
	last := len(x.waiting) - 1
	x.at, x.waiting, x.renewed = x.waiting[last], x.waiting[:last], true
	if x.at < len(f.logins) {
		if r := f.logins[x.at].Request(&s.user); r != nil {
			return r, nil
		}
		return nil, fmt.Errorf("login %d returned no request after a status of Again", x.at+1)
	}
	r := f.sign(s)
	r.Wait = 0
	return r, nil
}

// follow is what the Scenario sends.
func (f *followed) follow(s *following, last *Response) (*Request, error) {
	s.login.renewed = false
	r, err := f.does(&s.user, last)
	if r == nil {
		return nil, err
	}
	s.login.own = r
	return f.sign(s), err
}

// sign is a copy of the last request of the Scenario, with what the logins gave.
func (f *followed) sign(s *following) *Request {
	r := &s.login.signed
	*r = *s.login.own
	if r.Header = r.Header.Clone(); r.Header == nil {
		r.Header = http.Header{}
	}
	for _, l := range f.logins {
		if l.Sign != nil {
			l.Sign(&s.user, r)
		}
	}
	return r
}

// Statuses of Login.Again: that of a redirect to the login can be one, and no other success.
const (
	leastAgain = 300
	mostAgain  = 599
)

// checkLogins finds what is wrong with the logins.
func (l Load) checkLogins() (faults []error) {
	if len(l.Logins) > 0 && l.Scenario == nil {
		faults = append(faults, FieldError{"Logins", "they are of a Scenario; give one"})
	}
	if len(l.Logins) > 0 && l.Scenario != nil && len(l.Steps) == 0 {
		faults = append(faults, FieldError{"Logins", "name their step and the Scenario's in Steps"})
	}
	for i, one := range l.Logins {
		if one.Request == nil || one.Keep == nil || one.Every < 0 {
			faults = append(faults, FieldError{"Logins", fmt.Sprintf("login %d needs Request and Keep, and "+
				"an Every that is not below 0", i+1)})
		}
		for _, status := range one.Again {
			if status < leastAgain || status > mostAgain {
				faults = append(faults, FieldError{"Logins", fmt.Sprintf("login %d: a status of Again is %d, "+
					"and not from %d to %d", i+1, status, leastAgain, mostAgain)})
			}
		}
	}
	return faults
}
