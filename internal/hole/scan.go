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
// them is left out; an even number stays, and the hole begins behind them. Of three braces the last
// two begin it, as in the JSON {"a":{{{env "NAME"}}:1}}.
func Pieces(text string) iter.Seq[Piece] {
	return func(yield func(Piece) bool) { newFinder(text).pieces(yield) }
}

// TemplatePieces are Pieces of a template, in which a hole may have several lines, `raw` quotes and
// comments.
func TemplatePieces(text string) iter.Seq[Piece] {
	return func(yield func(Piece) bool) { newTemplateFinder(text).pieces(yield) }
}

// A finder finds the holes of a text, in order. A text can have many {{ that nothing closes, and
// each could be searched to the end; so once the searches have looked at more than the whole text,
// they remember where they came by.
type finder struct {
	text         string
	quotes, ends string // what quotes, and what ends a hole too early
	comments     bool
	seen         []uint8 // of each byte, the quotes in which a search came by that found no end
	commentEnd   int     // of the first */ from where one was searched
	steps        int     // bytes looked at
}

func newFinder(text string) *finder { return &finder{text: text, quotes: `"`, ends: "\n"} }

func newTemplateFinder(text string) *finder {
	return &finder{text: text, quotes: "\"`", comments: true}
}

func (f *finder) pieces(yield func(Piece) bool) {
	text, at := f.text, 0
	for {
		i := strings.Index(text[at:], "{{")
		if i < 0 {
			break
		}
		open := at + i
		p := Piece{Escaped, open - 1, `\{{`}
		if slashes := i - len(strings.TrimRight(text[at:open], `\`)); slashes%2 == 0 {
			if BraceBefore(text[open:]) {
				open++
			}
			p = Piece{Open, open, "{{"}
			if n := f.length(open); n > 0 {
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

// Length is how many bytes the hole of a request has with which a text begins; 0 if it begins with
// none. Who looks for holes uses Pieces.
func Length(text string) int { return newFinder(text).length(0) }

// TemplateLength is how many bytes the hole of a template has with which a text begins; 0 if it
// begins with none. Who looks for holes uses TemplatePieces.
func TemplateLength(text string) int { return newTemplateFinder(text).length(0) }

// BraceBefore reports whether a text begins with a brace that stands before the two of a hole.
func BraceBefore(text string) bool {
	return strings.HasPrefix(text, "{{{") && !strings.HasPrefix(text, "{{{{")
}

// length is how many bytes the hole has that begins at a byte; 0 if none does.
func (f *finder) length(open int) int {
	if text := f.text[open:]; !strings.HasPrefix(text, "{{") || BraceBefore(text) {
		return 0
	}
	end, is := f.endOfComment(open + 2)
	if !is {
		end = f.end(open + 2)
	}
	return max(end-open, 0)
}

// endOfComment is where the hole ends whose inside begins at a byte, if it is a comment, as in
// {{/* and {{- /*. A comment ends with its hole; end is 0 otherwise.
func (f *finder) endOfComment(at int) (end int, is bool) {
	if trimsLeft(f.text[at:]) {
		at += 2
	}
	if !f.comments || !strings.HasPrefix(f.text[at:], "/*") {
		return 0, false
	}
	if at += 2; f.commentEnd < at {
		n := strings.Index(f.text[at:], "*/")
		if n < 0 {
			n = len(f.text) - at
		}
		f.commentEnd = at + n
		f.steps += n
	}
	rest := f.text[min(f.commentEnd+2, len(f.text)):]
	if trimsRight(rest[:min(2, len(rest))]) {
		rest = rest[2:]
	}
	if !strings.HasPrefix(rest, "}}") {
		return 0, true
	}
	return len(f.text) - len(rest) + 2, true
}

// end is where the hole ends whose inside begins at a byte; 0 if it does not.
func (f *finder) end(at int) int {
	if f.seen == nil && f.steps > len(f.text) {
		f.seen = make([]uint8, len(f.text))
	}
	quote, state := byte(0), uint8(1)
	for i := at; i < len(f.text); i++ {
		f.steps++
		if f.seen != nil {
			if f.seen[i]&state != 0 {
				return 0
			}
			f.seen[i] |= state
		}
		switch c := f.text[i]; {
		case strings.IndexByte(f.ends, c) >= 0 || quote == '"' && c == '\n':
			return 0
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote, state = 0, 1
			}
		case strings.IndexByte(f.quotes, c) >= 0:
			quote, state = c, 2<<strings.IndexByte(f.quotes, c)
		case strings.HasPrefix(f.text[i:], "{{"):
			return 0
		case strings.HasPrefix(f.text[i:], "}}"):
			return i + 2
		}
	}
	return 0
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
