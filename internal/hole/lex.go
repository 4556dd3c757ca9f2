package hole

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A tokenKind is what a token is.
type tokenKind uint8

const (
	end      tokenKind = iota
	name               // of a word, a function, or of what begins a condition
	constant           // a quoted string, a number, true or false
	opening            // (
	closing            // )
	pipe               // or a sign of variables, which are not for this
)

// A token is one within a hole.
type token struct {
	kind   tokenKind
	at     int // in the text
	text   string
	value  any  // of a constant: a string, a bool, an int or a float64
	spaced bool // whether space stands before it, or nothing
}

// A lexer reads the tokens of a hole.
type lexer struct {
	text string // the whole text
	at   int    // of what is read next
	to   int    // where the inside of the hole ends
}

// next reads a token. What templates have not is a problem.
func (l *lexer) next() (t token, problem string) {
	from := l.at
	for l.at < l.to && isSpace(l.text[l.at]) {
		l.at++
	}
	t = token{at: l.at, spaced: l.at > from}
	rest := l.text[l.at:l.to]
	if rest == "" {
		return t, ""
	}
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case r == '(':
		t.kind, t.text = opening, rest[:1]
	case r == ')':
		t.kind, t.text = closing, rest[:1]
	case r == '"' || r == '`':
		t.kind = constant
		t.text, problem = quoted(rest)
		t.value, _ = strconv.Unquote(t.text)
	case startsNumber(rest):
		t.kind = constant
		t.text = rest[:prefixOf(rest, isOfNumber)]
		t.value, problem = number(t.text)
	case isWord(r):
		t.kind = name
		t.text = rest[:prefixOf(rest, isWord)]
		if t.text == "true" || t.text == "false" {
			t.kind, t.value = constant, t.text == "true"
		}
	case strings.IndexByte("|$=:", rest[0]) >= 0:
		t.kind, t.text = pipe, rest[:1]
	default:
		return t, foreign(rest, size)
	}
	l.at += len(t.text)
	return t, problem
}

// quoted is the quoted string with which a text begins.
func quoted(text string) (q, problem string) {
	q, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", fmt.Sprintf("%.40s is no text in quotes, as Go writes it", text)
	}
	return q, ""
}

func startsNumber(s string) bool {
	c := s[0]
	return isDigit(c) || c == '+' || c == '-' || c == '.' && len(s) > 1 && isDigit(s[1])
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isOfNumber(r rune) bool { return isWord(r) || strings.ContainsRune(".+-", r) }

// isWord reports whether a rune can stand in a name.
func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// prefixOf is how many bytes at the begin of a text are such runes.
func prefixOf(text string, are func(rune) bool) int {
	if n := strings.IndexFunc(text, func(r rune) bool { return !are(r) }); n >= 0 {
		return n
	}
	return len(text)
}

// number is an int or, if it is written with a point or an exponent, a float64.
func number(s string) (value any, problem string) {
	i, notInt := strconv.ParseInt(s, 0, 0)
	hex := strings.HasPrefix(strings.ToLower(s), "0x") && !strings.ContainsAny(s, "pP")
	if hex || !strings.ContainsAny(s, ".eEpP") {
		if notInt != nil {
			return nil, fmt.Sprintf("%.40s is no number; write a text in quotes", s)
		}
		return int(i), ""
	}
	f, notFloat := strconv.ParseFloat(s, 64)
	switch {
	case notInt == nil:
		return float64(i), ""
	case notFloat != nil:
		return nil, fmt.Sprintf("%.40s is no number; write a text in quotes", s)
	}
	return f, ""
}

// foreign is the problem of what templates of Go have and these have not, or of what neither has.
func foreign(rest string, size int) string {
	if rest[0] == '.' {
		n := 1 + prefixOf(rest[1:], func(r rune) bool { return isWord(r) || r == '.' })
		if n > 1 {
			return fmt.Sprintf("%s has a dot; write {{%s}}", rest[:n],
				strings.Join(strings.Split(rest[1:n], "."), " "))
		}
	}
	return fmt.Sprintf("%q is not for this", rest[:size])
}
