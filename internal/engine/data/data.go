// Package data has the rows of --data: a table whose columns are names in templates.
//
// A file is read once, before the load, into one block of memory with the end of each value. A
// string for each value would take three times as much, and the collector would look at each.
//
//	csv.go         CSV files, with their faults
//	data.go        the table
//	encode.go      a table as bytes, for another process
//	jsonlines.go   files with a JSON object a line
//	order.go       which row is next: --data-order
package data

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"path"
	"strings"
	"unicode/utf8"

	"dyno/internal/engine/template"
	"dyno/internal/fault"
)

// How large a file may be, in bytes. Every agent of a fleet is sent all of it.
const (
	MaxBytes      = 256 << 20
	MaxFleetBytes = 32 << 20
)

// A Table is what a file has. It does not change, so that all workers read it at the same time.
type Table struct {
	columns []string
	text    []byte   // of all values, one after the other
	ends    []uint32 // in text, of each value, row by row
	// namesFrom is the file whose first line has the names; "": they are keys of objects. It is for
	// messages about names that are missing, which nobody has a use for where Decode reads it.
	namesFrom string
}

// Columns are the names of the columns, in the order of the file.
func (t *Table) Columns() []string { return t.columns }

// NamesHint says where names of columns come from that somebody looks for in vain; "" if they are
// keys of objects. People write CSV files without a line of names.
func (t *Table) NamesHint() string {
	if t.namesFrom == "" {
		return ""
	}
	return "the first line of " + t.namesFrom +
		" has the names: if it is a row, write the names above it"
}

// Rows is how many rows there are, at least 1.
func (t *Table) Rows() int { return len(t.ends) / len(t.columns) }

// Value is the value of a column of a row, both from 0. The caller does not change it.
func (t *Table) Value(row, column int) []byte {
	i, from := row*len(t.columns)+column, uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.text[from:t.ends[i]:t.ends[i]]
}

// Read reads a file, by the end of its name as CSV (.csv) or JSON lines (.jsonl, .ndjson), of at
// most limit bytes: MaxBytes or MaxFleetBytes. The error has the faults of the whole file, each a
// fault.Fault.
//
// CSV is RFC 4180 in UTF-8: the first row has the names of the columns, without the spaces around
// them. Empty lines are left out.
//
// In JSON lines each line is an object, and each has the keys of the first one, in any order. A
// value is inserted as it is written, also if it is an object, a list or null; a string without
// its quotes and escapes.
func Read(name string, r io.Reader, limit int64) (*Table, error) {
	p := parser{faults: fault.List{File: name}, index: map[string]int{}}
	limit = min(limit, math.MaxUint32)
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	raw = bytes.TrimPrefix(raw, []byte("\ufeff")) // some editors write it
	ending := strings.ToLower(path.Ext(name))
	p.text = make([]byte, 0, len(raw)) // no value is longer than it is in the file
	switch {
	case err != nil:
		p.faults.Add(0, 0, "reading: %v", err)
	case int64(len(raw)) > limit:
		p.faults.Add(0, 0, "is larger than %d MB, which is the most; leave out rows or columns",
			limit>>20)
	case bytes.HasPrefix(raw, []byte("\xff\xfe")) || bytes.HasPrefix(raw, []byte("\xfe\xff")):
		p.faults.Add(1, 1, "is UTF-16; save it as UTF-8")
	case bytes.IndexByte(raw, 0) >= 0:
		p.faults.Add(0, 0, "is a binary file, and rows are text; export them as CSV or as JSON lines")
	case ending == ".csv" && bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') >= 0:
		p.faults.Add(1, bytes.IndexByte(raw, '\r')+1, "CR alone ends its lines; save it with LF or CR LF")
	case ending == ".csv":
		p.namesFrom = path.Base(name)
		p.readCSV(raw)
	case ending == ".jsonl" || ending == ".ndjson":
		p.readJSONLines(raw)
	default:
		p.faults.Add(0, 0, "ends neither in .csv nor in .jsonl, so its format is unknown; export "+
			"it as CSV or as JSON lines")
	}
	if err := p.faults.Err(); err != nil {
		return nil, err
	}
	return &p.Table, nil
}

type parser struct {
	Table
	faults fault.List
	index  map[string]int // of columns, by name
}

// add appends a value, which begins at a place in the file.
func (p *parser) add(value []byte, line, column int) {
	if !utf8.Valid(value) {
		p.refuseBytes(line, column)
	}
	p.text = append(p.text, value...)
	p.ends = append(p.ends, uint32(len(p.text)))
}

// refuseBytes reports a text that begins at a place in the file, and is not UTF-8.
func (p *parser) refuseBytes(line, column int) {
	p.faults.Add(line, column, "is not UTF-8; convert the file, as with iconv -t utf-8")
}

// addColumn adds a column, whose name stands at a place in the file.
func (p *parser) addColumn(name string, line, column int) {
	_, twice := p.index[name]
	switch {
	case name == "":
		p.faults.Add(line, column, "column %d has no name", len(p.columns)+1)
	case !utf8.ValidString(name):
		p.refuseBytes(line, column)
	case template.IsFunction(name):
		p.faults.Add(line, column, "the column %q has the name of a function; rename it", name)
	case strings.Contains(name, "{{") || strings.Contains(name, "}}"):
		p.faults.Add(line, column, "column %.60q has braces, so no template can name it; rename it",
			name)
	case twice:
		p.faults.Add(line, column, "column %.60s is there twice", name)
	}
	p.index[name] = len(p.columns)
	p.columns = append(p.columns, name)
}

// checkRows reports a file without rows.
func (p *parser) checkRows(file string) {
	if len(p.columns) > 0 && len(p.ends) == 0 && p.faults.Err() == nil {
		p.faults.Add(0, 0, "has no row %s", file)
	}
}

// named lists columns for a message.
func named(columns []string) string {
	const most = 8
	s := strings.Join(columns[:min(len(columns), most)], ", ")
	if len(columns) > most {
		s += ", …"
	}
	return s
}

// counted is "1 value", "2 values" and so on.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprint(n, " ", noun, "s")
}
