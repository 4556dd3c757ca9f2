package template

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/fault"
	"dyno/internal/hole"
)

// maxDigits is how many digits a hole of hex has at most, and maxHoles how many holes a text has.
// What is said of a hole that is not closed depends on no more than maxLooked bytes.
const (
	maxDigits = 1 << 10
	maxHoles  = 1 << 10
	maxLooked = 1 << 10
)

// Parse compiles a text that begins at a position. The error has every fault of it, each a
// fault.Fault. See hole.Pieces for what is a hole.
func (n *Names) Parse(text string, at Position) (Text, error) {
	if n.Literal {
		return Text{Literal: text}, nil
	}
	p := parser{names: n, line: at.Line, column: at.Column}
	p.faults.File = at.File
	for piece := range hole.Pieces(text) {
		p.piece(piece, text[piece.At:])
		p.skip(piece.Text)
	}
	if len(p.holes) > maxHoles {
		p.faults.Add(at.Line, at.Column, "has %d holes; %d are possible", len(p.holes), maxHoles)
	}
	return Text{p.literal.String(), p.holes}, p.faults.Err()
}

// HasHoles reports whether a text has {{, so that Parse would change it or refuse it.
func HasHoles(text string) bool { return strings.Contains(text, "{{") }

type parser struct {
	names        *Names
	line, column int // of the piece
	literal      strings.Builder
	holes        []Hole
	faults       fault.List
}

// skip moves the place behind a text.
func (p *parser) skip(text string) {
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		p.line += strings.Count(text, "\n")
		p.column = len(text) - i
	} else {
		p.column += len(text)
	}
}

// piece adds a piece, with which rest begins.
func (p *parser) piece(piece hole.Piece, rest string) {
	switch piece.Kind {
	case hole.Literal:
		p.literal.WriteString(piece.Text)
	case hole.Escaped:
		p.literal.WriteString("{{")
	case hole.Hole:
		if problem := p.hole(piece.Inside()); problem != "" {
			p.faults.Add(p.line, p.column, "%s", problem)
		}
	case hole.Open:
		line, _, _ := strings.Cut(rest[:min(len(rest), maxLooked)], "\n")
		if text, _, closed := strings.Cut(line, "}}"); closed && strings.Contains(text, `"`) {
			p.faults.Add(p.line, p.column, "a quote in %.60s}} is not closed; write {{env \"NAME\"}}", text)
		} else {
			p.faults.Add(p.line, p.column,
				`{{ is not closed by }} on its line; write \{{ to send it as it is`)
		}
	}
}

// hole parses what stands in a hole. It returns what is wrong with it.
func (p *parser) hole(inside string) (problem string) {
	n := p.names
	if of, is := strings.CutPrefix(inside, asJSON+" "); is {
		return p.json(strings.TrimSpace(of))
	}
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
	if value, is := hole.Unquote(inside); is {
		p.literal.WriteString(value)
		return ""
	}
	if e, is, ok := hole.ReadEnv(inside); is {
		return p.env(e, ok)
	}
	name, rest, _ := strings.Cut(inside, " ")
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

// json parses {{json NAME}}.
func (p *parser) json(name string) (problem string) {
	n := p.names
	if n.Used != nil {
		n.Used[name] = true
	}
	value, isVariable := n.Variables[name]
	column := slices.Index(n.Columns, name)
	switch {
	case isVariable:
		p.literal.Write(AppendJSON(nil, []byte(value)))
	case column >= 0 || n.Unread:
		p.add(Source{Kind: Column, Index: max(column, 0), JSON: true})
	case slices.Contains(n.Captures, name):
		return fmt.Sprintf("{{json %.60s}} is of a capture: json is for columns and variables", name)
	default:
		return n.problem(name)
	}
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

// env writes the value of a variable of the environment.
func (p *parser) env(e hole.Env, ok bool) (problem string) {
	if !ok {
		return `write {{env "NAME"}}, or {{env "NAME" "DEFAULT"}}`
	}
	if p.names.Env != nil {
		if set, is := p.names.Env(e.Name); is {
			p.literal.WriteString(set)
			return ""
		}
	}
	if !e.HasDefault {
		return fmt.Sprintf("the environment has no %.60s; set it, or write "+
			`{{env "%.60[1]s" "DEFAULT"}}`, e.Name)
	}
	p.literal.WriteString(e.Default)
	return ""
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
