package experiment

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
)

// A Template is a text of text/template, in which these stand for what a trial
// gives them, and each factor's name for its value:
//
//	port ["NAME"]           a free port, the same for the same name
//	socket ["NAME"]         path of a unix socket, likewise
//	address                 where to listen: 127.0.0.1 or, where clients are isolated, the
//	                        address at which they find the server
//	dir                     the private run directory of the trial, or within it that of
//	                        the process's user
//	build                   the directory for what build makes, kept for all trials
//	here                    the experiment file's folder
//	file "NAME"             path of one of the variant's files, as written there
//	env "NAME" ["DEFAULT"]  a variable of the environment of dyno
//	dyno                    path of the running dyno
//	cpus                    how many CPUs the server may use
//	connections             those of the level
//	threads                 of the generator, at the level
//
// There is {{if}} with eq, ne, and, or, not; and printf. There are no loops: a
// template ends.
type Template string

// verbs are the functions of templates, with their number of arguments. Those of a trial are
// unknown while a variant is built.
var verbs = map[string]struct {
	least, most int
	trial       bool
}{
	"port": {0, 1, true}, "socket": {0, 1, true}, "file": {1, 1, true}, "dir": {0, 0, false},
	"build": {0, 0, false}, "here": {0, 0, false}, "env": {1, 2, false}, "dyno": {0, 0, false},
	"cpus": {0, 0, false}, "connections": {0, 0, true}, "threads": {0, 0, true},
	"address": {0, 0, true},
}

// logic are the functions of text/template that remain available.
var logic = []string{"eq", "ne", "and", "or", "not", "printf"}

// reserved are words that text/template itself uses.
var reserved = []string{"if", "else", "end", "range", "with", "define", "template", "block",
	"break", "continue", "true", "false", "nil", "len", "index", "slice", "html", "js", "call",
	"urlquery", "print", "println", "lt", "le", "gt", "ge"}

// A mention is a use of a verb or a factor, at an offset in its template.
type mention struct {
	verb string
	args []string
	at   int
}

// A misuse is a fault in a template, at an offset.
type misuse struct {
	at      int
	message string
}

// findMentions returns all mentions in text, and all faults.
func findMentions(text string) ([]mention, []misuse) {
	if !strings.Contains(text, "{{") {
		return nil, nil
	}
	t := parse.New("")
	t.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := t.Parse(text, "", "", trees); err != nil {
		return nil, []misuse{misuseOf(text, err)}
	}
	w := walker{}
	for _, tree := range trees {
		if tree != t || t.Root == nil {
			return nil, []misuse{{0, "define and block are not for this; there is one template"}}
		}
	}
	if t.Root != nil {
		w.walkList(t.Root)
	}
	return w.mentions, w.misuses
}

// misuseOf finds the action that the parser reported, by its line.
func misuseOf(text string, err error) misuse {
	message := strings.TrimPrefix(err.Error(), "template: ")
	message = strings.TrimPrefix(message, ":")
	number, rest, _ := strings.Cut(message, ":")
	line, err := strconv.Atoi(number)
	if err != nil {
		return misuse{0, message}
	}
	at := 0
	for range line - 1 {
		at += strings.Index(text[at:], "\n") + 1
	}
	end := len(text)
	if i := strings.Index(text[at:], "\n"); i >= 0 {
		end = at + i
	}
	return misuse{at + max(0, strings.LastIndex(text[at:end], "{{")), strings.TrimSpace(rest)}
}

// A walker collects the mentions and misuses of a template.
type walker struct {
	mentions []mention
	misuses  []misuse
}

func (w *walker) walkList(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.TextNode, *parse.CommentNode:
		case *parse.ActionNode:
			w.walkPipe(n.Pipe)
		case *parse.IfNode:
			w.walkPipe(n.Pipe)
			w.walkList(n.List)
			w.walkList(n.ElseList)
		default:
			w.refuseNode(n, "is not for this; there is {{if}}, and no loop")
		}
	}
}

func (w *walker) walkPipe(p *parse.PipeNode) {
	if len(p.Decl) > 0 || len(p.Cmds) != 1 {
		w.refuseNode(p, "is not for this; there are no variables and no pipes")
		return
	}
	c := p.Cmds[0]
	name, isName := c.Args[0].(*parse.IdentifierNode)
	switch {
	case !isName:
		for _, a := range c.Args {
			w.walkOperand(a)
		}
	case slices.Contains(logic, name.Ident):
		for _, a := range c.Args[1:] {
			w.walkOperand(a)
		}
	default:
		m := mention{verb: name.Ident, at: int(name.Pos)}
		for _, a := range c.Args[1:] {
			s, isString := a.(*parse.StringNode)
			if !isString {
				w.refuseNode(a, "is not a name in quotes")
				return
			}
			m.args = append(m.args, s.Text)
		}
		w.mentions = append(w.mentions, m)
	}
}

func (w *walker) walkOperand(n parse.Node) {
	switch n := n.(type) {
	case *parse.StringNode, *parse.NumberNode, *parse.BoolNode:
	case *parse.PipeNode:
		w.walkPipe(n)
	case *parse.IdentifierNode:
		w.mentions = append(w.mentions, mention{verb: n.Ident, at: int(n.Pos)})
	case *parse.FieldNode:
		w.refuseNode(n, "has a dot; write {{"+strings.Join(n.Ident, " ")+"}}")
	default:
		w.refuseNode(n, "is not for this")
	}
}

func (w *walker) refuseNode(n parse.Node, why string) {
	w.misuses = append(w.misuses, misuse{int(n.Position()), n.String() + " " + why})
}

// renderWith renders t with words for its functions.
func (t Template) renderWith(words template.FuncMap) (string, error) {
	if !strings.Contains(string(t), "{{") {
		return string(t), nil
	}
	parsed, err := template.New("").Funcs(words).Parse(string(t))
	if err != nil {
		return "", fmt.Errorf("template %q: %w", t, err)
	}
	var b strings.Builder
	if err := parsed.Execute(&b, nil); err != nil {
		return "", fmt.Errorf("template %q: %w", t, innermostError(err))
	}
	return b.String(), nil
}

// innermostError is the innermost error, without the template engine's position.
func innermostError(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// environment is the function env.
func environment(name string, otherwise ...string) (string, error) {
	value, set := os.LookupEnv(name)
	switch {
	case set && value != "":
		return value, nil
	case len(otherwise) > 0:
		return otherwise[0], nil
	}
	return "", fmt.Errorf("the environment variable %s is not set", name)
}
