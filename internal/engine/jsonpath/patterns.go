package jsonpath

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/registry"
	"github.com/theory/jsonpath/spec"

	"dyno/internal/engine/scenario"
)

// The library's match() and search() compile their pattern for each value, have no limits, and
// panic where the text that they look at is missing. Its registry lets nobody replace them. So
// functions of this package are registered under names of their own, and a path that uses the
// library's is parsed a second time with these names.

// A matcher is a path whose functions match and search are this package's. One search uses it at a
// time.
type matcher struct {
	path     *jsonpath.Path
	compiled map[string]*pattern
	left     int // steps of this search
}

// A pattern is a compiled regular expression; one without Regexp is none.
type pattern struct {
	*regexp.Regexp
	instructions int
}

// keptPatterns is how many patterns a matcher keeps. They may stand in what a server has sent.
const keptPatterns = 16

// matchersOf are the matchers of a path; nil if it has neither function.
func matchersOf(text string) *sync.Pool {
	renamed, is := renameFunctions(text)
	if !is {
		return nil
	}
	return &sync.Pool{New: func() any {
		m := &matcher{compiled: map[string]*pattern{}}
		known := registry.New()
		err := errors.Join(
			known.Register(ownName+"match", spec.FuncLogical, checkTexts, m.match),
			known.Register(ownName+"search", spec.FuncLogical, checkTexts, m.search))
		if err == nil {
			m.path, err = jsonpath.NewParser(jsonpath.WithRegistry(known)).Parse(renamed)
		}
		if err != nil {
			panic(err) // it was parsed with other names
		}
		return m
	}}
}

// ownName begins the names of this package's functions.
const ownName = "bounded_"

// renameFunctions gives the functions match and search of a path their own names.
func renameFunctions(text string) (renamed string, is bool) {
	var b strings.Builder
	quote, inName := byte(0), false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
			c = text[i]
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '\'' || c == '"':
			quote = c
		case !inName && (strings.HasPrefix(text[i:], "match(") ||
			strings.HasPrefix(text[i:], "search(")):
			is = true
			b.WriteString(ownName)
		}
		inName = quote == 0 && (c == '_' || c >= 0x80 || c >= '0' && c <= '9' ||
			c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
		b.WriteByte(c)
	}
	return b.String(), is
}

// checkTexts reports arguments that are not two values.
func checkTexts(args []spec.FuncExprArg) error {
	isText := func(a spec.FuncExprArg) bool { return a.ConvertsTo(spec.FuncValue) }
	if len(args) != 2 || !isText(args[0]) || !isText(args[1]) {
		return errors.New("it takes two values")
	}
	return nil
}

// selectIn is what the path selects in decoded JSON. The error is scenario.ErrLimits if its
// patterns take too many steps.
func (m *matcher) selectIn(all any) (found []any, err error) {
	defer recoverLimits(&err)
	m.left = scenario.MaxSteps
	return m.path.Select(all), nil
}

// recoverLimits makes an error of a panic: the library panics on some paths.
func recoverLimits(err *error) {
	switch p := recover(); p {
	case nil:
	case scenario.ErrLimits:
		*err = scenario.ErrLimits
	default:
		*err = errors.New("the JSON path cannot be evaluated")
	}
}

// match reports whether a pattern matches all of a text.
func (m *matcher) match(of []spec.PathValue) spec.PathValue {
	return m.look(of, `\A(?:`, `)\z`)
}

// search reports whether a pattern matches somewhere in a text.
func (m *matcher) search(of []spec.PathValue) spec.PathValue { return m.look(of, "", "") }

// look matches the second of two values, between before and after, with the first. What is no text
// does not match.
func (m *matcher) look(of []spec.PathValue, before, after string) spec.PathValue {
	text, is := textOf(of[0])
	written, both := textOf(of[1])
	if !is || !both {
		return spec.LogicalFalse
	}
	p := m.pattern(written, before, after)
	if p.Regexp == nil {
		return spec.LogicalFalse
	}
	if m.left -= p.instructions * (len(text) + 1); m.left < 0 {
		panic(scenario.ErrLimits)
	}
	return spec.Logical(p.MatchString(text))
}

// textOf is a value that is a text. A value that is missing is nil.
func textOf(v spec.PathValue) (text string, is bool) {
	if value, has := v.(*spec.ValueType); has && value != nil {
		text, is = value.Value().(string)
	}
	return text, is
}

// pattern is a regular expression of RFC 9485, where a dot is neither CR nor LF. To compile one
// counts as many steps as it has instructions, a hundred times. One that is too long is none, and
// is neither parsed nor kept.
func (m *matcher) pattern(written, before, after string) *pattern {
	if len(written) > scenario.MaxPattern {
		return &pattern{}
	}
	key := before + written
	if p := m.compiled[key]; p != nil {
		return p
	}
	p := &pattern{}
	var err error
	p.Regexp, p.instructions, err = scenario.CompilePattern(before + withDots(written) + after)
	if err != nil {
		p.Regexp = nil
	}
	if m.left -= 100 * (p.instructions + len(written)); m.left < 0 {
		panic(scenario.ErrLimits)
	}
	if len(m.compiled) >= keptPatterns {
		clear(m.compiled)
	}
	m.compiled[key] = p
	return p
}

// withDots is a pattern whose dots are those of RFC 9485. It is made of the text: to write a parsed
// one again takes a millisecond for each wide class, and a server can write hundreds.
func withDots(written string) string {
	var b strings.Builder
	for rest := written; rest != ""; {
		n := 1
		switch {
		case rest[0] == '.':
			b.WriteString(`[^\n\r]`)
			rest = rest[1:]
			continue
		case strings.HasPrefix(rest, `\Q`):
			if n = strings.Index(rest, `\E`); n < 0 {
				n = len(rest)
			}
		case rest[0] == '\\':
			n = 2
		case rest[0] == '[':
			n = lengthOfClass(rest)
		}
		n = min(n, len(rest))
		b.WriteString(rest[:n])
		rest = rest[n:]
	}
	return b.String()
}

// lengthOfClass is how many bytes the class has that a pattern begins with.
func lengthOfClass(s string) int {
	i := len("[")
	if strings.HasPrefix(s[i:], "^") {
		i++
	}
	for first := i; i < len(s) && (s[i] != ']' || i == first); {
		named := -1
		if strings.HasPrefix(s[i:], "[:") {
			named = strings.Index(s[i+2:], ":]")
		}
		switch {
		case named >= 0:
			i += named + len("[::]")
		case s[i] == '\\':
			i += 2
		default:
			i++
		}
	}
	return i + 1
}
