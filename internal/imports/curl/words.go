package curl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dyno/internal/fault"
	"dyno/internal/imports"

	"mvdan.cc/sh/v3/syntax"
)

// Words parts a command as the shell does that it was written for: a POSIX shell or bash, or
// cmd.exe of Windows, which a ^ before a quote or an end of a line gives away. Nothing is expanded:
// a command with $NAME, $(…), a pipe or several commands is an error. Errors have line and column.
func Words(file, text string) ([]string, error) {
	if len(text) > imports.MaxLine {
		return nil, fault.Fault{File: file,
			Problem: fmt.Sprintf("is longer than %d KiB, as no command is", imports.MaxLine>>10)}
	}
	if at := imports.FirstBinary(text); at >= 0 {
		return nil, faultAt(file, text, at, "has a byte that no command has")
	}
	if strings.TrimSpace(text) == "" {
		return nil, fault.Fault{File: file, Problem: "has no command"}
	}
	if isWindows(text) {
		return windowsWords(file, text)
	}
	return shellWords(file, text)
}

func faultAt(file, text string, at int, format string, args ...any) error {
	line, column := imports.Place([]byte(text), at)
	return fault.Fault{File: file, Line: line, Column: column, Problem: fmt.Sprintf(format, args...)}
}

// isWindows reports whether a command is quoted as cmd.exe has it.
func isWindows(text string) bool {
	return strings.Contains(text, `^"`) || strings.Contains(text, "^\n") ||
		strings.Contains(text, "^\r\n") || strings.HasPrefix(strings.TrimSpace(text), "curl.exe ")
}

// shellWords parts a command of a POSIX shell or bash.
func shellWords(file, text string) (words []string, err error) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if p, is := errors.AsType[syntax.ParseError](err); is {
		return nil, fault.Fault{File: file, Line: int(p.Pos.Line()), Column: int(p.Pos.Col()),
			Problem: p.Text}
	}
	if err != nil {
		return nil, fault.Fault{File: file, Problem: err.Error()}
	}
	at := func(n syntax.Node, format string, args ...any) error {
		return fault.Fault{File: file, Line: int(n.Pos().Line()), Column: int(n.Pos().Col()),
			Problem: fmt.Sprintf(format, args...)}
	}
	switch {
	case len(f.Stmts) == 0:
		return nil, fault.Fault{File: file, Problem: "has no command"}
	case len(f.Stmts) > 1:
		return nil, at(f.Stmts[1], "begins another command; give one at a time")
	}
	stmt := f.Stmts[0]
	call, is := stmt.Cmd.(*syntax.CallExpr)
	switch {
	case !is || stmt.Negated || stmt.Background:
		return nil, at(stmt, "is more than a command; leave out what curl itself does not see")
	case slices.ContainsFunc(stmt.Redirs, readsInput):
		return nil, at(stmt.Redirs[slices.IndexFunc(stmt.Redirs, readsInput)],
			"redirects input; leave that out, and name the file, as in -d @FILE")
	case len(call.Assigns) > 0:
		return nil, at(call.Assigns[0], "sets a variable; leave that out")
	}
	for _, w := range call.Args {
		word, part := wordOf(w.Parts)
		if part != nil {
			return nil, at(part, "the shell replaces this; write what curl gets")
		}
		words = append(words, word)
	}
	return words, nil
}

// readsInput reports whether a redirection is of input. Where output goes changes no request.
func readsInput(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.DplOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		return false
	}
	return true
}

// wordOf is what parts of a word are; part is one that the shell would expand, if there is one.
func wordOf(parts []syntax.WordPart) (word string, part syntax.Node) {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unquote(p.Value, ""))
		case *syntax.SglQuoted:
			if p.Dollar {
				b.WriteString(ansiUnquote(p.Value))
			} else {
				b.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, is := inner.(*syntax.Lit)
				if !is {
					return "", inner
				}
				b.WriteString(unquote(lit.Value, "\"\\$`\n"))
			}
		default:
			return "", p
		}
	}
	return b.String(), nil
}

// unquote removes the backslashes that quote a character: any, or one of those. A quoted end of a
// line is nothing.
func unquote(s, quotable string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || quotable != "" && strings.IndexByte(quotable, s[i+1]) < 0 {
			b.WriteByte(s[i])
			continue
		}
		if i++; s[i] != '\n' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// windowsWords parts a command of cmd.exe. First cmd removes its carets outside of quotes, and
// then the program parts what is left: \" is a quote, "" within quotes too.
func windowsWords(file, text string) (words []string, err error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	line := withoutCarets(text)
	var b strings.Builder
	begun, quoted := false, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && backslashesQuote(line[i:]):
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], `\`))
			b.WriteString(strings.Repeat(`\`, n/2))
			i += n - 1
			if begun = true; n%2 == 1 {
				b.WriteByte('"')
				i++
			}
		case c == '"' && quoted && strings.HasPrefix(line[i+1:], `"`):
			b.WriteByte('"')
			i++
		case c == '"':
			begun, quoted = true, !quoted
		case (c == ' ' || c == '\t' || c == '\n') && !quoted:
			if begun {
				words = append(words, b.String())
			}
			begun = false
			b.Reset()
		default:
			begun = true
			b.WriteByte(c)
		}
	}
	if quoted {
		return nil, faultAt(file, text, len(text), "ends within quotes")
	}
	if begun {
		words = append(words, b.String())
	}
	return words, nil
}

// withoutCarets is a command as cmd.exe hands it on. Between quotes that have no caret before them,
// a caret is one.
func withoutCarets(text string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '^' && !quoted && i+1 < len(text) {
			i++
			if text[i] == '\n' { // the next character is quoted, too
				for i++; i < len(text) && (text[i] == ' ' || text[i] == '\t'); i++ {
				}
				b.WriteByte(' ')
				i--
				continue
			}
			b.WriteByte(text[i])
			continue
		}
		quoted = quoted != (c == '"')
		b.WriteByte(c)
	}
	return b.String()
}

// backslashesQuote reports whether a text begins with backslashes and a quote behind them.
func backslashesQuote(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, `\`), `"`)
}
