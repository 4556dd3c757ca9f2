package experiment

import (
	"errors"
	"fmt"
	"strings"

	"dyno/internal/hole"
)

// A Command is a program and its arguments, each a template of its own, so that
// what stands for a template is never split or quoted. The file has a list, or
// one text that is split like a shell splits words.
type Command []Template

// maxWords are those of a command, more than anyone writes.
const maxWords = 1000

// UnmarshalText splits a text.
func (c *Command) UnmarshalText(b []byte) error {
	words, err := splitWords(string(b))
	if err == nil && len(words) == 0 {
		err = errors.New("is empty; a program is wanted, and its arguments")
	}
	if err == nil && len(words) > maxWords {
		err = fmt.Errorf("has %d words; %d are possible", len(words), maxWords)
	}
	if err != nil {
		return err
	}
	*c = make(Command, len(words))
	for i, w := range words {
		(*c)[i] = Template(w)
	}
	return nil
}

// splitWords cuts s into words as a POSIX shell does: at blanks that are not within
// quotes, after a backslash, or within {{ and }}. Nothing is expanded: $, * and
// ; are themselves. Words are templates, in which \{{ stands for {{ here, too.
func splitWords(s string) (words []string, err error) {
	var word strings.Builder
	begun := false
	for i := 0; i < len(s); {
		c, n := s[i], 1
		switch {
		case begins(s[i:]):
			if n, err = copyHole(s[i:], &word); err != nil {
				return nil, err
			}
			begun = true
		case strings.IndexByte(" \t\r\n", c) >= 0:
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		case c == '\'' || c == '"':
			if n, err = readQuoted(s[i:], &word); err != nil {
				return nil, err
			}
			begun = true
		case c == '\\':
			if i+1 == len(s) {
				return nil, errors.New(`ends with a \ that is before nothing`)
			}
			n = 2
			if s[i+1] != '\n' { // which only joins two lines
				writeChar(s[i+1], s[i+2:], &word)
				begun = true
			}
		default:
			word.WriteByte(c)
			begun = true
		}
		i += n
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}

// begins reports whether a hole or \{{ begins s.
func begins(s string) bool { return strings.HasPrefix(s, "{{") || strings.HasPrefix(s, `\{{`) }

// copyHole adds what s begins with to word, and returns its length: a hole, the brace before one,
// or \{{.
func copyHole(s string, word *strings.Builder) (n int, err error) {
	if n = len(`\{{`); hole.BraceBefore(s) {
		n = 1
	} else if s[0] == '{' {
		if n = hole.TemplateLength(s); n == 0 {
			return 0, errors.New("has a {{ that no }} closes; " +
				`write \{{ for braces that are meant as they are`)
		}
	}
	word.WriteString(s[:n])
	return n, nil
}

// writeChar adds a character to word that stands before rest. A backslash that is meant as it is
// would make the braces behind it literal.
func writeChar(c byte, rest string, word *strings.Builder) {
	if c == '\\' && begins(rest) {
		word.WriteString(`{{"\\"}}`)
		return
	}
	word.WriteByte(c)
}

// readQuoted adds the quoted text that s begins with to word, and returns its
// length. Within " a backslash quotes ", \, $ and `, as in a shell.
func readQuoted(s string, word *strings.Builder) (int, error) {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == quote:
			return i + 1, nil
		case begins(s[i:]):
			n, err := copyHole(s[i:], word)
			if err != nil {
				return 0, err
			}
			i += n - 1
		case quote == '"' && s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0:
			i++
			writeChar(s[i], s[i+1:], word)
		default:
			word.WriteByte(s[i])
		}
	}
	return 0, errors.New("has a " + string(quote) + " that is never closed")
}
