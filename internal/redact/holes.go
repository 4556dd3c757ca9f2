package redact

import (
	"regexp"
	"strings"
)

// hole is a hole of a template that names what fills it, and says nothing else.
var hole = regexp.MustCompile(`\{\{\s*(\w[\w.-]*|env\s+"\w+")\s*\}\}`)

// onlyHole is a secret of which all is filled in, perhaps behind the kind of credentials it is.
var onlyHole = regexp.MustCompile(`^(?i:(bearer|basic|digest|token)\s+)?` + hole.String() + `$`)

// KeepHoles is r, which leaves the holes of templates that stand in the place of a secret. It adds
// the names in them to names, unless that is nil.
func (r Replacer) KeepHoles(names map[string]bool) Replacer {
	if r == nil {
		return nil
	}
	return func(name, value string) string {
		if !strings.Contains(value, "{{") {
			return r(name, value)
		}
		for _, m := range hole.FindAllStringSubmatch(value, -1) {
			if names != nil {
				names[m[1]] = true
			}
		}
		if onlyHole.MatchString(value) {
			return value
		}
		return r(name, value)
	}
}
