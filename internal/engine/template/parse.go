package template

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/fault"
)

// maxDigits is how many digits a hole of hex has at most, and maxHoles how many holes a text has.
const (
	maxDigits = 1 << 10
	maxHoles  = 1 << 10
)

// Parse compiles a text that begins at a position. The error has every fault of it, each a
// fault.Fault.
//
// A hole begins with {{ and ends with the next }} of its line, outside of quotes. After a backslash
// {{ is literal, and the backslash is left out; after two it begins a hole, and both stay.
func (n *Names) Parse(text string, at Position) (Text, error) {
	if n.Literal {
		return Text{Literal: text}, nil
	}
	p := parser{names: n, text: text, line: at.Line, column: at.Column}
	p.faults.File = at.File
	for p.next() {
	}
	if len(p.holes) > maxHoles {
		p.faults.Add(at.Line, at.Column, "has %d holes; %d are possible", len(p.holes), maxHoles)
	}
	return Text{p.literal.String(), p.holes}, p.faults.Err()
}

// HasHoles reports whether a text has {{, so that Parse would change it or refuse it.
func HasHoles(text string) bool { return strings.Contains(text, "{{") }

// HoleLength is how many bytes the hole has with which a text begins, or 0.
func HoleLength(text string) int {
	if !strings.HasPrefix(text, "{{") {
		return 0
	}
	return max(holeEnd(text), 0)
}

type parser struct {
	names        *Names
	text         string // what is left
	line, column int    // where it begins
	literal      strings.Builder
	holes        []Hole
	faults       fault.List
}

// skip moves n bytes on.
func (p *parser) skip(n int) {
	if i := strings.LastIndexByte(p.text[:n], '\n'); i >= 0 {
		p.line += strings.Count(p.text[:n], "\n")
		p.column = n - i
	} else {
		p.column += n
	}
	p.text = p.text[n:]
}

// next parses the literal up to the next hole, and the hole. It reports whether there is more.
func (p *parser) next() bool {
	i := strings.Index(p.text, "{{")
	if i < 0 {
		p.literal.WriteString(p.text)
		return false
	}
	if slashes := i - len(strings.TrimRight(p.text[:i], `\`)); slashes%2 == 1 {
		p.literal.WriteString(p.text[:i-1])
		p.literal.WriteString("{{")
		p.skip(i + 2)
		return true
	}
	p.literal.WriteString(p.text[:i])
	p.skip(i)
	end := holeEnd(p.text)
	if end < 0 {
		line, _, _ := strings.Cut(p.text, "\n")
		if hole, _, closed := strings.Cut(line, "}}"); closed && strings.Contains(hole, `"`) {
			p.faults.Add(p.line, p.column, "a quote in %.60s}} is not closed; write {{env \"NAME\"}}", hole)
		} else {
			p.faults.Add(p.line, p.column,
				`{{ is not closed by }} on its line; write \{{ to send it as it is`)
		}
		p.skip(2)
		return true
	}
	if problem := p.hole(strings.TrimSpace(p.text[2 : end-2])); problem != "" {
		p.faults.Add(p.line, p.column, "%s", problem)
	}
	p.skip(end)
	return true
}

// holeEnd is where the hole ends at which text begins, or -1.
func holeEnd(text string) int {
	quoted := false
	for i := 2; i < len(text) && text[i] != '\n'; i++ {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case quoted && text[i] == '\\':
			i++
		case quoted:
		case strings.HasPrefix(text[i:], "{{"):
			return -1
		case strings.HasPrefix(text[i:], "}}"):
			return i + 2
		}
	}
	return -1
}

// hole parses what stands in a hole. It returns what is wrong with it.
func (p *parser) hole(inside string) (problem string) {
	n := p.names
	if n.Used != nil {
		n.Used[inside] = true
	}
	if value, is := n.Variables[inside]; is {
		p.literal.WriteString(value)
		return ""
	}
	if i := slices.Index(n.Columns, inside); i >= 0 {
		p.add(Source{Kind: Column, Index: i})
		return ""
	}
	if i := slices.Index(n.Captures, inside); i >= 0 {
		p.add(Source{Kind: Capture, Index: i})
		return ""
	}
	name, rest, _ := strings.Cut(inside, " ")
	if name == env {
		return p.env(strings.TrimSpace(rest))
	}
	i := slices.IndexFunc(functions, func(f function) bool { return f.name == name })
	switch {
	case inside == "":
		return `{{}} names nothing; write \{{ to send it as it is`
	case i < 0 && n.Unread:
		p.add(Source{Kind: Column})
		return ""
	case i < 0:
		return n.problem(inside)
	}
	s, ok := parseCall(functions[i].kind, strings.Fields(rest))
	if !ok {
		return fmt.Sprintf("{{%.60s}} is not how %s is called: write %s%s", inside, name,
			functions[i].usage, limits(functions[i].kind))
	}
	p.add(s)
	return ""
}

func (p *parser) add(s Source) { p.holes = append(p.holes, Hole{p.literal.Len(), s}) }

// limits are what a function's arguments may be.
func limits(k Kind) string {
	switch k {
	case Int:
		return "; LOW is not above HIGH, both have 64 bits"
	case Hex:
		return fmt.Sprintf("; DIGITS is 1 to %d", maxDigits)
	}
	return ""
}

// parseCall parses the arguments of a function.
func parseCall(k Kind, args []string) (s Source, ok bool) {
	s.Kind = k
	var low, high int64
	var err error
	switch want := map[Kind]int{Int: 2, Hex: 1}[k]; {
	case len(args) != want:
		return s, false
	case want == 0:
		return s, true
	}
	if low, err = strconv.ParseInt(args[0], 10, 64); err != nil {
		return s, false
	}
	if k == Hex {
		s.Low = low
		return s, low >= 1 && low <= maxDigits
	}
	if high, err = strconv.ParseInt(args[1], 10, 64); err != nil {
		return s, false
	}
	s.Low, s.High = low, high
	return s, low <= high
}

// env parses the arguments of env, and writes the variable's value.
func (p *parser) env(rest string) (problem string) {
	const usage = `write {{env "NAME"}}, or {{env "NAME" "DEFAULT"}}`
	name, rest, ok := quotedPrefix(rest)
	if !ok || name == "" {
		return usage
	}
	value, fallback := "", rest != ""
	if fallback {
		if value, rest, ok = quotedPrefix(rest); !ok || rest != "" {
			return usage
		}
	}
	if p.names.Env != nil {
		if set, is := p.names.Env(name); is {
			p.literal.WriteString(set)
			return ""
		}
	}
	if !fallback {
		return fmt.Sprintf("the environment has no %.60s; set it, or write "+
			`{{env "%.60[1]s" "DEFAULT"}}`, name)
	}
	p.literal.WriteString(value)
	return ""
}

// quotedPrefix takes a quoted string, and spaces behind it, off s.
func quotedPrefix(s string) (value, rest string, ok bool) {
	q, err := strconv.QuotedPrefix(s)
	if err != nil || q[0] != '"' {
		return "", s, false
	}
	value, err = strconv.Unquote(q)
	return value, strings.TrimSpace(s[len(q):]), err == nil
}

// Longest is how many bytes Append appends at most.
func (s Source) Longest() int {
	switch s.Kind {
	case UUID:
		return 36
	case Int, Seq:
		return len(strconv.Itoa(math.MinInt64))
	case Hex:
		return int(s.Low)
	case Now:
		return len(nowLayout)
	}
	return 0
}
