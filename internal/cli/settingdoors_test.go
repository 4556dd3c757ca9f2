package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/workload"
	"dyno/internal/setting"
	"dyno/internal/setting/settingtest"
	dashboard "dyno/internal/view/serve"
)

// Every setting of a plan goes through every door that its row names: what is right becomes the same
// plan by each, and what is wrong is refused by each in its own words. A row without a sample fails.
// The library's door is tested in the module's root, for only there it is open.
func TestSettingsThroughEveryDoor(t *testing.T) {
	t.Parallel()
	rows := 0
	for i := range setting.Table {
		s := &setting.Table[i]
		if s.Set == nil {
			continue
		}
		sample, has := settingtest.Samples[s.Name]
		if !has {
			t.Errorf("%s has no sample in package settingtest", s.Name)
			continue
		}
		rows++
		t.Run(s.Name, func(t *testing.T) {
			d := door{T: t, s: s, sample: sample}
			p := d.flag()
			d.wrongFlag()
			if d.form(p); s.Shows == nil || s.Name != "show" { // no command repeats it
				d.repeat(p)
			}
			d.packed(p)
			d.stored(p)
			d.file(p)
			d.vs(p)
			d.divided(p)
		})
	}
	if rows != len(settingtest.Samples) {
		t.Errorf("%d rows and %d samples", rows, len(settingtest.Samples))
	}
}

// A door takes one setting through it.
type door struct {
	*testing.T
	s      *setting.Setting
	sample settingtest.Sample
}

func (d door) url() string { return cmp.Or(d.sample.URL, "http://127.0.0.1:1/") }

func (d door) args(value string) []string {
	return append(slices.Clone(d.sample.With), "--"+d.s.Name+"="+value)
}

// flag is the plan that the command line makes of the good value.
func (d door) flag() *loadplan.Plan {
	d.Helper()
	f, faults := readRun(append(d.args(d.sample.Good), d.url()), strings.NewReader(""))
	if len(faults) > 0 {
		d.Fatal(faults)
	}
	plain := loadplan.DefaultPlan()
	if got := d.s.Text(&f.plan); !slices.Equal(got, []string{d.sample.Good}) {
		d.Fatalf("%q became %q", d.sample.Good, got)
	}
	if slices.Equal(d.s.Text(&plain), d.s.Text(&f.plan)) && !d.s.Varies {
		d.Errorf("%q is the default", d.sample.Good)
	}
	return &f.plan
}

// begins reports an error unless a fault begins so.
func (d door) begins(by string, faults []error, begin string) {
	d.Helper()
	is := func(err error) bool { return strings.HasPrefix(err.Error(), begin) }
	if !slices.ContainsFunc(faults, is) {
		d.Errorf("%s: %q, want one that begins with %q", by, faults, begin)
	}
}

func (d door) wrongFlag() {
	_, faults := readRun(append(d.args(d.sample.Wrong), d.url()), strings.NewReader(""))
	d.begins("flag", faults, "--"+d.s.Name+": ")
}

// like reports an error unless a plan has the setting as p has.
func (d door) like(by string, got, p *loadplan.Plan) {
	d.Helper()
	if have, want := d.s.Text(got), d.s.Text(p); !slices.Equal(have, want) {
		d.Errorf("%s: %q, want %q", by, have, want)
	}
}

// form fills in the dashboard's form.
func (d door) form(p *loadplan.Plan) {
	if d.s.Form == nil {
		return
	}
	form := func(value string) dashboard.Form {
		f := dashboard.Form{"url": {d.url()}, d.s.Name: {value}}
		for _, arg := range d.sample.With {
			name, v, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
			f[name] = []string{v}
		}
		return f
	}
	job, faults := formReader("dyno")(form(d.sample.Good))
	if len(faults) > 0 {
		d.Fatalf("form: %q", faults)
	}
	if !reflect.DeepEqual(job.Plan, *p) {
		d.Errorf("form: %+v\nwant %+v", job.Plan, *p)
	}
	_, faults = formReader("dyno")(form(d.sample.Wrong))
	d.begins("form", faults, "--"+d.s.Name+": ") // whose page shows it at the field
}

// repeat runs the command that repeats the plan.
func (d door) repeat(p *loadplan.Plan) {
	var args []string
	for _, given := range setting.Shown(p) {
		if args = append(args, given.ShortFlag()); given.Value != "" {
			args = append(args, given.Argument)
		}
	}
	again, faults := readRun(append(args, d.url()), strings.NewReader(""))
	if len(faults) > 0 || !reflect.DeepEqual(again.plan, *p) {
		d.Errorf("repeat: %q: %q\n%+v\nwant %+v", args, faults, again.plan, *p)
	}
}

// packed is the order that another process or machine gets.
func (d door) packed(p *loadplan.Plan) {
	b, err := loadplan.Pack(*p)
	if err != nil {
		d.Fatal(err)
	}
	there, err := loadplan.Unpack(b)
	if err != nil {
		d.Fatal(err)
	}
	d.like("packed", &there, p)
}

// stored is the plan of a result. What JSON leaves out by its tag is for this process alone.
func (d door) stored(p *loadplan.Plan) {
	if d.s.Name == "show" {
		return
	}
	b, err := json.Marshal(p)
	if err != nil {
		d.Fatal(err)
	}
	var again loadplan.Plan
	if err := json.Unmarshal(b, &again); err != nil {
		d.Fatal(err)
	}
	d.like("stored", &again, p)
}

// experimentText is an experiment whose file has a value at the setting's key, and the line of it.
func (d door) experimentText(value string) string {
	place, path, _ := strings.Cut(d.s.Key, ".")
	text, _ := json.Marshal(value)
	if d.s.Value == "" { // a switch
		text = []byte(value)
	}
	level, work := "connections: 50", "request: {path: /}"
	if outer, inner, nested := strings.Cut(path, "."); nested {
		beside := ""
		if slices.Contains(d.sample.With, "--stream=sse") {
			beside = "format: sse, "
		}
		path, text = outer, fmt.Appendf(nil, "{%s%s: %s}", beside, inner, text)
	}
	one := fmt.Sprintf("%s: %s", path, text)
	if place == "level" {
		if level = one; len(d.sample.With) > 0 {
			level += ", rate: 100"
		}
	} else {
		work = one
		for _, arg := range d.sample.With { // beside it, unless it is nested
			name, v, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
			if key, is := strings.CutPrefix(setting.Named(name).Key, "workload."); is && !strings.Contains(key, ".") {
				work += fmt.Sprintf(", %s: %q", key, v)
			}
		}
	}
	return fmt.Sprintf("version: 1\nname: x\nworkload: {%s}\nlevels: [{%s}]\nvariants: {a: {url: '%s'}}\n",
		work, level, d.url())
}

// planOf is the plan of an experiment's first level.
func (d door) planOf(e *experiment.Experiment) *loadplan.Plan {
	d.Helper()
	in, err := workload.Read(e, 1<<20)
	if err != nil {
		d.Fatal(err)
	}
	p, err := workload.Plan(e, in, e.Levels[0], workload.Of(e, experiment.Expand(e)[0]), d.url(), []int{0, 1, 2})
	if err != nil {
		d.Fatal(err)
	}
	return &p
}

func (d door) isInFile() bool {
	return strings.HasPrefix(d.s.Key, "level.") || strings.HasPrefix(d.s.Key, "workload.")
}

// file reads an experiment.
func (d door) file(p *loadplan.Plan) {
	if !d.isInFile() {
		return
	}
	e, err := experiment.Read("x.yaml", strings.NewReader(d.experimentText(d.sample.Good)))
	if err != nil {
		d.Fatalf("file: %v", err)
	}
	d.like("file", d.planOf(e), p)
	_, err = experiment.Read("x.yaml", strings.NewReader(d.experimentText(d.sample.Wrong)))
	at := strings.Replace("x.yaml:4:|"+d.s.Key, "|level.", "|levels[0].", 1)
	at = strings.Replace(at, "4:|workload.", "3:|workload.", 1)
	line, key, _ := strings.Cut(at, "|")
	if err == nil || !strings.HasPrefix(err.Error(), line) || !strings.Contains(err.Error(), ": "+key+": ") {
		d.Errorf("file: %v, want one at %s of %s", err, line, key)
	}
}

// vs composes a comparison.
func (d door) vs(p *loadplan.Plan) {
	if d.s.On&setting.Vs == 0 {
		return
	}
	urls := []string{"http://127.0.0.1:1/", "http://127.0.0.1:2/"}
	f, faults := readVs(context.Background(), append(d.args(d.sample.Good), urls...))
	if len(faults) > 0 {
		d.Fatalf("vs: %q", faults)
	}
	e, err := f.compose(func(string) {})
	if err != nil {
		d.Fatalf("vs: %v", err)
	}
	d.like("vs", d.planOf(e), p)
	_, faults = readVs(context.Background(), append(d.args(d.sample.Wrong), urls...))
	d.begins("vs", faults, "--"+d.s.Name+": ")
}

// divided cuts the load among generators.
func (d door) divided(p *loadplan.Plan) {
	parts := p.SplitBy([]int{2, 1})
	whole, err := loadplan.Join(parts)
	if err != nil {
		d.Fatal(err)
	}
	want := d.s.Text(p)
	first, second := d.s.Text(&parts[0]), d.s.Text(&parts[1])
	switch shared := !slices.Equal(first, want) || !slices.Equal(second, want); {
	case d.sample.First:
		if !slices.Equal(first, want) || second != nil {
			d.Errorf("divided: %q and %q; the first alone has %q", first, second, want)
		}
	case d.sample.Shared:
		d.like("joined", &whole, p)
		if !shared {
			d.Errorf("divided: each has %q", want)
		}
	case shared:
		d.Errorf("divided: %q and %q, want %q of each", first, second, want)
	}
}
