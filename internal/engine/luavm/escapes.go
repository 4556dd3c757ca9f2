package luavm

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"dyno/internal/fault"
)

// plainEscapes is a script in which texts have only escapes that the parser knows: \x41, \z and
// \u{48}, which LuaJIT has too, become others. Lines stay where they are. An escape that names no
// byte is an error.
func plainEscapes(file, source string) (string, error) {
	if strings.HasPrefix(source, "#") {
		source = "--" + source
	}
	if strings.IndexByte(source, '\\') < 0 {
		return source, nil
	}
	e := escapes{file: file, rest: source, line: 1}
	for e.rest != "" && e.err == nil {
		switch c := e.rest[0]; {
		case c == '"' || c == '\'':
			e.quoted(c)
		case strings.HasPrefix(e.rest, "--"):
			e.take(2)
			if !e.long() {
				n := strings.IndexByte(e.rest, '\n')
				if n < 0 {
					n = len(e.rest)
				}
				e.take(n)
			}
		case c != '[' || !e.long():
			e.take(1)
		}
	}
	return e.out.String(), e.err
}

// escapes reads a script.
type escapes struct {
	file, rest string
	line       int
	out        strings.Builder
	err        error
}

// take takes bytes as they are.
func (e *escapes) take(n int) {
	e.line += strings.Count(e.rest[:n], "\n")
	e.out.WriteString(e.rest[:n])
	e.rest = e.rest[n:]
}

// long takes a text or comment such as [==[ … ]==], if one begins here.
func (e *escapes) long() bool {
	if !strings.HasPrefix(e.rest, "[") {
		return false
	}
	level := len(e.rest[1:]) - len(strings.TrimLeft(e.rest[1:], "="))
	if !strings.HasPrefix(e.rest[1+level:], "[") {
		return false
	}
	end := "]" + strings.Repeat("=", level) + "]"
	n := strings.Index(e.rest, end)
	if n < 0 {
		e.take(len(e.rest)) // which the parser reports
		return true
	}
	e.take(n + len(end))
	return true
}

// quoted takes a text in quotes.
func (e *escapes) quoted(quote byte) {
	e.take(1)
	skipped := 0 // lines, which follow the text
	for e.rest != "" && e.err == nil {
		switch c := e.rest[0]; {
		case c == quote:
			e.take(1)
			e.out.WriteString(strings.Repeat("\n", skipped))
			return
		case c == '\n':
			return // which the parser reports
		case c != '\\':
			e.take(1)
		default:
			skipped += e.escape()
		}
	}
}

// escape takes what begins with \. It returns how many lines it left out.
func (e *escapes) escape() (skipped int) {
	kind := byte(0)
	if len(e.rest) > 1 {
		kind = e.rest[1]
	}
	switch {
	case kind == 'z':
		after := strings.TrimLeft(e.rest[2:], spaces)
		skipped = strings.Count(e.rest[:len(e.rest)-len(after)], "\n")
		e.line += skipped
		e.rest = after
	case kind == 'x':
		e.bytes(e.rest[2:min(4, len(e.rest))], 4, 16, 0xff)
	case kind == 'u':
		end := strings.IndexByte(e.rest, '}')
		if end < 0 || !strings.HasPrefix(e.rest, `\u{`) {
			end = 2
		}
		e.bytes(e.rest[min(3, end):end], end+1, 16, utf8.MaxRune)
	case kind >= '0' && kind <= '9':
		n := 2
		for n < 4 && n < len(e.rest) && e.rest[n] >= '0' && e.rest[n] <= '9' {
			n++
		}
		e.bytes(e.rest[1:n], n, 10, 0xff)
	default:
		e.take(min(2, len(e.rest)))
	}
	return skipped
}

// bytes replaces an escape of so many bytes, which names a byte or a character by its number.
func (e *escapes) bytes(number string, length, base int, most uint64) {
	n, err := strconv.ParseUint(number, base, 32)
	if err != nil || n > most || base == 16 && most == 0xff && len(number) < 2 {
		e.err = fault.Fault{File: e.file, Line: e.line,
			Problem: fmt.Sprintf("invalid escape sequence near %.10q", e.rest)}
		return
	}
	e.rest = e.rest[length:]
	text := []byte{byte(n)}
	if most > 0xff {
		text = utf8.AppendRune(nil, rune(n))
	}
	for _, c := range text {
		fmt.Fprintf(&e.out, `\%03d`, c)
	}
}
