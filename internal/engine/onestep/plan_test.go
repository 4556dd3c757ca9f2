package onestep

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/data"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/scenario"
)

// tablePlan is a plan whose requests have a row each, and one check more than the others in the
// second.
func tablePlan(t *testing.T, d *data.Table) loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://127.0.0.1:1/", Host: "127.0.0.1", Port: 1}
	p.Connections, p.Threads, p.Requested, p.Duration = 4, 2, int64(d.Rows()), 0
	p.Rows = &loadplan.Rows{File: "d.csv", Rows: d.Rows(), Order: "once"}
	p.Expectations = loadplan.Expectations{Body: []string{"contains:a", "json:$.x"}}
	for range 2 {
		r := request(t, d, "/?e={{email}}&{{int 1 9}}", "{{seq}}", "{{token}}{{secret}}")
		p.Requests = append(p.Requests, loadplan.Request{Request: r.Request, Sources: r.Sources, Weight: 1})
	}
	p.Follow = 3
	p.Requests[1].Expect = &loadplan.OwnExpectations{Expectations: loadplan.Expectations{Body: []string{}, Header: []string{"X-Id: 7"}}}
	if err := SetScenario(&p, d); err != nil {
		t.Fatal(err)
	}
	return p
}

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

// A packed plan has the same scenario where it is unpacked: the same rows, values and checks.
func TestPack(t *testing.T) {
	d := rows(t, 50)
	p := tablePlan(t, d)
	if want := "[contains:a json:$.x X-Id: 7 body decodes as its Content-Encoding says " + scenario.JudgedWithin + " body within 1048576 bytes " +
		"redirects within 3 redirects stay at the server redirects have a Location that can be followed]"; fmt.Sprint(p.Checks) != want {
		t.Errorf("the checks are %v, want %s", p.Checks, want)
	}
	back, err := remade(p)
	if err != nil {
		t.Fatal(err)
	}
	was, is := p.Scenario.(*Maker), back.Scenario.(*Maker)
	for i := range 50 {
		if !reflect.DeepEqual(was.table.Value(i, 1), is.table.Value(i, 1)) {
			t.Errorf("row %d has the token %s, was %s", i, is.table.Value(i, 1), was.table.Value(i, 1))
		}
	}
	if !reflect.DeepEqual(was.requests, is.requests) || was.rows != is.rows || !reflect.DeepEqual(was.follow, is.follow) || p.Rows.Content != nil ||
		!reflect.DeepEqual(was.order, is.order) || !reflect.DeepEqual(back.Rows, p.Rows) {
		t.Errorf("%+v\nwas %+v", is, was)
	}
	if !slices.Equal(back.Checks, p.Checks) || back.Requested != p.Requested {
		t.Errorf("%+v\nwas %+v", back, p)
	}
}

// Plans without holes, data, users and checks have no scenario here or there; Go code is not packed.
func TestPackOfOthers(t *testing.T) {
	p := loadplan.DefaultPlan()
	p.Requests = []loadplan.Request{{Weight: 1}}
	if err := SetScenario(&p, nil); err != nil || p.Scenario != nil {
		t.Errorf("%v, %v", p.Scenario, err)
	}
	if back, err := remade(p); err != nil || back.Scenario != nil || len(back.Requests) != 1 {
		t.Errorf("%+v, %v", back, err)
	}
	p.Scenario = scenario.Program{}
	if _, err := loadplan.Pack(p); err == nil {
		t.Error("Go code is packed")
	}
}

// Of a damaged table nothing is read.
func TestDamagedPlans(t *testing.T) {
	d := rows(t, 3)
	whole := d.Encode()
	if again, err := data.Decode(whole); err != nil || !bytes.Equal(again.Encode(), whole) {
		t.Fatalf("%+v, %v", again, err)
	}
	for n := range whole {
		if _, err := data.Decode(whole[:n]); err == nil {
			t.Errorf("the first %d bytes are a table", n)
		}
		if changed := bytes.Clone(whole); n > 0 {
			changed[n] ^= 0xff
			data.Decode(changed) // does not panic
		}
	}
	p := tablePlan(t, d)
	p.Scenario, p.Rows.Content = nil, whole[:len(whole)-1]
	if _, err := remade(p); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
	p = tablePlan(t, d)
	p.Requests[0].Sources[0].Index = 77
	if _, err := remade(p); err == nil {
		t.Error("a column that there is not is taken")
	}
}

// A seed matters only where something is drawn.
func TestIsRandom(t *testing.T) {
	d := rows(t, 3)
	for text, want := range map[string]bool{"{{seq}} {{now}} {{email}}": false, "{{uuid}}": true,
		"{{int 1 2}}": true, "{{hex 3}}": true} {
		p := loadplan.Plan{Requests: []loadplan.Request{{Weight: 1}}, Rows: &loadplan.Rows{Order: "in-order"}}
		r := request(t, d, "/", text, "")
		p.Requests[0].Request, p.Requests[0].Sources = r.Request, r.Sources
		if err := SetScenario(&p, d); err != nil || p.IsRandom() != want {
			t.Errorf("%s: %v, %v", text, p.IsRandom(), err)
		}
		p.Rows.Order = "random"
		if err := SetScenario(&p, d); err != nil || !p.IsRandom() {
			t.Errorf("%s in random order: %v, %v", text, p.IsRandom(), err)
		}
	}
}
