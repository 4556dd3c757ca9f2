package data

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// readCSV parses a file's bytes.
func (p *parser) readCSV(raw []byte) {
	raw = keepLineEnds(raw)
	r := csv.NewReader(bytes.NewReader(raw))
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	for {
		from := r.InputOffset()
		row, err := r.Read()
		switch {
		case err == io.EOF:
			if p.columns == nil {
				p.faults.Add(0, 0, "is empty; its first row has the names of the columns")
			}
			p.checkRows("below the names of the columns")
			return
		case err != nil:
			p.addCSVFault(err, raw[from:])
			if p.columns == nil {
				return
			}
		case p.columns == nil && from == 0 && len(row) == 2 && row[0] == "sep=" && row[1] == "":
			// Excel is told so that commas separate the columns.
		case p.columns == nil:
			p.addCSVHeader(row, r)
		default:
			p.addCSVRow(row, r)
		}
	}
}

// keepLineEnds has package csv keep CR LF in values. It makes LF of each at the end of a line, and
// leaves what is before it: so CR stands there twice.
func keepLineEnds(raw []byte) []byte {
	var b []byte
	quoted, done := false, 0
	for i, c := range raw {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\r' && quoted && i+1 < len(raw) && raw[i+1] == '\n':
			b = append(append(b, raw[done:i]...), '\r')
			done = i
		}
	}
	if done == 0 {
		return raw
	}
	return append(b, raw[done:]...)
}

func (p *parser) addCSVHeader(row []string, r *csv.Reader) {
	if len(row) == 1 && strings.ContainsAny(row[0], ";\t") {
		p.faults.Add(1, 1, "the columns are not separated by commas; save the file with commas")
	}
	for i, name := range row {
		line, column := r.FieldPos(i)
		p.addColumn(strings.TrimSpace(name), line, column)
	}
}

func (p *parser) addCSVRow(row []string, r *csv.Reader) {
	if len(row) != len(p.columns) {
		line, column := r.FieldPos(min(len(row)-1, len(p.columns)))
		p.faults.Add(line, column, "the row has %s, and there are %s (%s)", counted(len(row), "value"),
			counted(len(p.columns), "column"), named(p.columns))
		return
	}
	for i, value := range row {
		line, column := r.FieldPos(i)
		p.add([]byte(value), line, column)
	}
}

// addCSVFault adds what csv says of a record; raw begins with it.
func (p *parser) addCSVFault(err error, raw []byte) {
	e, is := errors.AsType[*csv.ParseError](err)
	if !is {
		p.faults.Add(0, 0, "reading: %v", err)
		return
	}
	if line, column, open := openQuote(raw); open {
		p.faults.Add(e.StartLine+line, column, `the quote never closes; a quote in a value is doubled, `+
			`as in "say ""hi"""`)
		return
	}
	switch {
	case errors.Is(e, csv.ErrBareQuote):
		p.faults.Add(e.Line, e.Column, `a quote stands in a value that does not begin with one; write `+
			`"say ""hi"""`)
	case errors.Is(e, csv.ErrQuote):
		p.faults.Add(e.Line, e.Column, `after a value in quotes comes no comma; a quote in it is `+
			`doubled, as in "say ""hi"""`)
	default:
		p.faults.Add(e.Line, e.Column, "%v", e.Err)
	}
}

// openQuote finds the quote in a record that begins a value and never closes: lines below the
// record's first, and the column.
func openQuote(raw []byte) (line, column int, open bool) {
	for len(raw) > 0 && (raw[0] == '\n' || bytes.HasPrefix(raw, []byte("\r\n"))) {
		raw = raw[bytes.IndexByte(raw, '\n')+1:] // empty lines before it, which csv skips
	}
	at, column := 0, 1
	for {
		if at < len(raw) && raw[at] == '"' {
			begin, beginLine := column, line
			for at++; ; at++ {
				column++
				if at >= len(raw) {
					return beginLine, begin, true
				}
				if raw[at] == '\n' {
					line, column = line+1, 0
				}
				if raw[at] == '"' {
					if at+1 >= len(raw) || raw[at+1] != '"' {
						break
					}
					at, column = at+1, column+1
				}
			}
		}
		for at < len(raw) && raw[at] != ',' && raw[at] != '\n' {
			at, column = at+1, column+1
		}
		if at >= len(raw) || raw[at] == '\n' {
			return 0, 0, false
		}
		at, column = at+1, column+1
	}
}
