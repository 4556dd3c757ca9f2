package redact

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
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

// anyHole is a hole of a template, and stand a number that stands for one, by its index.
var (
	anyHole = regexp.MustCompile(`\{\{[^{}\n]*\}\}`)
	stand   = regexp.MustCompile(standDigits + `(\d{7})`)
)

const (
	standDigits = "2718281828"
	mostHoles   = 1e7
)

// TemplateBody is Body of a template. Holes stand for values there: {"n": {{int 1 9}}} is JSON.
func (r Replacer) TemplateBody(kind string, body []byte) []byte {
	if r == nil || !bytes.Contains(body, []byte("{{")) || !anyHole.Match(body) || stand.Match(body) {
		return r.Body(kind, body)
	}
	holes := anyHole.FindAll(body, mostHoles+1)
	if len(holes) > mostHoles {
		return r.Body(kind, body)
	}
	n := -1
	numbered := anyHole.ReplaceAllFunc(body, func([]byte) []byte {
		n++
		return fmt.Appendf(nil, "%s%07d", standDigits, n)
	})
	restored := func(text []byte) []byte {
		return stand.ReplaceAllFunc(text, func(number []byte) []byte {
			i, err := strconv.Atoi(string(number[len(standDigits):]))
			if err != nil || i >= len(holes) {
				return number
			}
			return holes[i]
		})
	}
	kept := Replacer(func(name, value string) string {
		said := string(restored([]byte(value)))
		if kept := r(name, said); kept != said {
			return kept
		}
		return value
	}).Body(kind, numbered)
	if bytes.Equal(kept, numbered) {
		return body
	}
	return restored(kept)
}
