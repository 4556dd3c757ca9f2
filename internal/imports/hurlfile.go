package imports

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"dyno/internal/hole"
)

// BaseVariable is the variable of a Hurl file that names the host.
const BaseVariable = "base"

// WriteHurl writes the requests as a Hurl file, in the order of the source, each with the status
// that its response had if the source knows that. Secrets are variables, and so is the host. Its
// errors are of requests that Hurl cannot have, with their number.
func (c *Collector) WriteHurl(w io.Writer) error {
	if c.Merge || c.Speed > 0 {
		return errors.New("a Hurl file has its requests one after the other, without weights and " +
			"times; write a requests file, which ends in .jsonl")
	}
	buffered := bufio.NewWriter(w)
	for i, e := range c.entries {
		text, err := e.hurl()
		if err != nil {
			return fmt.Errorf("request %d, %s %.80s, %w; write a requests file, which ends in .jsonl", i+1,
				e.line.Method, e.line.URL, err)
		}
		if i > 0 {
			text = "\n" + text
		}
		if _, err := buffered.WriteString(text); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// hurl is an entry in Hurl.
func (e *entry) hurl() (string, error) {
	l := e.line
	capital := func(r rune) bool { return r < 'A' || r > 'Z' }
	switch {
	case strings.ContainsFunc(l.Method, capital):
		return "", errors.New("has a method that is not all capitals")
	case l.URL == "*":
		return "", errors.New("has no path")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s {{%s}}%s\n", l.Method, BaseVariable, hurlText(l.URL, "#"))
	kind := ""
	for _, h := range l.Headers {
		name, value, _ := strings.Cut(h, ": ")
		if strings.EqualFold(name, "Content-Type") {
			kind = value
		}
		fmt.Fprintf(&b, "%s: %s\n", hurlName(name), hurlText(value, "#"))
	}
	switch {
	case l.Base64 != nil:
		fmt.Fprintf(&b, "base64,%s;\n", base64.StdEncoding.EncodeToString(l.Base64))
	case l.Body != nil && *l.Body != "":
		b.WriteString(hurlBody(*l.Body, kind) + "\n")
	}
	if e.status > 0 {
		fmt.Fprintf(&b, "HTTP %d\n", e.status)
	}
	return b.String(), nil
}

// hurlBody is a body that is text: JSON as it is if nothing in it has another meaning in Hurl,
// lines between three backticks, or one line with escapes.
func hurlBody(text, kind string) string {
	plain := !strings.Contains(text, "{{")
	meant := strings.Contains(text, `\{{`) || strings.Contains(text, `{{"`) // braces as they are
	trimmed := strings.TrimLeft(text, " \t\r\n")
	switch {
	case plain && strings.Contains(strings.ToLower(kind), "json") && json.Valid([]byte(text)) &&
		(strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")) && trimmed == text &&
		strings.TrimRight(text, " \t\r\n") == text && isReadAlike(text):
		return text
	case strings.Contains(text, "\n") && !strings.Contains(text, "\r") &&
		!strings.Contains(text, "```") && !meant:
		return "```\n" + text + "```"
	}
	return "`" + hurlText(text, "`") + "`"
}

// isReadAlike reports whether Hurl sends JSON as it is written: it writes exponents with e, and
// strings have no control characters.
func isReadAlike(text string) bool {
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case c == 'E' && !inString, c == 0x7f:
			return false
		}
	}
	return true
}

// hurlText is text of a requests file in Hurl: {{name}} is a variable in both, braces that are
// meant as they are are no hole, and what ends a text in Hurl is escaped.
func hurlText(text, ends string) string {
	var b strings.Builder
	for p := range hole.Pieces(text) {
		behind := p.At + len(p.Text)
		switch meant, quoted := hole.Unquote(p.Inside()); {
		case p.Kind == hole.Escaped:
			b.WriteString(`\u{7b}\u{7b}`)
		case p.Kind == hole.Hole && quoted:
			writeHurl(&b, meant, ends+"{", behind == len(text))
		case p.Kind == hole.Hole:
			b.WriteString(p.Text)
		default:
			writeHurl(&b, p.Text, ends, behind == len(text))
		}
	}
	return b.String()
}

// writeHurl adds text in which these characters are escaped, too. last says that nothing is behind
// it.
func writeHurl(b *strings.Builder, text, ends string, last bool) {
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		atEdge := r == ' ' && (b.Len() == 0 || last && i+size == len(text))
		switch {
		case strings.ContainsRune("\n\r\t", r):
			b.WriteString(map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`}[r])
		case r < ' ' || r == 0x7f || r == '{' && strings.ContainsRune(ends, r) || atEdge:
			fmt.Fprintf(b, `\u{%x}`, r)
		case r == '\\' || strings.ContainsRune(ends, r):
			b.WriteString(`\` + text[i:i+size])
		default:
			b.WriteString(text[i : i+size])
		}
	}
}

// hurlName is the name of a header in Hurl, in which only some characters stand for themselves.
func hurlName(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
	}
	return b.String()
}
