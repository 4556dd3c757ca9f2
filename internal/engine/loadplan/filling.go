package loadplan

import (
	"slices"
	"strings"
)

// Expectations are what responses must be besides their status: see package check. The Scenario
// checks it. Of a Request, nil ones are those of the plan.
type Expectations struct {
	Body   []string `json:"expect_body,omitzero"`
	Header []string `json:"expect_header,omitzero"`
}

// OwnExpectations are those of one Request. What is nil in them is the plan's.
type OwnExpectations struct {
	Status []Statuses `json:"expect_status,omitempty"` // in place of Plan.Expect
	Expectations
}

// OrNil is e, or nil if it says nothing.
func (e OwnExpectations) OrNil() *OwnExpectations {
	if e.Status == nil && e.Body == nil && e.Header == nil {
		return nil
	}
	return &e
}

// StatusSetting is the setting that names the statuses of right responses, if it was not given: the
// key of the requests file where requests have it.
func (p *Plan) StatusSetting() string {
	own := func(r Request) bool { return r.Expect != nil && r.Expect.Status != nil }
	switch {
	case len(p.Expect) > 0:
		return ""
	case slices.ContainsFunc(p.Requests, own):
		return "expect_status"
	}
	return "expect"
}

// Expected are what the responses to a request must be, besides their status.
func (p *Plan) Expected(r *Request) Expectations {
	all := p.Expectations
	if own := r.Expect; own != nil && own.Body != nil {
		all.Body = own.Body
	}
	if own := r.Expect; own != nil && own.Header != nil {
		all.Header = own.Header
	}
	return all
}

// HasChecks reports whether the responses to a request must be more than their status says.
func (p *Plan) HasChecks() bool {
	return slices.ContainsFunc(p.Requests, func(r Request) bool {
		e := p.Expected(&r)
		return len(e.Body)+len(e.Header) > 0
	})
}

// Rows says what data the Requests have values from.
type Rows struct {
	File   string `json:"file"`   // its name, without the folder
	Rows   int    `json:"rows"`   // how many it has
	SHA256 string `json:"sha256"` // of the file
	Order  string `json:"order"`  // in which rows are taken: see package data

	// Content are the rows, in a packed plan: see package onestep. Elsewhere Scenario has them.
	Content []byte `json:"-"`
}

// A Script is a file that says what users do.
type Script struct {
	File   string `json:"file"` // its name, without the folder
	SHA256 string `json:"sha256"`

	Args []string `json:"args,omitempty"` // of a Lua script: what follows -- on the command line

	// Text and Beside, the files that it names, are in a packed plan: see packages session and
	// luascript. Elsewhere Scenario has them.
	Text    string   `json:"-"`
	Beside  []Beside `json:"-"`
	Defines []string `json:"-"` // the functions of a Lua script
}

// A Beside is a file that a Script names.
type Beside struct {
	Name    string
	Content []byte
}

// SetVariables sets Variables, in the order of their names.
func (p *Plan) SetVariables(values map[string]string) {
	p.Variables = nil
	for name, value := range values {
		p.Variables = append(p.Variables, Param{Name: name, Value: value})
	}
	slices.SortFunc(p.Variables, func(a, b Param) int { return strings.Compare(a.Name, b.Name) })
}
