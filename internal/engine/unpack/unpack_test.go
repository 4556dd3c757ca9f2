package unpack

import (
	"bytes"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/luascript"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/session"
)

const base = "http://127.0.0.1:8080"

// plans are a plan of each kind: with what users do in each language.
func plans(t testing.TB) map[string]loadplan.Plan {
	t.Helper()
	all := map[string]loadplan.Plan{}
	add := func(kind string, set func(p *loadplan.Plan) error) {
		p := loadplan.DefaultPlan()
		p.Threads, p.Seed = 1, 7
		p.Target = loadplan.Target{URL: base + "/", Host: "127.0.0.1", Port: 8080}
		p.Addresses = []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")}
		r := loadplan.Request{Name: "GET /", Weight: 1}
		r.Method, r.Path, r.Authority = "GET", "/", "127.0.0.1:8080"
		p.Requests = []loadplan.Request{r}
		if err := set(&p); err != nil {
			t.Fatal(kind, err)
		}
		all[kind] = p
	}
	add("requests", func(p *loadplan.Plan) error {
		p.Environment, p.TLS.Key, p.SaveErrors, p.Show = []string{"secret"}, "a key", true, 3
		return nil
	})
	add("checks", func(p *loadplan.Plan) error {
		p.Expectations.Body = []string{"contains:a"}
		return onestep.SetScenario(p, nil)
	})
	add("Hurl", func(p *loadplan.Plan) error {
		f, err := hurl.Parse("a.hurl", "POST {{base}}/a\nfile,b.txt;\nHTTP 200\n[Asserts]\nbody contains \"x\"\n")
		if err != nil {
			return err
		}
		origin, err := session.ParseOrigin(base)
		if err != nil {
			return err
		}
		p.SetVariables(map[string]string{"base": base})
		m, err := session.Compile(session.Config{Files: []*hurl.File{f}, Origin: origin, Variables: []session.Variable{{Name: "base", Value: base}},
			Read: func(_, _ string) ([]byte, error) { return []byte("content"), nil }})
		if err == nil {
			m.SetPlan(p)
		}
		return err
	})
	add("Lua", func(p *loadplan.Plan) error {
		m, err := luascript.Compile(luascript.Config{Name: "x.lua", URL: base + "/", Scheme: "http", Host: "127.0.0.1", Port: "8080", Threads: 1, Seed: 7,
			Request: p.Requests[0].Request, Pipelines: true, Args: []string{"2"},
			Source: `function init(args)
				if #wrk.lookup("127.0.0.1", "8080") ~= tonumber(args[1]) then error("addresses") end
			end
			function request() return wrk.format(nil, "/x") end
			function response(status, headers, body) end`,
			Lookup: func() ([]netip.AddrPort, error) {
				return []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:8080"), netip.MustParseAddrPort("127.0.0.2:8080")}, nil
			}})
		if err == nil {
			m.SetPlan(p)
		}
		return err
	})
	return all
}

// A plan of each kind is what it was where it arrives, and its scenario is of the same kind, wants the
// same, and is told what it may load.
func TestPlan(t *testing.T) {
	for kind, p := range plans(t) {
		packed, err := loadplan.Pack(p)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		there, err := Plan(packed)
		if err != nil || reflect.TypeOf(there.Scenario) != reflect.TypeOf(p.Scenario) || !reflect.DeepEqual(there.Want(), p.Want()) {
			t.Errorf("%s: %v, %T instead of %T", kind, err, there.Scenario, p.Scenario)
			continue
		}
		there.TellScenario(nil)
		if m := there.Scenario; m != nil {
			if _, err := m.Make(scenario.Share{Users: 1}); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
		}
		p.Scenario, there.Scenario = nil, nil
		if !reflect.DeepEqual(p, there) {
			t.Errorf("%s: %+v\nthere %+v", kind, p, there)
		}
	}
}

// What cannot be made again is refused.
func TestRefused(t *testing.T) {
	for kind, spoil := range map[string]func(p *loadplan.Plan){
		"checks": func(p *loadplan.Plan) { p.Expectations.Body = []string{"?"} },
		"Hurl":   func(p *loadplan.Plan) { p.Variables = nil },
		"Lua":    func(p *loadplan.Plan) { p.Requests = nil },
		"requests": func(p *loadplan.Plan) {
			p.Requests[0].Holes = []proto.Hole{{In: proto.InPath, At: 99}}
		},
	} {
		p := plans(t)[kind]
		spoil(&p)
		packed, err := loadplan.Pack(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Plan(packed); err == nil {
			t.Errorf("%s: nobody minds", kind)
		}
	}
	if _, err := Plan([]byte(strings.Repeat("[", 1<<20))); err == nil || !strings.Contains(err.Error(), "it is damaged: byte 0") {
		t.Error(err)
	}
}

// FuzzPlan has signed whatever comes: what is in an order is read with as little trust. A plan that is
// taken is packed and read as the same.
func FuzzPlan(f *testing.F) {
	for _, p := range plans(f) {
		packed, err := loadplan.Pack(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
	}
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, packed []byte) {
		p, err := Plan(packed)
		if err != nil {
			return
		}
		_ = p.Check()
		one, err := loadplan.Pack(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Plan(one)
		if err != nil {
			t.Fatalf("%s, read again: %v", one, err)
		}
		if other, err := loadplan.Pack(again); err != nil || !bytes.Equal(one, other) {
			t.Errorf("%s\nis read as\n%s: %v", one, other, err)
		}
	})
}
