package versus

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"dyno/internal/lab/experiment"
)

// builtins are words of a shell that are no programs, so a command that begins with one needs it.
var builtins = []string{".", "alias", "cd", "command", "eval", "exec", "exit", "export", "set",
	"source", "trap", "ulimit", "umask", "unset"}

// A split is a command as a process takes it: words, and variables of the environment.
type split struct {
	words []string
	env   []string // NAME and value in turn
}

// splitCommand splits a command as a shell does. If only a shell can run it, because it has a pipe,
// a variable, a pattern or the like, the words are those of sh -c.
func splitCommand(command string) (split, error) {
	parsed, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(
		strings.NewReader(command), "")
	if err != nil {
		return split{}, fmt.Errorf("%q is not a command: %w", oneLine(command), err)
	}
	if len(parsed.Stmts) == 0 {
		return split{}, fmt.Errorf("%q is not a command; a program is wanted", command)
	}
	if s, plain := plainCommand(parsed); plain {
		return s, nil
	}
	return split{words: []string{"sh", "-c", command}}, nil
}

// plainCommand is a command that needs no shell.
func plainCommand(f *syntax.File) (s split, plain bool) {
	call, is := f.Stmts[0].Cmd.(*syntax.CallExpr)
	stmt := f.Stmts[0]
	if !is || len(f.Stmts) > 1 || len(stmt.Redirs) > 0 || stmt.Negated || stmt.Background ||
		stmt.Coprocess || len(call.Args) == 0 {
		return s, false
	}
	for _, a := range call.Assigns {
		value, plain := plainWord(a.Value)
		if a.Append || a.Naked || a.Index != nil || a.Array != nil || !plain {
			return s, false
		}
		s.env = append(s.env, a.Name.Value, value)
	}
	for _, w := range call.Args {
		word, plain := plainWord(w)
		if !plain {
			return s, false
		}
		s.words = append(s.words, word)
	}
	return s, s.words[0] != "" && !slices.Contains(builtins, s.words[0])
}

// plainWord is a word without its quotes, if a shell would replace nothing in it.
func plainWord(w *syntax.Word) (text string, plain bool) {
	if w == nil { // NAME= has no value
		return "", true
	}
	plain = true
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.Word, *syntax.DblQuoted, *syntax.SglQuoted:
		case *syntax.Lit:
			outside := slices.Contains(w.Parts, syntax.WordPart(n))
			if outside && (strings.ContainsAny(n.Value, "*?[") || strings.HasPrefix(n.Value, "~")) {
				plain = false
			}
		default:
			plain = false
		}
		return plain
	})
	if !plain {
		return "", false
	}
	fields, err := expand.Fields(&expand.Config{}, w)
	if err != nil || len(fields) != 1 { // {a,b} is two words
		return "", false
	}
	return fields[0], true
}

// newProcess is a process of a command, started in a folder, which is a template.
func newProcess(command, dir string) (experiment.Process, error) {
	p := experiment.Default[experiment.Process]()
	s, err := splitCommand(command)
	p.Cmd, p.Env, p.Dir = s.command(), s.variables(), experiment.Template(dir)
	return p, err
}

// command is the command of a file, with holes.
func (s split) command() (c experiment.Command) {
	for _, w := range s.words {
		c = append(c, experiment.Template(withHoles(w)))
	}
	return c
}

// variables are the environment in a file, with holes.
func (s split) variables() (all experiment.Mapping[experiment.Template]) {
	for i := 0; i < len(s.env); i += 2 {
		all = append(all, experiment.Entry[experiment.Template]{Name: s.env[i],
			Value: experiment.Template(withHoles(s.env[i+1]))})
	}
	return all
}
