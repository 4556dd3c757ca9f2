package experiment

import (
	"os"
	"reflect"
	"slices"
	"strings"

	"dyno/internal/hole"
	"dyno/internal/redact"
)

// ReplaceEnv is a text of a request in which with says what stands in the place of each
// {{env "NAME"}} and {{env "NAME" "DEFAULT"}}. Other holes are those of dyno run, and stay.
func ReplaceEnv(text string, with func(action string, e hole.Env) string) string {
	if !strings.Contains(text, "{{") {
		return text // as most are: nothing is copied
	}
	var b strings.Builder
	for p := range hole.Pieces(text) {
		if e, is, ok := envIn(p); is && ok {
			p.Text = with(p.Text, e)
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// noText stands in the place of nothing.
func noText(string, hole.Env) string { return "" }

// HasEnv reports whether a text of a request takes something from the environment.
func HasEnv(text string) bool {
	has := false
	ReplaceEnv(text, func(action string, _ hole.Env) string {
		has = true
		return action
	})
	return has
}

// envIn is the use of env in a piece of a request's text. It may have the trim markers of a
// template, which do nothing.
func envIn(p hole.Piece) (e hole.Env, is, ok bool) {
	if p.Kind != hole.Hole {
		return e, false, false
	}
	inside := strings.TrimPrefix(strings.TrimSuffix(p.Text[2:len(p.Text)-2], "-"), "-")
	e, is, ok = hole.ReadEnv(strings.TrimSpace(inside))
	if e.At > 0 {
		e.At += strings.Index(p.Text, "env")
	}
	return e, is, ok
}

// texts are the texts of a workload in which variables may be named: those of its request, and who
// sends it.
func (w *Workload) texts() []*string {
	all := []*string{&w.Request.Path, &w.Request.Body, &w.User}
	for i := range w.Request.Headers {
		all = append(all, &w.Request.Headers[i].Value)
	}
	return all
}

// ExpandVariables is w with the values of the variables that its request and its user name. If keep
// is not nil, what keep returns stands in the place of the values. A variable that is not set is an
// error.
func (w Workload) ExpandVariables(keep redact.Replacer) (Workload, error) {
	w.Request.Headers = slices.Clone(w.Request.Headers)
	var failed error
	for _, text := range w.texts() {
		*text = ReplaceEnv(*text, func(_ string, e hole.Env) string {
			args := []string{e.Name, e.Default}
			if !e.HasDefault {
				args = args[:1]
			}
			value, err := environment(args)
			if err != nil && failed == nil {
				failed = err
			}
			if keep != nil && os.Getenv(e.Name) != "" {
				value = keep(e.Name, value)
			}
			if text == &w.User { // which has no holes
				return value
			}
			return hole.Quote(value) // a value has no holes
		})
	}
	return w, failed
}

// FromEnvironment reports whether a workload names variables.
func (w Workload) FromEnvironment() bool {
	return slices.ContainsFunc(w.texts(), func(s *string) bool { return HasEnv(*s) })
}

// unsetVariables are the variables that a workload names, that are not set and have no default.
func (w Workload) unsetVariables() (names []string) {
	for _, text := range w.texts() {
		ReplaceEnv(*text, func(_ string, e hole.Env) string {
			if !e.HasDefault && os.Getenv(e.Name) == "" {
				names = append(names, e.Name)
			}
			return ""
		})
	}
	return names
}

// misnamed is a faulty use of env in a request's text; "" if there is none.
func misnamed(text string) string {
	for p := range hole.Pieces(text) {
		if _, is, ok := envIn(p); is && !ok {
			return p.Text
		}
	}
	return ""
}

// Environment are the values that v's templates and its request take from the environment, each
// once.
func (v Variant) Environment() (values []string) {
	add := func(name string) {
		if value := os.Getenv(name); value != "" && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	eachTemplate(reflect.ValueOf(v.Definition), "", func(_ string, t Template) {
		for _, m := range t.mentions() {
			if m.Word == "env" && len(m.Args) > 0 {
				add(m.Args[0])
			}
		}
	})
	sent := v.Sent()
	for _, text := range sent.texts() {
		ReplaceEnv(*text, func(_ string, e hole.Env) string {
			add(e.Name)
			return ""
		})
	}
	return values
}
