// Package hole reads holes, the {{…}} in texts: those of requests, which are filled anew in each
// message, and those of templates in experiments, which are filled once in a trial and have
// conditions. What begins and ends a hole, and what makes braces literal, is the same in both.
//
// It evaluates what stands in templates by itself: text/template looks for methods by their names,
// so that the linker keeps every exported method of the program (7 % of its size). A test compares
// the two. A file can be evil, so depth, faults and output have limits.
//
//	scan.go    where holes are in a text
//	env.go     {{env "NAME" "DEFAULT"}}
//	lex.go     the tokens within a hole of a template
//	parse.go   templates: values, calls, conditions
//	fill.go    the text that a template makes
package hole

import (
	"iter"
	"strings"
)

// A Kind says what a Piece of a text is.
type Kind uint8

// The kinds of pieces.
const (
	Literal Kind = iota
	Escaped      // \{{, which stands for {{
	Hole         // from {{ to }}
	Open         // a {{ that no }} closes
)

// A Piece is a part of a text, which its pieces make up without gaps.
type Piece struct {
	Kind Kind
	At   int    // where it begins, in bytes
	Text string // as it is written
}

// Inside is what stands between the braces of a hole, without the spaces around it; "" if p is
// none.
func (p Piece) Inside() string {
	if p.Kind != Hole {
		return ""
	}
	return strings.TrimSpace(p.Text[2 : len(p.Text)-2])
}

// Pieces are the pieces of a request's text. A hole begins with {{ and ends with the next }} of its
// line, outside of quotes. An odd number of backslashes before {{ makes it literal, and the last of
// them is left out; an even number stays, and the hole begins behind them.
func Pieces(text string) iter.Seq[Piece] { return pieces(text, Length) }

// TemplatePieces are Pieces of a template, in which a hole may have several lines, `raw` quotes and
// comments.
func TemplatePieces(text string) iter.Seq[Piece] { return pieces(text, TemplateLength) }

func pieces(text string, length func(string) int) iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		at := 0
		for {
			i := strings.Index(text[at:], "{{")
			if i < 0 {
				break
			}
			open := at + i
			p := Piece{Escaped, open - 1, `\{{`}
			if slashes := i - len(strings.TrimRight(text[at:open], `\`)); slashes%2 == 0 {
				p = Piece{Open, open, "{{"}
				if n := length(text[open:]); n > 0 {
					p = Piece{Hole, open, text[open : open+n]}
				}
			}
			if p.At > at && !yield(Piece{Literal, at, text[at:p.At]}) || !yield(p) {
				return
			}
			at = p.At + len(p.Text)
		}
		if at < len(text) {
			yield(Piece{Literal, at, text[at:]})
		}
	}
}

// Length is how many bytes the hole of a request has with which a text begins; 0 if it begins with
// none.
func Length(text string) int { return length(text, `"`, "\n") }

// TemplateLength is how many bytes the hole of a template has with which a text begins; 0 if it
// begins with none.
func TemplateLength(text string) int {
	if n, is := commentLength(text); is {
		return n
	}
	return length(text, "\"`", "")
}

// commentLength is how many bytes the comment has with which a text begins, as {{/* and {{- /* do.
// A comment ends with its hole; n is 0 otherwise.
func commentLength(text string) (n int, is bool) {
	inside, is := strings.CutPrefix(text, "{{")
	if !is {
		return 0, false
	}
	if trimsLeft(inside) {
		inside = inside[2:]
	}
	if !strings.HasPrefix(inside, "/*") {
		return 0, false
	}
	n = len(text) - len(inside)
	end := strings.Index(inside[2:], "*/")
	if end < 0 {
		return 0, true
	}
	n += 2 + end + 2
	rest := text[n:]
	if trimsRight(rest[:min(2, len(rest))]) {
		n, rest = n+2, rest[2:]
	}
	if !strings.HasPrefix(rest, "}}") {
		return 0, true
	}
	return n + 2, true
}

// trimsLeft reports whether the inside of a hole begins with "- ", which takes away the space
// before the hole.
func trimsLeft(inside string) bool {
	return len(inside) >= 2 && inside[0] == '-' && isSpace(inside[1])
}

// trimsRight reports whether the inside of a hole ends with " -", which takes away the space behind
// the hole.
func trimsRight(inside string) bool {
	n := len(inside)
	return n >= 2 && inside[n-1] == '-' && isSpace(inside[n-2])
}

func isSpace(c byte) bool { return strings.IndexByte(spaces, c) >= 0 }

const spaces = " \t\r\n"

// length finds the end of a hole in which these are quotes, and which these bytes end too early.
func length(text, quotes, ends string) int {
	if !strings.HasPrefix(text, "{{") {
		return 0
	}
	quote := byte(0)
	for i := 2; i < len(text); i++ {
		switch c := text[i]; {
		case strings.IndexByte(ends, c) >= 0 || quote == '"' && c == '\n':
			return 0
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case strings.IndexByte(quotes, c) >= 0:
			quote = c
		case strings.HasPrefix(text[i:], "{{"):
			return 0
		case strings.HasPrefix(text[i:], "}}"):
			return i + 2
		}
	}
	return 0
}

// Verbatim is a text of a request or a template that makes a text.
func Verbatim(text string) string { return verbatim(text, false) }

// VerbatimBeforeHole is Verbatim of a text behind which a hole stands.
func VerbatimBeforeHole(text string) string { return verbatim(text, true) }

func verbatim(text string, beforeHole bool) string {
	var b strings.Builder
	for {
		before, behind, found := strings.Cut(text, "{{")
		plain := strings.TrimRight(before, `\{`)
		tail := before[len(plain):]
		odd := (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
		switch {
		case found && odd: // with one more the braces would begin a hole
			b.WriteString(plain + Quote(tail+"{{"))
		case found:
			b.WriteString(before + `\{{`)
		case beforeHole && (odd || strings.HasSuffix(tail, "{")):
			return b.String() + plain + Quote(tail)
		default:
			return b.String() + before
		}
		text = behind
	}
}
