package hole

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Limits of a template. Nobody writes more, and an evil file costs no more.
const (
	maxDepth  = 100 // of conditions, and of parentheses
	maxFaults = 100
)

// A Template is a text that is filled once: it has words, which the caller knows, and conditions,
// written as in Go's text/template.
type Template struct {
	Mentions []Mention // of words, in order
	nodes    []node
}

// A Mention is a use of a word.
type Mention struct {
	Word string
	Args []string
	At   int // of its hole, in bytes
}

// A Fault is a mistake in a hole.
type Fault struct {
	At  int // of the hole, in bytes
	Err error
}

var errOpen = errors.New("{{if}} is not closed by {{end}}")

// Error is the problem without its place.
func (f Fault) Error() string { return f.Err.Error() }

// Unwrap returns what a word said.
func (f Fault) Unwrap() error { return f.Err }

// A node is text, a value that is written, or a condition.
type node struct {
	at       int
	text     string
	value    *expression
	branches []branch
}

// A branch is what a condition makes if it is the first that is true.
type branch struct {
	condition *expression // nil: else
	nodes     []node
}

// An expression is a constant, a word or a function.
type expression struct {
	at       int    // of its hole
	name     string // "": a constant
	constant any
	args     []expression
}

// arities are the functions, with their least and their largest number of arguments.
var arities = map[string]struct {
	least, most int
	said        string
}{
	"eq": {2, many, "two values or more"}, "ne": {2, 2, "two values"},
	"and": {1, many, "a value or more"}, "or": {1, many, "a value or more"},
	"not": {1, 1, "one value"}, "printf": {1, many, "a format and values"},
}

const many = 1 << 30

func isFunction(name string) bool { return arities[name].most > 0 }

// reserved are other words that text/template uses itself.
var reserved = []string{"if", "else", "end", "range", "with", "define", "template", "block",
	"break", "continue", "true", "false", "nil", "len", "index", "slice", "html", "js", "call",
	"urlquery", "print", "println", "lt", "le", "gt", "ge"}

// Reserved reports whether a name means something in a template, or would in Go's.
func Reserved(name string) bool {
	return isFunction(name) || slices.Contains(reserved, name)
}

// A frame is a condition that is not closed.
type frame struct {
	at       int
	branches []branch
	last     bool // else was read
	refused  bool // what begins it is not for templates
}

type parser struct {
	lexer
	look     token
	hole     Piece // that is read
	template *Template
	frames   []frame // that of the template itself first
	faults   []Fault
	depth    int  // of parentheses
	trim     bool // the next literal loses the space before it
}

// ParseTemplate reads a template. Faults are in order; with a fault it is not to be filled.
func ParseTemplate(text string) (*Template, []Fault) {
	t := &Template{}
	if !strings.Contains(text, "{{") {
		t.nodes = []node{{text: text}}
		return t, nil
	}
	p := parser{lexer: lexer{text: text}, template: t, frames: make([]frame, 1)}
	for piece := range TemplatePieces(text) {
		p.hole = piece
		switch piece.Kind {
		case Literal, Escaped:
			p.literal(piece)
		case Open:
			p.refuse(`{{ is not closed by }}; write \{{ for braces that are meant as they are`)
			t.Mentions = nil // what stands in a hole is not known
			return t, p.faults
		case Hole:
			p.action()
		}
		if len(p.faults) >= maxFaults || len(p.frames) > maxDepth+1 {
			return t, p.faults
		}
	}
	for _, f := range p.frames[1:] {
		if !f.refused {
			p.faults = append(p.faults, Fault{f.at, errOpen})
		}
	}
	return t, p.faults
}

// refuse adds a fault of the hole that is read.
func (p *parser) refuse(format string, args ...any) {
	p.faults = append(p.faults, Fault{p.hole.At, fmt.Errorf(format, args...)})
}

// write adds a node to the innermost branch.
func (p *parser) write(n node) {
	f := &p.frames[len(p.frames)-1]
	switch {
	case len(p.frames) == 1:
		p.template.nodes = append(p.template.nodes, n)
	case !f.refused:
		last := &f.branches[len(f.branches)-1]
		last.nodes = append(last.nodes, n)
	}
}

func (p *parser) literal(piece Piece) {
	text := piece.Text
	if piece.Kind == Escaped {
		text = "{{"
	} else {
		if p.trim {
			text = strings.TrimLeft(text, spaces)
		}
		behind := p.text[piece.At+len(piece.Text):]
		if strings.HasPrefix(behind, "{{") && trimsLeft(behind[2:]) {
			text = strings.TrimRight(text, spaces)
		}
	}
	p.trim = false
	if text != "" {
		p.write(node{at: piece.At, text: text})
	}
}

// action reads a hole.
func (p *parser) action() {
	inside := p.hole.Text[2 : len(p.hole.Text)-2]
	p.at, p.to = p.hole.At+2, p.hole.At+len(p.hole.Text)-2
	p.trim = trimsRight(inside)
	if trimsLeft(inside) {
		p.at += 2
	}
	inside = p.text[p.at:p.to]
	if strings.HasPrefix(inside, "/*") {
		return
	}
	if p.trim = trimsRight(inside); p.trim {
		p.to -= 2
	}
	p.depth = 0
	if !p.advance() {
		return
	}
	word := ""
	if p.look.kind == name {
		word = p.look.text
	}
	switch word {
	case "if":
		p.begin()
	case "else":
		p.otherwise()
	case "end":
		p.close()
	case "range", "with", "define", "block":
		p.frames = append(p.frames, frame{at: p.hole.At, refused: true})
		fallthrough
	case "template", "break", "continue":
		p.refuse("%.60s is not for this; there is {{if}}, and no loop", p.hole.Text)
	default:
		if e, ok := p.command(end); ok {
			p.write(node{at: p.hole.At, value: &e})
		}
	}
}

// advance reads the next token, and reports its problem.
func (p *parser) advance() bool {
	var problem string
	switch p.look, problem = p.next(); {
	case problem != "":
		p.refuse("%s", problem)
	case p.look.kind == pipe:
		p.refuse("%.60s is not for this; there are no variables and no pipes", p.hole.Inside())
	default:
		return true
	}
	return false
}

// begin reads {{if}} behind its name.
func (p *parser) begin() {
	p.frames = append(p.frames, frame{at: p.hole.At, branches: []branch{p.condition()}})
	if len(p.frames) > maxDepth+1 {
		p.refuse("{{if}} stands in %d others; %d are possible", len(p.frames)-2, maxDepth-1)
	}
}

// condition is a branch whose condition comes next, behind if.
func (p *parser) condition() (b branch) {
	if !p.advance() {
		return b
	}
	if p.look.kind != end && p.look.kind != opening && !p.look.spaced {
		p.refuse("a space is missing before %.40s", p.look.text)
		return b
	}
	if e, ok := p.command(end); ok {
		b.condition = &e
	}
	return b
}

// otherwise reads {{else}} behind its name.
func (p *parser) otherwise() {
	f := &p.frames[len(p.frames)-1]
	switch {
	case len(p.frames) == 1:
		p.refuse("{{else}} stands in no {{if}}")
		return
	case f.refused:
		return
	case f.last:
		p.refuse("{{else}} stands behind another {{else}}")
		return
	case !p.advance():
		return
	}
	var b branch
	if p.look.kind == name && p.look.text == "if" {
		b = p.condition()
	} else {
		f.last = true
		p.nothing("{{else}}")
	}
	f.branches = append(f.branches, b)
}

// close reads {{end}} behind its name.
func (p *parser) close() {
	if !p.advance() || !p.nothing("{{end}}") {
		return
	}
	if len(p.frames) == 1 {
		p.refuse("{{end}} closes no {{if}}")
		return
	}
	f := p.frames[len(p.frames)-1]
	p.frames = p.frames[:len(p.frames)-1]
	if !f.refused {
		p.write(node{at: f.at, branches: f.branches})
	}
}

// nothing reports whether the hole ends here.
func (p *parser) nothing(behind string) bool {
	if p.look.kind != end {
		p.refuse("nothing can stand behind %s, but %.40s does", behind, p.look.text)
	}
	return p.look.kind == end
}

// command reads a value, or a name and its arguments, up to a token, which it leaves.
func (p *parser) command(until tokenKind) (e expression, ok bool) {
	head := p.look
	if e, ok = p.operand(); !ok {
		return e, false
	}
	var args []expression
	word := head.kind == name && !isFunction(head.text)
	for p.look.kind == name || p.look.kind == constant || p.look.kind == opening {
		from := p.look
		if !from.spaced {
			p.refuse("a space is missing before %.40s", from.text)
			return e, false
		}
		a, ok := p.operand()
		if !ok {
			return e, false
		}
		if _, quoted := from.value.(string); word && !quoted {
			p.refuse("%.40s is not a name in quotes",
				strings.TrimSpace(p.text[from.at:p.look.at]))
			return e, false
		}
		if from.kind == name && isFunction(from.text) {
			p.refuse("%s is a function; write (%[1]s …) with its values", from.text)
			return e, false
		} else if from.kind == name {
			p.mention(from.text, nil)
		}
		args = append(args, a)
	}
	switch {
	case p.look.kind != until && until == closing:
		p.refuse("( is not closed by )")
	case p.look.kind != until:
		p.refuse(") closes no (")
	case head.kind != name && len(args) > 0:
		p.refuse("a value takes no arguments; names do")
	case head.kind != name:
		return e, true
	case word:
		e.args = args
		p.mention(e.name, args)
		return e, true
	default:
		e.args = args
		takes := arities[e.name]
		if n := len(args); n < takes.least || n > takes.most {
			p.refuse("%s takes %s; %d are given", e.name, takes.said, n)
			return e, false
		}
		return e, true
	}
	return e, false
}

// mention adds the use of a word, whose arguments are texts.
func (p *parser) mention(word string, args []expression) {
	m := Mention{Word: word, At: p.hole.At}
	for _, a := range args {
		m.Args = append(m.Args, a.constant.(string))
	}
	p.template.Mentions = append(p.template.Mentions, m)
}

// operand reads a name, a constant or a command in parentheses, and the token behind it.
func (p *parser) operand() (e expression, ok bool) {
	t := p.look
	switch {
	case t.kind == end && strings.TrimSpace(p.hole.Text) == "{{}}":
		p.refuse(`{{}} names nothing; write \{{ for braces that are meant as they are`)
		return e, false
	case t.kind == end || t.kind == closing:
		p.refuse("a value is missing")
		return e, false
	case t.kind == name && slices.Contains(reserved, t.text):
		p.refuse("%s is not for this; there are eq, ne, and, or, not and printf", t.text)
		return e, false
	case t.kind == opening:
		if p.depth++; p.depth > maxDepth {
			p.refuse("parentheses are nested deeper than %d", maxDepth)
			return e, false
		}
		if !p.advance() {
			return e, false
		}
		if e, ok = p.command(closing); !ok {
			return e, false
		}
		p.depth--
		return e, p.advance()
	case t.kind == name:
		return expression{at: p.hole.At, name: t.text}, p.advance()
	}
	return expression{constant: t.value}, p.advance()
}
