package redact

import (
	"slices"
	"strings"

	"dyno/internal/lazyregexp"
)

// word is a name in a path of JSON.
var word = lazyregexp.New(`[A-Za-z_][\w-]*`)

// Check is what is kept of a check of responses, or of its name. That of a header is "Name: value",
// and its value is kept as that of a response's field is. That of JSON is "json:path==value".
func (r Replacer) Check(check string) string {
	if r == nil {
		return check
	}
	name, value, found := strings.Cut(check, ":")
	name = strings.TrimSpace(name)
	switch {
	case name == "json":
		return r.jsonCheck(check)
	case !found || strings.ContainsAny(name, " /") ||
		slices.Contains([]string{"contains", "regex", "sha256"}, name):
		return r.Route(check) // may be a method and a path, too
	}
	value = strings.TrimLeft(value, " \t")
	return check[:len(check)-len(value)] + r.AnswerField(name, value)
}

// jsonCheck is Check of one that compares: without the value if the last name before it is that of
// a secret.
func (r Replacer) jsonCheck(check string) string {
	for from := 0; ; {
		i := strings.Index(check[from:], "==")
		if i < 0 {
			return check
		}
		from += i + len("==")
		names := word().FindAllString(check[:from], -1)
		if last := names[len(names)-1]; Secret(last) {
			return check[:from] + r(last, check[from:])
		}
	}
}
