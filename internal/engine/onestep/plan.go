package onestep

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"dyno/internal/engine/check"
	"dyno/internal/engine/data"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/redirect"
	"dyno/internal/engine/template"
)

// SetScenario gives a plan the scenario that its Requests need, and its Checks: one with holes,
// data, users, checks, timeouts of its own, redirects to follow or Auth needs one. The table is the
// data of the plan's Rows; nil without Rows. Errors are of what cannot be sent.
func SetScenario(p *loadplan.Plan, table *data.Table) error {
	if !needsScenario(p) {
		return nil
	}
	c := Config{Data: table, Follow: Follow{Most: p.Follow, Scheme: "http"}}
	if p.Target.TLS {
		c.Follow.Scheme = "https"
	}
	for _, t := range p.FollowTo {
		c.Follow.To = append(c.Follow.To, originOf(t))
	}
	if p.Rows != nil {
		order, err := data.ParseOrder(p.Rows.Order)
		if err != nil {
			return loadplan.Flaw{Setting: "Rows", Problem: err.Error()}
		}
		c.Order = order
	}
	var list checkList
	for i := range p.Requests {
		r := &p.Requests[i]
		checks, err := list.numbers(p.Expected(r))
		if err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
		c.Requests = append(c.Requests, Request{Request: r.Request, Sources: r.Sources,
			Weight: r.Weight, Checks: checks, Timeout: time.Duration(r.Timeout)})
	}
	if c.Checks = list.all; len(c.Checks) > mostChecks {
		return loadplan.Flaw{Setting: "Requests", Problem: fmt.Sprintf(
			"its requests have %d different checks; %d are possible", len(c.Checks), mostChecks)}
	}
	m, err := New(c)
	if err != nil {
		return err
	}
	p.Scenario, p.Checks = m, m.CheckNames()
	return nil
}

// originOf is the origin of a target of HTTP.
func originOf(t loadplan.Target) redirect.Origin {
	scheme := "http"
	if t.TLS {
		scheme = "https"
	}
	return redirect.OriginOf(scheme, net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))))
}

// needsScenario reports whether the requests of a plan cannot be sent in turn as they are.
func needsScenario(p *loadplan.Plan) bool {
	timed := func(r loadplan.Request) bool { return r.Timeout > 0 }
	return p.Follow > 0 || p.Auth != "" ||
		p.Rows != nil || p.HasUsers() || p.HasHoles() || p.HasChecks() ||
		slices.ContainsFunc(p.Requests, timed)
}

// mostChecks is how many different checks a run can have: each is a row of the report.
const mostChecks = 1000

// A checkList has each check once.
type checkList struct {
	all    []*check.Check
	number map[string]int // of a check by its kind and text
	last   loadplan.Expectations
	of     []int // those of last
}

// numbers are the numbers of the checks that are expected. Requests one after the other most often
// expect the same.
func (l *checkList) numbers(e loadplan.Expectations) ([]int, error) {
	if l.number == nil {
		l.number = map[string]int{}
	} else if slices.Equal(e.Body, l.last.Body) && slices.Equal(e.Header, l.last.Header) {
		return l.of, nil
	}
	l.last, l.of = e, nil
	if err := l.add("header:", e.Header, check.ParseHeader); err != nil {
		return nil, err
	}
	err := l.add("body:", e.Body, check.ParseBody)
	return l.of, err
}

func (l *checkList) add(kind string, texts []string,
	parse func(string) (*check.Check, error)) error {
	for _, s := range texts {
		n, known := l.number[kind+s]
		if !known {
			one, err := parse(s)
			if err != nil {
				return err
			}
			n = len(l.all)
			l.all, l.number[kind+s] = append(l.all, one), n
		}
		l.of = append(l.of, n)
	}
	return nil
}

// IsRandom reports whether values or rows are drawn at random, so that a seed matters.
func (m *Maker) IsRandom() bool {
	random := func(s template.Source) bool {
		return s.Kind == template.UUID || s.Kind == template.Int || s.Kind == template.Hex
	}
	return m.table != nil && m.rows == data.Random ||
		slices.ContainsFunc(m.requests, func(r compiled) bool {
			return slices.ContainsFunc(r.Sources, random)
		})
}

// PackInto puts the data into a plan that is packed.
func (m *Maker) PackInto(p *loadplan.Plan) {
	if p.Rows != nil {
		rows := *p.Rows
		rows.Content = m.table.Encode()
		p.Rows = &rows
	}
}

// Remake makes the scenario of a plan that was packed, if it needs one.
func Remake(p *loadplan.Plan) (err error) {
	var table *data.Table
	if p.Rows != nil {
		if table, err = data.Decode(p.Rows.Content); err != nil {
			return err
		}
		p.Rows.Content = nil
	}
	for i := range p.Requests {
		if err := p.Requests[i].CheckHoles(); err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
	}
	return SetScenario(p, table)
}
