package data

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"dyno/internal/engine/jsonscan"
)

// A member is one of an object on a line.
type member struct {
	value  []byte
	column int // of the key, in the line
	given  bool
}

// readJSONLines parses a file's bytes.
func (p *parser) readJSONLines(raw []byte) {
	var row []member
	var scratch []byte
	number := 0
	if from := jsonscan.Space(raw, 0); from < len(raw) && raw[from] == '[' {
		line := 1 + bytes.Count(raw[:from], []byte("\n"))
		p.faults.Add(line, from-bytes.LastIndexByte(raw[:from], '\n'), "begins a JSON list, and each "+
			"line must be an object; convert the file, as with jq -c '.[]'")
		return
	}
	for line := range bytes.Lines(raw) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		if jsonscan.Space(line, 0) == len(line) {
			continue
		}
		row = p.addObject(line, number, row[:0], &scratch)
	}
	if p.columns == nil && p.faults.Err() == nil {
		p.faults.Add(0, 0, `is empty; write an object a line, as in {"email": "a@example.org"}`)
	}
	p.checkRows("that is an object with keys")
}

// addObject adds a line's row. It returns the row's memory.
func (p *parser) addObject(line []byte, number int, row []member, scratch *[]byte) []member {
	from := jsonscan.Space(line, 0)
	end, ok := jsonscan.Skip(line, from)
	if rest := jsonscan.Space(line, end); ok && rest < len(line) {
		end, ok = rest, false
	}
	switch {
	case line[from] != '{':
		p.faults.Add(number, from+1, `is no JSON object, as {"email": "a@example.org"}`)
		return row
	case !ok && end >= len(line):
		p.faults.Add(number, end+1, "the line ends within the object")
		return row
	case !ok:
		p.faults.Add(number, end+1, "is no JSON from here on")
		return row
	}
	first := p.columns == nil
	row = slices.Grow(row, len(p.columns))[:len(p.columns)]
	clear(row)
	w := jsonscan.Walk{Text: line, Object: true, At: from + 1}
	for w.Next() {
		value := w.At
		w.At, _ = jsonscan.Skip(line, value)
		column := w.KeyAt + 1
		*scratch = jsonscan.AppendUnquoted((*scratch)[:0], w.Key)
		i, known := p.index[string(*scratch)]
		switch {
		case first:
			p.addColumn(string(*scratch), number, column)
			row = append(row, member{line[value:w.At], column, true})
		case !known:
			p.faults.Add(number, column, "key %.60q is not in the first line, which has %s", *scratch,
				named(p.columns))
		case row[i].given:
			p.faults.Add(number, column, "key %.60q is there twice", *scratch)
		default:
			row[i] = member{line[value:w.At], column, true}
		}
	}
	if first && len(row) == 0 {
		p.faults.Add(number, from+1, "the object has no key, and its keys are the columns")
	}
	p.addMembers(row, number, from+1, scratch)
	return row
}

// addMembers adds the values of a row.
func (p *parser) addMembers(row []member, line, column int, scratch *[]byte) {
	for i, m := range row {
		switch {
		case !m.given:
			p.faults.Add(line, column, "key %.60q is missing, and the first line has it", p.columns[i])
		case m.value[0] == '"':
			if !utf8.Valid(m.value) {
				p.refuseBytes(line, m.column)
			}
			*scratch = jsonscan.AppendUnquoted((*scratch)[:0], m.value)
			p.add(*scratch, line, m.column)
		default:
			p.add(m.value, line, m.column)
		}
	}
}
