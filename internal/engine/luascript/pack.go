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
	"dyno/internal/engine/session"
)

// Pack is session.Pack that also packs a plan whose scenario is a script.
func Pack(p loadplan.Plan) ([]byte, error) {
	m, is := p.Scenario.(*Maker)
	if !is {
		return session.Pack(p)
	}
	p.Scenario = nil
	script := *p.Script
	script.Text, script.Defines = m.Source, m.defines()
	p.Script = &script
	return loadplan.Pack(p)
}

// defines are the functions that the script has, as Unpack needs to know them: with the number of
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

// Unpack reads what Pack wrote. Of a script nothing runs before the load is made: whoever unpacks a
// plan may still refuse it.
func Unpack(b []byte) (loadplan.Plan, error) {
	p, err := session.Unpack(b)
	if err != nil || p.Script == nil {
		return p, err
	}
	if len(p.Requests) != 1 {
		return p, fmt.Errorf("%d requests of a script", len(p.Requests))
	}
	u, err := url.Parse(p.Target.URL)
	if err != nil {
		return p, err
	}
	const apart = 1 << 32 // each part draws random numbers of its own
	http2 := p.OnlyHTTP2() || p.OnlyHTTP3()
	c := Config{Name: p.Script.File, Source: p.Script.Text, Args: p.Script.Args,
		Request: *p.Requests[0].Written(), URL: p.Target.URL, Scheme: u.Scheme, Host: u.Hostname(),
		Port: u.Port(), HTTP2: http2, Seed: p.ValuesSeed() + uint64(p.Part)*apart,
		Pipelines: !http2 && !(p.Target.TLS && p.HTTP == loadplan.Auto)}
	m := &Maker{Config: c, expected: p.Checks}
	m.dynamic = slices.Contains(p.Script.Defines, "request")
	m.delays = slices.Contains(p.Script.Defines, "delay")
	for _, name := range p.Script.Defines {
		if n, is := strings.CutPrefix(name, "response/"); is {
			if m.parameters, err = strconv.Atoi(n); err != nil {
				return p, err
			}
			m.setWant()
		}
	}
	script := *p.Script
	script.Text, script.Defines = "", nil
	p.Scenario, p.Script = m, &script
	return p, nil
}

// KnowAddresses has wrk.lookup return the plan's addresses.
func KnowAddresses(p *loadplan.Plan) {
	if m, is := p.Scenario.(*Maker); is {
		m.known = nil
		for _, a := range p.Addresses {
			m.known = append(m.known, netip.AddrPortFrom(a, p.Target.Port))
		}
	}
}

// EndWith has a script of a plan end when its run does.
func EndWith(p *loadplan.Plan, ended <-chan struct{}) {
	if m, is := p.Scenario.(*Maker); is {
		m.Ended = ended
	}
}

// setWant notes that the script has a function response, with that many parameters.
func (m *Maker) setWant() {
	m.wants, m.want = true, proto.Want{AllFields: m.parameters > 1}
	if m.parameters > 2 {
		m.want.Body = MaxBody
	}
}
