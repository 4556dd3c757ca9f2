package experiment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"dyno/internal/lazyregexp"
)

// maxSize is the size of the largest file that is read, in bytes.
const maxSize = 1 << 20

// ReadFile reads an experiment file, and checks that the files it names exist. Errors are those of
// Read.
func ReadFile(path string) (*Experiment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readSource(path, f, checks{stat: func(path string) error {
		_, err := os.Stat(path)
		return err
	}})
}

// Read reads an experiment from r and sets the defaults. name is the file's name in faults. Files
// that the experiment names are relative to its folder; Read does not open them. If the file is
// faulty the error is Faults.
func Read(name string, r io.Reader) (*Experiment, error) {
	return readSource(name, r, checks{stat: func(string) error { return nil }})
}

// ReadBegun is Read for an experiment that was begun, maybe by an earlier version: its names may
// differ in capitals alone.
func ReadBegun(name string, r io.Reader) (*Experiment, error) {
	return readSource(name, r, checks{stat: func(string) error { return nil }, begun: true})
}

// checks are what depends on who reads an experiment.
type checks struct {
	stat  func(path string) error // checks that a file exists
	begun bool                    // names may differ in capitals alone
}

func readSource(name string, r io.Reader, o checks) (*Experiment, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	here, err := filepath.Abs(filepath.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("find the folder of %s: %w", name, err)
	}
	e := &Experiment{File: name, Here: here, Source: text}
	d := newDecoder(newSource(name, text))
	root, fault := d.source.parseYAML()
	if fault != nil {
		return nil, Faults{*fault}
	}
	d.decodeExperiment(root, e)
	entries := e.derive()
	(&checker{e, d, o, map[string]int{}, entries}).checkAll()
	if len(d.faults) > 0 {
		return nil, d.faults.sortFaults()
	}
	return e, nil
}

// parseYAML parses the only document of a file. A file that is not YAML has one fault, because
// nothing after it can be judged.
func (s source) parseYAML() (*yaml.Node, *Fault) {
	if f := s.unreadableFault(); f != nil {
		return nil, f
	}
	d := yaml.NewDecoder(strings.NewReader(s.text))
	var doc, second yaml.Node
	err := d.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF), err == nil && doc.Content[0].ShortTag() == "!!null":
		return nil, s.fileFault(place{1, 1},
			"the file is empty; 'dyno lab init' writes one to begin with")
	case err != nil:
		return nil, s.syntaxFault(err)
	}
	if err := d.Decode(&second); err == nil {
		return nil, s.fileFault(place{second.Line, second.Column},
			"a second document begins; a file holds one experiment")
	} else if !errors.Is(err, io.EOF) {
		return nil, s.syntaxFault(err)
	}
	return doc.Content[0], nil
}

// unreadableFault is the fault of text that cannot be YAML at all.
func (s source) unreadableFault() *Fault {
	if len(s.text) > maxSize {
		return s.fileFault(place{1, 1},
			"the file is larger than %d bytes; put large texts into files beside it", maxSize)
	}
	for i, r := range s.text {
		_, size := utf8.DecodeRuneInString(s.text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return s.fileFault(s.placeAt(i), "byte 0x%02x is not UTF-8; save the file as UTF-8", s.text[i])
		case unicode.IsControl(r) && !strings.ContainsRune("\n\r\t\u0085", r):
			return s.fileFault(s.placeAt(i), "the control character %U is not allowed in YAML", r)
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
func (s source) syntaxFault(err error) *Fault {
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
			return s.fileFault(s.placeAt(i), "there is no anchor &%s before this alias of it", m[1])
		}
	}
	line = min(max(line, 1), len(s.starts))
	at := s.linesBetween(line, line+1)
	indent := at[:len(at)-len(strings.TrimLeft(at, " \t"))]
	switch {
	case strings.Contains(indent, "\t"):
		message = "a tab indents this line; YAML is indented with spaces"
	case strings.HasPrefix(message, "mapping values") && strings.Count(at, ": ") > 1:
		message += "; a text that has ': ' in it is written in quotes"
	case unquoted().MatchString(at):
		message += "; a value that begins with {{ is written in quotes, '{{...}} ...'"
	}
	return s.fileFault(place{line, len(indent) + 1}, "not YAML: %s", message)
}

// unquoted matches a template that YAML reads as a mapping.
var unquoted = lazyregexp.New(`[:-] +\{\{`)

// fileFault is a fault of the whole file.
func (s source) fileFault(p place, format string, args ...any) *Fault {
	return &Fault{s.file, p.line, p.column, "", fmt.Sprintf(format, args...)}
}
