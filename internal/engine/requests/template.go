package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/onestep"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/template"
	"dyno/internal/fault"
)

// This file is about texts with holes, such as {{uuid}}. Each is parsed where it is read, so that
// faults have their place, and again when all that its request has is known.

// checkHoles reports every fault of a text's holes. column maps the bytes before a fault to its
// column in the line.
func checkHoles(names *template.Names, text string, column func(before int) int) error {
	if !template.HasHoles(text) || !utf8.ValidString(text) {
		return nil
	}
	_, err := parse(names, text, "")
	var all []error
	for _, one := range joined(err) {
		f, is := errors.AsType[fault.Fault](one)
		switch {
		case !is:
			all = append(all, one)
		case f.Line == 0: // how many more there are
			all = append(all, errors.New(f.Problem))
		default:
			all = append(all, atColumn{column(bytesBefore(text, f)), errors.New(f.Problem)})
		}
	}
	return errors.Join(all...)
}

// parse is Names.Parse of a text that is all of something; nil names are none but the functions.
func parse(names *template.Names, text, of string) (template.Text, error) {
	if names == nil {
		names = &template.Names{}
	}
	return names.Parse(text, template.Position{File: of, Line: 1, Column: 1})
}

// joined are the errors that errors.Join joined, or err alone.
func joined(err error) (all []error) {
	several, is := err.(interface{ Unwrap() []error })
	if !is {
		return []error{err}
	}
	for _, one := range several.Unwrap() {
		all = append(all, joined(one)...)
	}
	return all
}

// bytesBefore is how many bytes of a text are before a fault.
func bytesBefore(text string, f fault.Fault) int {
	at := 0
	for range f.Line - 1 {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	return at + f.Column - 1
}

// plainColumn maps to columns of a text that stands in its line as it is, and begins with the first
// column.
func plainColumn(before int) int { return before + 1 }

// jsonColumn maps to columns of a line in which the text is a JSON string that begins at a column.
func jsonColumn(quoted json.RawMessage, begin int) func(before int) int {
	return func(before int) int {
		at, done := 1, 0 // behind the quote
		for done < before && at < len(quoted)-1 {
			size, width := escape(quoted[at:])
			at, done = at+size, done+width
		}
		return begin + at
	}
}

// escape is how many bytes the character has that begins the rest of a JSON string: there, and in
// the string's value. Outside of escapes it counts single bytes.
func escape(rest []byte) (size, width int) {
	if rest[0] != '\\' {
		return 1, 1
	}
	if rest[1] != 'u' || len(rest) < 6 {
		return 2, 1
	}
	code, _ := strconv.ParseUint(string(rest[2:6]), 16, 32) // it is valid JSON
	if utf16.IsSurrogate(rune(code)) && len(rest) >= 12 && rest[6] == '\\' && rest[7] == 'u' {
		return 12, 4
	}
	return 6, utf8.RuneLen(utf16Rune(rune(code)))
}

// utf16Rune is what a code that no other follows stands for.
func utf16Rune(code rune) rune {
	if utf16.IsSurrogate(code) {
		return utf8.RuneError
	}
	return code
}

// hasBraces is template.HasHoles without a copy of what may be large.
func hasBraces(b []byte) bool { return bytes.Contains(b, []byte("{{")) }

// hasHoles reports whether the body has {{. One that is not UTF-8 has none, for it is no text.
func (e *entry) hasHoles(raw bool) bool {
	return !raw && !e.raw && hasBraces(e.body) && utf8.Valid(e.body)
}

// isTemplate reports whether a text of r has {{; body says whether that of the body has.
func isTemplate(r proto.Request, body bool) bool {
	if body || template.HasHoles(r.Path) {
		return true
	}
	for _, f := range r.Header {
		if template.HasHoles(f.Value) {
			return true
		}
	}
	return false
}

// compile makes holes of those that r's texts have; body says whether the body is one of these.
func (d Defaults) compile(r *loadplan.Request, body bool) error {
	var faults []error
	text := func(s, of string) template.Text {
		t, err := parse(d.Names, s, of)
		faults = append(faults, err)
		return t
	}
	written := r.Request
	texts := onestep.Texts{Method: r.Method, Authority: r.Authority, Path: text(r.Path, "path")}
	for _, f := range r.Header {
		value := text(f.Value, "header "+f.Name)
		texts.Header = append(texts.Header, onestep.Field{Name: f.Name, Value: value})
	}
	if body {
		texts.Body = text(string(r.Body), "body")
	}
	if err := errors.Join(faults...); err != nil { // most were reported where the texts were read
		return err
	}
	one, err := onestep.Compile(texts)
	if !body {
		one.Body = r.Body // many requests may share it
	} else if one.Body == nil {
		one.Body = []byte{} // empty is not none
	}
	r.Template, r.Request, r.Sources = &written, one.Request, one.Sources
	return err
}
