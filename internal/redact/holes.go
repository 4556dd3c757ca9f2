package redact

import (
	"bytes"
	"fmt"
	"strconv"

	"dyno/internal/hole"
	"dyno/internal/lazyregexp"
)

// namesOnly is the inside of a hole that names what fills it, and says nothing else.
var namesOnly = lazyregexp.New(`^(\w[\w.-]*|env\s+"\w+")$`)

// schemeBefore is what may stand before a secret of which all else is filled in.
var schemeBefore = lazyregexp.New(`^(?i:(bearer|basic|digest|token)\s+)?`)

// isHole reports whether a hole is all of a secret.
func isHole(value string) bool {
	value = value[len(schemeBefore().FindString(value)):]
	for p := range hole.Pieces(value) { // if it is one, it is the first
		return len(p.Text) == len(value) && namesOnly().MatchString(p.Inside())
	}
	return false
}

// KeepHoles is r, which leaves the holes of templates that stand in the place of a secret. It adds
// the names in them to names, unless that is nil.
func (r Replacer) KeepHoles(names map[string]bool) Replacer {
	if r == nil {
		return nil
	}
	return func(name, value string) string {
		if names != nil {
			for p := range hole.Pieces(value) {
				if inside := p.Inside(); namesOnly().MatchString(inside) {
					names[inside] = true
				}
			}
		}
		if isHole(value) {
			return value
		}
		return r(name, value)
	}
}

// stand is a number that stands for a hole, by its index.
var stand = lazyregexp.New(standDigits + `(\d{7})`)

const (
	standDigits = "2718281828"
	mostHoles   = 1e7
)

// TemplateBody is Body of a template. Holes stand for values there: {"n": {{int 1 9}}} is JSON.
func (r Replacer) TemplateBody(kind string, body []byte) []byte {
	if r == nil || !bytes.Contains(body, []byte("{{")) || stand().Match(body) {
		return r.Body(kind, body)
	}
	var holes []string
	var numbered []byte
	for p := range hole.Pieces(string(body)) {
		if p.Kind == hole.Literal {
			numbered = append(numbered, p.Text...)
			continue
		}
		numbered = fmt.Appendf(numbered, "%s%07d", standDigits, len(holes))
		holes = append(holes, p.Text)
	}
	if len(holes) == 0 || len(holes) > mostHoles {
		return r.Body(kind, body)
	}
	restored := func(text []byte) []byte {
		return stand().ReplaceAllFunc(text, func(number []byte) []byte {
			i, err := strconv.Atoi(string(number[len(standDigits):]))
			if err != nil || i >= len(holes) {
				return number
			}
			return []byte(holes[i])
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
