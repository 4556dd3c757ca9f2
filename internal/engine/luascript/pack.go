package luascript

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// PackInto puts the script into a plan that is packed.
func (m *Maker) PackInto(p *loadplan.Plan) {
	script := *p.Script
	script.Text, script.Defines = m.Source, m.defines()
	p.Script = &script
}

// defines are the functions that the script has, as Remake needs to know them: with the number of
// parameters of response.
func (m *Maker) defines() (all []string) {
	if m.dynamic {
		all = append(all, "request")
	}
	if m.delays {
		all = append(all, "delay")
	}
	if m.wants {
		all = append(all, fmt.Sprint("response/", m.parameters))
	}
	return all
}

// Remake makes the scenario of a plan that was packed with a script. Of the script nothing runs
// before the load is made: whoever unpacks a plan may still refuse it.
func Remake(p *loadplan.Plan) error {
	if len(p.Requests) != 1 {
		return fmt.Errorf("%d requests of a script", len(p.Requests))
	}
	u, err := url.Parse(p.Target.URL)
	if err != nil {
		return err
	}
	const apart = 1 << 32 // each part draws random numbers of its own
	http2 := p.OnlyHTTP2() || p.OnlyHTTP3()
	c := Config{Name: p.Script.File, Source: p.Script.Text, Args: p.Script.Args,
		Request: *p.Requests[0].Written(), URL: p.Target.URL, Scheme: u.Scheme, Host: u.Hostname(),
		Port: u.Port(), HTTP2: http2, Seed: p.ValuesSeed() + uint64(p.Part)*apart,
		Pipelines: !http2 && !(p.Target.TLS && p.HTTP == loadplan.Auto)}
	m := &Maker{Config: c, expected: p.Checks}
	if p.Stream.Marked {
		m.streamed = p.Stream.Format
	}
	m.dynamic = slices.Contains(p.Script.Defines, "request")
	m.delays = slices.Contains(p.Script.Defines, "delay")
	for _, name := range p.Script.Defines {
		if n, is := strings.CutPrefix(name, "response/"); is {
			if m.parameters, err = strconv.Atoi(n); err != nil {
				return err
			}
			m.setWant()
		}
	}
	script := *p.Script
	script.Text, script.Defines = "", nil
	p.Scenario, p.Script = m, &script
	return nil
}

// Hear has wrk.lookup return the plan's addresses, and the script end once ended is closed.
func (m *Maker) Hear(p *loadplan.Plan, ended <-chan struct{}) {
	m.known, m.Ended = nil, ended
	for _, a := range p.Addresses {
		m.known = append(m.known, netip.AddrPortFrom(a, p.Target.Port))
	}
}

// setWant notes that the script has a function response, with that many parameters.
func (m *Maker) setWant() {
	m.wants, m.want = true, proto.Want{AllFields: m.parameters > 1}
	if m.parameters > 2 {
		m.want.Body = MaxBody
	}
}
