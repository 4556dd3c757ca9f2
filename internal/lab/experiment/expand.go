package experiment

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A Variant is one server configuration: a Definition with a value for each
// factor that its templates mention.
type Variant struct {
	Name    string    // unique, as "go gomaxprocs=8"
	Of      string    // the name in the file, as "go"
	Factors []Setting // in the file's order
	Definition

	here     string
	workload *Workload
	declared []string // all factors, mentioned or not
}

// ControlMark is the ending of the name of an A/A arm.
const ControlMark = " (A/A)"

// A Setting is a factor and its value.
type Setting struct{ Factor, Value string }

// Expand returns every variant of e, in the file's order. The last factor varies fastest. A factor
// multiplies only those definitions whose templates mention it. A screening has a fraction of the
// combinations (stats.FoldOver).
func Expand(e *Experiment) []Variant {
	var all []Variant
	for _, d := range e.Variants {
		all = append(all, expandOne(e, d)...)
	}
	return all
}

func expandOne(e *Experiment, d Entry[Definition]) []Variant {
	mentioned := mentionedBy(d.Value)
	all := []Variant{{Name: d.Name, Of: d.Name, Definition: d.Value, here: e.Here,
		workload: &e.Workload, declared: e.Factors.Names()}}
	var factors []Entry[[]string]
	for _, f := range e.Factors {
		if mentioned[f.Name] && len(f.Value) > 0 {
			factors = append(factors, f)
		}
	}
	if e.IsScreened(factors) {
		return expandScreened(all[0], factors)
	}
	for _, f := range factors {
		var more []Variant
		for _, v := range all {
			for _, value := range f.Value {
				more = append(more, v.with(f.Name, value))
			}
		}
		all = more
	}
	return all
}

// with is v with a value of one more factor.
func (v Variant) with(factor, value string) Variant {
	v.Name = fmt.Sprintf("%s %s=%s", v.Name, factor, value)
	v.Factors = append(slices.Clip(v.Factors), Setting{factor, value})
	return v
}

// mentionedBy are the words that the templates of d mention, factors among them.
func mentionedBy(d Definition) map[string]bool {
	words := map[string]bool{}
	eachTemplate(reflect.ValueOf(d), "", func(_ string, t Template) {
		for _, m := range t.mentions() {
			words[m.Word] = true
		}
	})
	return words
}

// ValueOf is v's value of a factor.
func (v Variant) ValueOf(factor string) (string, bool) {
	for _, s := range v.Factors {
		if s.Factor == factor {
			return s.Value, true
		}
	}
	return "", false
}

// Asked is the request of v: its own, or the workload's.
func (v Variant) Asked() Request {
	if v.Request != nil {
		return *v.Request
	}
	return v.workload.Request
}

// Sent is what v is sent: the workload, with v's own request if it has one.
func (v Variant) Sent() Workload {
	w := *v.workload
	w.Request = v.Asked()
	return w
}

// LevelOf is a level as v is loaded at it: with v's own version of HTTP, if it has one.
func (v Variant) LevelOf(l Level) Level {
	if v.HTTP != "" {
		l.HTTP = v.HTTP
	}
	return l
}

// Expected is the expected answer of v: its own, or the workload's, which also supplies the
// statuses that its own leaves out.
func (v Variant) Expected() Expect {
	if v.Expect == nil {
		return v.workload.Expect
	}
	x := *v.Expect
	if len(x.Status) == 0 {
		x.Status = v.workload.Expect.Status
	}
	return x
}

// Baseline is what v is compared with: of those in among that name calls, by the
// name in the file or by the whole one, the first that has the same value of
// every factor that both have. There is none if that is not in among.
func Baseline(name string, v Variant, among []Variant) (Variant, bool) {
	for _, b := range among {
		if b.Name == name || b.Of == name && b.agreesWith(v) {
			return b, true
		}
	}
	return Variant{}, false
}

// agreesWith reports whether no factor has different values in a and b.
func (v Variant) agreesWith(w Variant) bool {
	for _, s := range v.Factors {
		if value, has := w.ValueOf(s.Factor); has && value != s.Value {
			return false
		}
	}
	return true
}

var templates = reflect.TypeFor[Template]()

// eachTemplate calls do with every template in v and its path.
func eachTemplate(v reflect.Value, at string, do func(path string, t Template)) {
	switch kind := v.Kind(); {
	case v.Type() == templates:
		do(at, Template(v.String()))
	case kind == reflect.Pointer && !v.IsNil():
		eachTemplate(v.Elem(), at, do)
	case isMapping(v.Type()):
		for i := range v.Len() {
			e := v.Index(i)
			eachTemplate(e.FieldByName("Value"), joinPath(at, e.FieldByName("Name").String()), do)
		}
	case kind == reflect.Slice:
		for i := range v.Len() {
			eachTemplate(v.Index(i), fmt.Sprintf("%s[%d]", at, i), do)
		}
	case kind == reflect.Struct:
		for f, field := range v.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if key != "" && key != "-" {
				eachTemplate(field, joinPath(at, key), do)
			}
		}
	}
}
