package source

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"dyno/internal/fault"
	"dyno/internal/lazyregexp"
)

// MaxSize is the size of the largest file that is read, in bytes.
const MaxSize = 1 << 20

// Parse parses the only document of a file. A file that is not YAML has one fault, because
// nothing after it can be judged.
func (s Text) Parse() (*yaml.Node, *fault.Fault) {
	if f := s.unreadableFault(); f != nil {
		return nil, f
	}
	d := yaml.NewDecoder(strings.NewReader(s.text))
	var doc, second yaml.Node
	err := d.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF), err == nil && doc.Content[0].ShortTag() == "!!null":
		return nil, s.fileFault(Place{1, 1},
			"the file is empty; 'dyno lab init' writes one to begin with")
	case err != nil:
		return nil, s.syntaxFault(err)
	}
	if err := d.Decode(&second); err == nil {
		return nil, s.fileFault(Place{second.Line, second.Column},
			"a second document begins; a file holds one experiment")
	} else if !errors.Is(err, io.EOF) {
		return nil, s.syntaxFault(err)
	}
	return doc.Content[0], nil
}

// unreadableFault is the fault of text that cannot be YAML at all.
func (s Text) unreadableFault() *fault.Fault {
	if len(s.text) > MaxSize {
		return s.fileFault(Place{1, 1},
			"the file is larger than %d bytes; put large texts into files beside it", MaxSize)
	}
	for i, r := range s.text {
		_, size := utf8.DecodeRuneInString(s.text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return s.fileFault(s.At(i), "byte 0x%02x is not UTF-8; save the file as UTF-8", s.text[i])
		case unicode.IsControl(r) && !strings.ContainsRune("\n\r\t\u0085", r):
			return s.fileFault(s.At(i), "the control character %U is not allowed in YAML", r)
		}
	}
	return nil
}

// The parser reports most faults with a line, as text. It counts lines from 0, and the scanner from
// 1.
var (
	lineOf     = lazyregexp.New(`^line (\d+): `)
	fromParser = lazyregexp.New(`^(did not find expected (<document|node|key|'-'|',' or)|` +
		`found undefined tag|found duplicate %|found incompatible)`)
	anchorOf = lazyregexp.New(`^unknown anchor '(.*)' referenced`)
)

// syntaxFault is the fault of text for which YAML returned err.
func (s Text) syntaxFault(err error) *fault.Fault {
	message, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := lineOf().FindStringSubmatch(message); m != nil {
		message = message[len(m[0]):]
		line, _ = strconv.Atoi(m[1])
		if fromParser().MatchString(message) {
			line++
		}
	}
	if m := anchorOf().FindStringSubmatch(message); m != nil {
		if i := strings.Index(s.text, "*"+m[1]); i >= 0 {
			return s.fileFault(s.At(i), "there is no anchor &%s before this alias of it", m[1])
		}
	}
	line = min(max(line, 1), len(s.starts))
	at := s.Lines(line, line+1)
	indent := at[:len(at)-len(strings.TrimLeft(at, " \t"))]
	switch {
	case strings.Contains(indent, "\t"):
		message = "a tab indents this line; YAML is indented with spaces"
	case strings.HasPrefix(message, "mapping values") && strings.Count(at, ": ") > 1:
		message += "; a text that has ': ' in it is written in quotes"
	case unquoted().MatchString(at):
		message += "; a value that begins with {{ is written in quotes, '{{...}} ...'"
	}
	return s.fileFault(Place{line, len(indent) + 1}, "not YAML: %s", message)
}

// unquoted matches a template that YAML reads as a mapping.
var unquoted = lazyregexp.New(`[:-] +\{\{`)

// fileFault is a fault of the whole file.
func (s Text) fileFault(p Place, format string, args ...any) *fault.Fault {
	return &fault.Fault{Line: p.Line, Column: p.Column, Problem: fmt.Sprintf(format, args...)}
}
