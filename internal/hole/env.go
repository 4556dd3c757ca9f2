package hole

import (
	"strconv"
	"strings"
)

// An Env is {{env "NAME"}} or {{env "NAME" "DEFAULT"}}.
type Env struct {
	Name, Default string
	HasDefault    bool
	At, Length    int // of the quoted default, in what was read
}

// ReadEnv reads what stands inside a hole, without the spaces around it. is says that env is
// called, ok that it is called rightly.
func ReadEnv(inside string) (e Env, is, ok bool) {
	rest, is := strings.CutPrefix(inside, "env")
	if !is || rest != "" && !isSpace(rest[0]) && rest[0] != '"' {
		return e, false, false
	}
	spaced := rest != "" && isSpace(rest[0])
	name, rest, ok := cutQuoted(rest)
	if !ok || !spaced || name == "" {
		return e, true, false
	}
	e.Name = name
	if e.HasDefault = rest != ""; !e.HasDefault {
		return e, true, true
	}
	e.At = len(inside) - len(rest)
	e.Length = len(rest)
	e.Default, rest, ok = cutQuoted(rest)
	return e, true, ok && rest == ""
}

// Quote is a text in which a value has no holes, whatever stands around it: itself or, if braces or
// backslashes could mean something, {{"…"}}.
func Quote(value string) string {
	if strings.ContainsAny(value, `{\`) {
		return "{{" + strconv.Quote(value) + "}}"
	}
	return value
}

// Unquote is the text that stands in quotes inside a hole; is says that it is one.
func Unquote(inside string) (value string, is bool) {
	value, rest, ok := cutQuoted(inside)
	return value, ok && rest == ""
}

// cutQuoted takes a quoted string, and the spaces around it, off s.
func cutQuoted(s string) (value, rest string, ok bool) {
	s = strings.TrimSpace(s)
	q, err := strconv.QuotedPrefix(s)
	if err != nil || q[0] != '"' {
		return "", s, false
	}
	value, err = strconv.Unquote(q)
	return value, strings.TrimSpace(s[len(q):]), err == nil
}
