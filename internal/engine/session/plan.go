package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"dyno/internal/engine/data"
	"dyno/internal/engine/hurl"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/onestep"
)

// BaseVariable is the variable that names the server.
const BaseVariable = "base"

// SetPlan gives a plan the scenario, with its requests, steps and checks.
func (m *Maker) SetPlan(p *loadplan.Plan) {
	p.Scenario, p.Steps, p.Checks = m, m.Steps, m.Checks
	p.Requests, p.Hurl = nil, nil
	for i, r := range m.Requests {
		p.Requests = append(p.Requests, loadplan.Request{Request: r, Name: m.Steps[m.stepOf[i]],
			Weight: 1, Template: m.Written[i]})
	}
	for _, f := range m.Files {
		sum := sha256.Sum256([]byte(f.Source))
		p.Hurl = append(p.Hurl, loadplan.Script{File: filepath.Base(f.Name),
			SHA256: hex.EncodeToString(sum[:])})
	}
}

// Pack is onestep.Pack that also packs a plan whose scenario is a session. The Hurl files, those
// that they name, and the data go along.
func Pack(p loadplan.Plan) ([]byte, error) {
	m, is := p.Scenario.(*Maker)
	if !is {
		return onestep.Pack(p)
	}
	p.Scenario, p.Requests = nil, nil
	scripts := make([]loadplan.Script, len(m.Files))
	for i, f := range m.Files {
		scripts[i] = p.Hurl[i]
		scripts[i].Text, scripts[i].Beside = f.Source, m.read[f.Name]
	}
	p.Hurl = scripts
	if p.Rows != nil {
		rows := *p.Rows
		rows.Content = m.Data.Encode()
		p.Rows = &rows
	}
	return loadplan.Pack(p)
}

// Unpack reads what Pack wrote, and compiles the session again.
func Unpack(b []byte) (loadplan.Plan, error) {
	p, err := onestep.Unpack(b)
	if err != nil || len(p.Hurl) == 0 {
		return p, err
	}
	c := Config{}
	if p.Rows != nil {
		rows := *p.Rows
		if c.Data, err = data.Decode(rows.Content); err != nil {
			return p, err
		}
		if c.Order, err = data.ParseOrder(rows.Order); err != nil {
			return p, err
		}
		rows.Content = nil
		p.Rows = &rows
	}
	for _, v := range p.Variables {
		c.Variables = append(c.Variables, Variable(v))
		if v.Name != BaseVariable {
			continue
		}
		if c.Origin, err = ParseOrigin(v.Value); err != nil {
			return p, err
		}
	}
	beside := map[string][]loadplan.Beside{}
	for _, script := range p.Hurl {
		f, err := hurl.Parse(script.File, script.Text)
		if err != nil {
			return p, err
		}
		c.Files = append(c.Files, f)
		beside[script.File] = script.Beside
	}
	c.Read = func(hurlFile, name string) ([]byte, error) {
		for _, b := range beside[hurlFile] {
			if b.Name == name {
				return b.Content, nil
			}
		}
		return nil, fmt.Errorf("the file %s was not sent", name)
	}
	m, err := Compile(c)
	if err != nil {
		return p, err
	}
	m.SetPlan(&p)
	return p, nil
}
