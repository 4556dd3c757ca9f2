package scenario

import "time"

import "strings"

// A Response is what a scenario is given of the response to a step.
type Response struct {
	Status uint16
	// Failed is the phase in which the step failed, such as "read", "timeout" or "expect"; "": it
	// did not. Of a step that failed before its response was complete, the rest is empty.
	Failed    string
	Body      []byte        // as many bytes of it as are wanted
	BodyBytes int64         // how many there were
	Protocol  string        // of the connection, as loadplan names it, such as "h2"
	Took      time.Duration // from the sending of the step to the end of the response
	Good      bool          // it kept all limits of the plan's goodput
	Broken    error         // why it is no whole stream of events; nil: it is, or need not be
	Unjudged  bool          // the scenario says: the run ended before all checks were made
	Again     bool          // RunAgain was called
	Login     Login         // the scenario says: the step was a login that succeeded

	fields  []field
	text    []byte // of the fields' names and values, one after the other
	leftOut int    // fields that were not added
	checks  []Checked
	reason  error // of the first that failed with one
}

// A Login is a step by which a user logs in, whose outcome stays for later iterations.
type Login uint8

// The zero Login is none.
const (
	FirstLogin Login = iota + 1 // the user had not succeeded with it before
	LaterLogin                  // its time has passed, an answer refused it, or each iteration has it
)

// A field is where the text of one ends: its name, and its value behind it.
type field struct {
	name, value int
	trailer     bool
}

// BodyWithin begins the name of a check that a scenario has besides those that somebody wrote: that
// a body is not longer than what another check, which did not pass, could see of it. It is counted
// only where it fails.
const BodyWithin = "body within "

// BodyDecodes is a check that a scenario has besides, too: that a body is what its Content-Encoding
// says. It is counted only where it fails.
const BodyDecodes = "body decodes as its Content-Encoding says"

// Checks that a scenario has besides where it follows redirects. They are counted only where they
// fail. RedirectsWithin begins a name, which has the number.
const (
	RedirectsWithin = "redirects within "
	RedirectsStay   = "redirects stay at the server"
	RedirectsLead   = "redirects have a Location that can be followed"
)

// IsOfRedirects reports whether one of a scenario's own checks is one of these.
func IsOfRedirects(own string) bool {
	return isNumbered(own, RedirectsWithin, "") || own == RedirectsStay || own == RedirectsLead
}

// isNumbered reports whether a name is a number between two texts.
func isNumbered(name, before, after string) bool {
	number, begins := strings.CutPrefix(name, before)
	number, ends := strings.CutSuffix(number, after)
	return begins && ends && number != "" && strings.Trim(number, "0123456789") == ""
}

// A Checked is the outcome of one of the plan's checks.
type Checked struct {
	Check int
	OK    bool
}

// Truncated reports whether the body had more bytes than are wanted.
func (r *Response) Truncated() bool { return r.BodyBytes > int64(len(r.Body)) }

// Check notes the outcome of check i of the plan, and returns it. A check that fails makes the step
// an error, of phase "check"; of several the first one counts as the error.
func (r *Response) Check(i int, ok bool) bool {
	r.checks = append(r.checks, Checked{i, ok})
	return ok
}

// CheckError notes the outcome of check i of the plan, as Check does: it failed if err is not nil.
// The error's text becomes the detail of the step's error.
func (r *Response) CheckError(i int, err error) {
	if !r.Check(i, err == nil) && r.reason == nil {
		r.reason = err
	}
}

// Reason is the first error of CheckError; nil if there was none.
func (r *Response) Reason() error { return r.reason }

// DropChecks forgets the outcomes noted: the scenario tries again, and its last try counts.
func (r *Response) DropChecks() { r.checks, r.reason = r.checks[:0], nil }

// RunAgain says that the scenario takes a failed answer for the reason to send something else, and
// then this request again: the answer is counted, and is no error.
func (r *Response) RunAgain() {
	r.DropChecks()
	r.Failed, r.Good, r.Again = "", false, true
}

// Checks are the outcomes noted, in that order.
func (r *Response) Checks() []Checked { return r.checks }

// FailedCheck is the first check that failed, or -1.
func (r *Response) FailedCheck() int {
	for _, c := range r.checks {
		if !c.OK {
			return c.Check
		}
	}
	return -1
}

// Fields is how many wanted fields the response has, trailers included.
func (r *Response) Fields() int { return len(r.fields) }

// FieldAt is field i, in the order of the response. The name is in lower case.
func (r *Response) FieldAt(i int) (name, value []byte, trailer bool) {
	from := 0
	if i > 0 {
		from = r.fields[i-1].value
	}
	f := r.fields[i]
	return r.text[from:f.name], r.text[f.name:f.value], f.trailer
}

// Field is the value of the first field of that name, in lower case; nil if there is none.
func (r *Response) Field(name string) []byte {
	for i := range r.fields {
		if is, value, _ := r.FieldAt(i); string(is) == name {
			return value
		}
	}
	return nil
}

// Reset makes r an empty response that keeps its memory.
func (r *Response) Reset() {
	*r = Response{Body: r.Body[:0], fields: r.fields[:0], text: r.text[:0], checks: r.checks[:0]}
}

// AddField adds a copy of a field. How many there can be is limited by the codecs, which accept no
// header beyond all reason.
func (r *Response) AddField(name, value []byte, trailer bool) {
	r.text = append(r.text, name...)
	f := field{name: len(r.text), trailer: trailer}
	r.text = append(r.text, value...)
	f.value = len(r.text)
	r.fields = append(r.fields, f)
}

// FieldBytes is how much memory the fields take, in bytes.
func (r *Response) FieldBytes() int {
	const each = 24 // bytes of a field beside its text
	return len(r.text) + each*len(r.fields)
}

// LeaveOutField notes a field that is not added, for want of memory.
func (r *Response) LeaveOutField() { r.leftOut++ }

// FieldsLeftOut is how many fields were left out. A scenario is given all that it wants.
func (r *Response) FieldsLeftOut() int { return r.leftOut }

// AddBody adds a copy of the next bytes of the body, which are wanted.
func (r *Response) AddBody(b []byte) { r.Body = append(r.Body, b...) }

// isOwnCheck reports whether a check has the name of one that nobody wrote: BodyDecodes,
// JudgedWithin, one of redirects, or one of BodyWithin.
func isOwnCheck(name string) bool {
	return name == BodyDecodes || name == JudgedWithin || IsOfRedirects(name) ||
		isNumbered(name, BodyWithin, " bytes")
}

// OwnChecks is how many of a scenario's checks nobody wrote, unless it is a script's: there anybody
// writes any name. These are the last, and results have them only if they failed.
func OwnChecks(names []string) (n int) {
	for n < len(names) && isOwnCheck(names[len(names)-1-n]) {
		n++
	}
	return n
}
