package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"

	"dyno/internal/engine/data"
	"dyno/internal/engine/hurl"
	"dyno/internal/engine/loadplan"
)

// BaseVariable is the variable that names the server.
const BaseVariable = "base"

// SetPlan gives a plan the scenario, with its requests, steps and checks.
func (m *Maker) SetPlan(p *loadplan.Plan) {
	p.Scenario, p.Steps, p.Checks = m, m.Steps, m.Checks
	p.Requests, p.Hurl = nil, nil
	if m.stream != "" {
		p.Stream.Format, p.Stream.Steps = m.stream, m.streamed
	}
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

// PackInto puts the Hurl files, those that they name, and the data into a plan that is packed. The
// requests are compiled of them again.
func (m *Maker) PackInto(p *loadplan.Plan) {
	p.Requests = nil
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
}

// Remake makes the scenario of a plan that was packed with Hurl files: it compiles them again.
func Remake(p *loadplan.Plan) (err error) {
	c := Config{}
	if p.Rows != nil {
		if c.Data, err = data.Decode(p.Rows.Content); err != nil {
			return err
		}
		if c.Order, err = data.ParseOrder(p.Rows.Order); err != nil {
			return err
		}
		p.Rows.Content = nil
	}
	for _, v := range p.Variables {
		c.Variables = append(c.Variables, Variable(v))
		if v.Name != BaseVariable {
			continue
		}
		if c.Origin, err = ParseOrigin(v.Value); err != nil {
			return err
		}
	}
	beside := map[string][]loadplan.Beside{}
	for _, script := range p.Hurl {
		f, err := hurl.Parse(script.File, script.Text)
		if err != nil {
			return err
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
	if err == nil {
		m.SetPlan(p)
	}
	return err
}
