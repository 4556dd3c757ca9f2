package experiment

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"dyno/internal/redact"
)

// EnvAction matches {{env "NAME"}} and {{env "NAME" "DEFAULT"}}. These are the only actions in a
// request; other holes are those of dyno run.
var (
	EnvAction = regexp.MustCompile(`\{\{-?\s*env\s+("[^"]*")(?:\s+("[^"]*"))?\s*-?\}\}`)
	likely    = regexp.MustCompile(`\{\{-?\s*env\b[^}]*\}?\}?`)
)

// texts are the texts of a request in which variables may be named.
func (r *Request) texts() []*string {
	all := []*string{&r.Path, &r.Body}
	for i := range r.Headers {
		all = append(all, &r.Headers[i].Value)
	}
	return all
}

// ExpandVariables is r with the values of the variables that its path, headers and body name. If
// keep is not nil, what keep returns stands in the place of the values. A variable that is not set
// is an error.
func (r Request) ExpandVariables(keep redact.Replacer) (Request, error) {
	r.Headers = slices.Clone(r.Headers)
	var failed error
	for _, text := range r.texts() {
		*text = EnvAction.ReplaceAllStringFunc(*text, func(action string) string {
			m := EnvAction.FindStringSubmatch(action)
			name, otherwise := strings.Trim(m[1], `"`), []string{}
			if m[2] != "" {
				otherwise = append(otherwise, strings.Trim(m[2], `"`))
			}
			value, err := environment(name, otherwise...)
			if err != nil && failed == nil {
				failed = err
			}
			if keep != nil && os.Getenv(name) != "" {
				value = keep(name, value)
			}
			return strings.ReplaceAll(value, "{{", `\{{`) // a value has no holes
		})
	}
	return r, failed
}

// FromEnvironment reports whether a request names variables.
func (r Request) FromEnvironment() bool {
	return slices.ContainsFunc(r.texts(), func(s *string) bool { return EnvAction.MatchString(*s) })
}

// unsetVariables are the variables that a request names, that are not set and have no default.
func (r Request) unsetVariables() (names []string) {
	for _, text := range r.texts() {
		for _, m := range EnvAction.FindAllStringSubmatch(*text, -1) {
			if name := strings.Trim(m[1], `"`); m[2] == "" && os.Getenv(name) == "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// misnamed is a faulty use of env in a request's text; "" if there is none.
func misnamed(text string) string {
	for _, found := range likely.FindAllString(text, -1) {
		if !EnvAction.MatchString(found) {
			return found
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
		found, _ := findMentions(string(t))
		for _, m := range found {
			if m.verb == "env" && len(m.args) > 0 {
				add(m.args[0])
			}
		}
	})
	asked := v.Asked()
	for _, text := range asked.texts() {
		for _, m := range EnvAction.FindAllStringSubmatch(*text, -1) {
			add(strings.Trim(m[1], `"`))
		}
	}
	return values
}
