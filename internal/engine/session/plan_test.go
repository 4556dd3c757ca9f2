package session

import (
	"reflect"
	"strings"
	"testing"

	"dyno/internal/engine/data"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// remade is a plan as another process gets it.
func remade(p loadplan.Plan) (there loadplan.Plan, err error) {
	b, err := loadplan.Pack(p)
	if err == nil {
		there, err = loadplan.Unpack(b)
	}
	if err == nil {
		err = Remake(&there)
	}
	return there, err
}

// A packed plan is compiled again elsewhere, with its rows and files, and sends the same.
func TestPack(t *testing.T) {
	table, err := data.Read("u.csv", strings.NewReader("user\nann\nbob\n"), data.MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	m := mustCompile(t, "# dyno: weight 2\nPOST {{base}}/{{user}}/{{v}}\nfile,a.txt;\nHTTP 200\n[Captures]\nx: body\n\n"+
		"GET {{base}}/b\nX: {{x}}\n[Cookies]\na: b\nHTTP 200\nfile,a.txt;\n", func(c *Config) { c.Data = table }, "v=7")
	p := loadplan.DefaultPlan()
	p.Rows = &loadplan.Rows{File: "u.csv", Rows: 2, Order: "in-order", SHA256: strings.Repeat("0", 64)}
	p.SetVariables(map[string]string{"base": base, "v": "7"})
	m.SetPlan(&p)
	got, err := remade(p)
	if err != nil {
		t.Fatal(err)
	}
	theirs := got.Scenario.(*Maker)
	answer := func(proto.Request) reply { return reply{body: "from a file\n"} }
	if a, b := run(t, m, 3, answer), run(t, theirs, 3, answer); !reflect.DeepEqual(a, b) || len(a.failed) > 0 || len(a.sent) == 0 {
		t.Errorf("%+v\nelsewhere %+v", a, b)
	}
	p.Scenario, got.Scenario = nil, nil
	if !reflect.DeepEqual(p, got) {
		t.Errorf("%+v\nelsewhere %+v", p, got)
	}
	for change, spoil := range map[string]func(p *loadplan.Plan){
		"the text":     func(p *loadplan.Plan) { p.Scenario.(*Maker).Files[0].Source = "get" },
		"a file":       func(p *loadplan.Plan) { p.Scenario.(*Maker).read = nil },
		"the server":   func(p *loadplan.Plan) { p.SetVariables(map[string]string{"base": "x", "v": "7"}) },
		"the variable": func(p *loadplan.Plan) { p.SetVariables(map[string]string{"base": base}) },
		"the order": func(p *loadplan.Plan) {
			p.Rows = &loadplan.Rows{Order: "odd"}
		},
	} {
		again := mustCompile(t, "POST {{base}}/{{v}}\nfile,a.txt;\n", func(c *Config) { c.Data = table }, "v=7")
		p := loadplan.DefaultPlan()
		p.Rows = &loadplan.Rows{Order: "in-order"}
		p.SetVariables(map[string]string{"base": base, "v": "7"})
		again.SetPlan(&p)
		spoil(&p)
		if _, err := remade(p); err == nil {
			t.Errorf("%s was changed, and nobody minds", change)
		}
	}
}

// A file that several requests name is read once, and goes along once.
func TestReadOnce(t *testing.T) {
	reads := 0
	m := mustCompile(t, "POST {{base}}/a\nfile,a.txt;\n\nPOST {{base}}/b\nfile,a.txt;\nHTTP 200\nfile,a.txt;\n", func(c *Config) {
		c.Read = func(_, _ string) ([]byte, error) { reads++; return []byte("content"), nil }
	})
	if n := len(m.read["test.hurl"]); reads != 1 || n != 1 {
		t.Errorf("%d reads, %d files go along; want 1 and 1", reads, n)
	}
	for _, r := range m.Requests {
		if string(r.Body) != "content" {
			t.Errorf("%s: body %q", r.Path, r.Body)
		}
	}
}
