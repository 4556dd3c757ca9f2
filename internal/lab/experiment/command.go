package experiment

import (
	"errors"
	"fmt"
	"strings"
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
// ; are themselves.
func splitWords(s string) (words []string, err error) {
	var word strings.Builder
	begun := false
	for i := 0; i < len(s); {
		c, n := s[i], 1
		switch {
		case strings.HasPrefix(s[i:], "{{"):
			if n, err = actionLength(s[i:]); err != nil {
				return nil, err
			}
			word.WriteString(s[i : i+n])
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
				word.WriteByte(s[i+1])
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

// readQuoted adds the quoted text that s begins with to word, and returns its
// length. Within " a backslash quotes ", \, $ and `, as in a shell.
func readQuoted(s string, word *strings.Builder) (int, error) {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == quote:
			return i + 1, nil
		case strings.HasPrefix(s[i:], "{{"):
			n, err := actionLength(s[i:])
			if err != nil {
				return 0, err
			}
			word.WriteString(s[i : i+n])
			i += n - 1
		case quote == '"' && s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0:
			i++
			word.WriteByte(s[i])
		default:
			word.WriteByte(s[i])
		}
	}
	return 0, errors.New("has a " + string(quote) + " that is never closed")
}

// actionLength is the length of the template action that s begins with.
func actionLength(s string) (int, error) {
	var quote byte
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case quote == 0 && strings.HasPrefix(s[i:], "}}"):
			return i + 2, nil
		case quote == 0 && (c == '"' || c == '`' || c == '\''):
			quote = c
		case quote != 0 && quote != '`' && c == '\\':
			i++
		case c == quote:
			quote = 0
		}
	}
	return 0, errors.New("has a {{ that no }} closes")
}
