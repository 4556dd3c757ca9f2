package session

import (
	"slices"
	"strconv"
	"strings"

	"dyno/internal/engine/data"
	"dyno/internal/engine/hurl"
	"dyno/internal/engine/template"
	"dyno/internal/fact"
	"dyno/internal/say"
)

// A Variable is one of the command line. Its value is what hurl would take it for: null, a boolean,
// a number, or text; in quotes it is text.
type Variable struct{ Name, Value string }

// A sourceKind is where the value of an expression comes from.
type sourceKind uint8

const (
	constant sourceKind = iota
	column              // of the data
	slot                // of the user, which captures and the option variable change
	newUUID
	newDate
)

// A source is where the value of an expression comes from.
type source struct {
	kind  sourceKind
	index int   // of a column or slot
	value value // of a constant

	first bool // of a slot: nothing above has changed it
	stays bool // of a column that a slot has first: its row is that of entries that stay
}

// A scope has the names that are known at a place in a file.
type scope struct {
	*compiler
	program *program
	file    *hurl.File
	slots   map[string]int // of all names that the file changes
	known   map[string]source

	entry         *hurl.Entry // that is being compiled
	mostRedirects int64       // of it
	columns       columnUses
}

// newScope is the scope before the first request.
func (c *compiler) newScope(f *hurl.File, p *program) *scope {
	s := &scope{compiler: c, program: p, file: f, slots: map[string]int{}, known: map[string]source{}}
	for i := range f.Entries {
		for _, name := range changed(&f.Entries[i]) {
			if _, has := s.slots[name]; !has {
				s.slots[name] = len(p.slots)
				p.slots = append(p.slots, source{})
			}
		}
	}
	for _, v := range c.variables {
		s.declare(v.Name, source{kind: constant, value: typed(v.Value)})
	}
	if c.Data != nil {
		for i, name := range c.Data.Columns() {
			s.declare(name, source{kind: column, index: i})
		}
	}
	return s
}

// typed is the value of a variable of the command line.
func typed(s string) value {
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' {
		return ofText([]byte(s[1 : len(s)-1]))
	}
	return inferred([]byte(s))
}

// declare makes a name known that has a value from the start.
func (s *scope) declare(name string, from source) {
	if i, is := s.slots[name]; is {
		s.program.slots[i] = from
		from = source{kind: slot, index: i, first: true}
	}
	s.known[name] = from
}

// assign makes a name known that the file gives a value, and returns its slot.
func (s *scope) assign(name string) int {
	i := s.slots[name]
	s.known[name] = source{kind: slot, index: i}
	return i
}

// changed are the names that an entry gives values.
func changed(e *hurl.Entry) (names []string) {
	for _, o := range e.Options {
		if o.Variable != "" {
			names = append(names, o.Variable)
		}
	}
	if e.Response != nil {
		for _, c := range e.Response.Captures {
			if name, ok := c.Name.Literal(); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// fault notes a mistake in the file.
func (s *scope) fault(at hurl.Pos, format string, args ...any) {
	s.faults.Add(at.Line, at.Column, format, args...)
}

// wrong notes what is wrong with the file, and what would mend it.
func (s *scope) wrong(at hurl.Pos, what fact.Args, mend ...fact.Remedy) {
	f := fact.Fact{Severity: fact.Error, Args: what}
	if s.Voice != nil {
		f.Remedies = mend
	}
	s.fault(at, "%s", say.Text(f, s.Voice))
}

// resolve finds where the value of an expression comes from.
func (s *scope) resolve(e *hurl.Expr) (from source, ok bool) {
	switch e.Name {
	case hurl.NewUUID:
		return source{kind: newUUID}, true
	case hurl.NewDate:
		return source{kind: newDate}, true
	}
	if from, ok = s.known[e.Name]; ok {
		s.noteColumn(from, e.Name, e.Pos)
		return from, true
	}
	if _, later := s.slots[e.Name]; !later && s.Unknown {
		if !slices.Contains(s.unknowns, e.Name) {
			s.unknowns = append(s.unknowns, e.Name)
		}
		return source{kind: column}, true
	} else if later {
		s.wrong(e.Pos, fact.InScenario{Of: fact.ValueLater, Name: e.Name})
	} else {
		unknown := fact.InScenario{Of: fact.NameUnknown, Name: e.Name}
		if s.Data != nil {
			unknown.Has, unknown.Hint = s.Data.Columns(), s.Data.NamesHint()
		}
		s.wrong(e.Pos, unknown, fact.Remedy{Setting: "variable", Value: e.Name + "=VALUE"})
	}
	return from, false
}

// noteColumn notes the use of a name in an entry, if its value there is that of a column.
func (s *scope) noteColumn(from source, name string, at hurl.Pos) {
	stays := s.entry.Again.Stays()
	if from.first && s.program.slots[from.index].kind == column {
		of := &s.program.slots[from.index]
		of.stays = of.stays || stays
	} else if from.kind != column {
		return
	}
	s.columns.note(name, at, stays)
}

// A part is text, or a source if text is nil.
type part struct {
	text []byte
	name string // of the variable whose value text is, or of the source
	from source
	at   hurl.Pos
	in   hurl.Place
}

// parts are those of a template. Constants are text.
func (s *scope) parts(t hurl.Template) (all []part) {
	for _, p := range t.Pieces {
		if p.Expr == nil {
			all = append(all, part{text: []byte(p.Text)})
			continue
		}
		from, ok := s.resolve(p.Expr)
		if !ok {
			continue
		}
		one := part{name: p.Expr.Name, from: from, at: p.Expr.Pos, in: p.In}
		if from.kind == constant {
			b, ok := from.value.render(nil)
			if ok {
				b, ok = appendPlaced([]byte{}, b, p.In)
			}
			if one.text = b; !ok {
				s.wrong(p.Expr.Pos, fact.InScenario{Of: fact.NotBare, Name: p.Expr.Name})
			}
		}
		all = append(all, one)
	}
	return all
}

// merged are parts of which no two are texts one after the other.
func merged(parts []part) (all []part) {
	for _, p := range parts {
		if n := len(all); n > 0 && all[n-1].text != nil && p.text != nil {
			all[n-1].text = append(all[n-1].text[:len(all[n-1].text):len(all[n-1].text)], p.text...)
		} else {
			all = append(all, p)
		}
	}
	return all
}

// literal is the text of a template whose value is known before the run: that of a part of the
// file, which may have a name.
func (s *scope) literal(t hurl.Template, of fact.HurlPart, name string) (text string, ok bool) {
	all := merged(s.parts(t))
	switch {
	case len(all) == 0:
		return "", true
	case len(all) > 1 || all[0].text == nil:
		s.wrong(t.Pos, fact.NotInLoad{What: of, Name: name, Late: true},
			fact.Remedy{Setting: "variable", Value: "NAME=VALUE"})
		return "", false
	}
	return string(all[0].text), true
}

// appendPlaced appends a value as it stands in its place. ok is false if it cannot stand there.
func appendPlaced(to, v []byte, in hurl.Place) (out []byte, ok bool) {
	switch in {
	case hurl.InJSONString:
		return appendEscaped(to, v), true
	case hurl.InJSON:
		return append(to, v...), isBare(v)
	}
	return append(to, v...), true
}

// appendEscaped appends text as hurl escapes it in a JSON string.
func appendEscaped(to, v []byte) []byte {
	for _, c := range v {
		switch c {
		case '"', '\\':
			to = append(to, '\\', c)
		case '\n':
			to = append(to, `\n`...)
		case '\r':
			to = append(to, `\r`...)
		case '\t':
			to = append(to, `\t`...)
		default:
			to = append(to, c)
		}
	}
	return to
}

// isBare reports whether text is a number, a boolean or null of JSON.
func isBare(v []byte) bool {
	switch string(v) {
	case "true", "false", "null":
		return true
	case "":
		return false
	}
	if c := v[len(v)-1]; c < '0' || c > '9' {
		return false
	}
	_, err := strconv.ParseFloat(string(v), 64)
	return err == nil && looksNumeric(v) && v[0] != '+' && v[0] != '.'
}

// appendPart appends a part of a template of a user.
func (w *worker) appendPart(to []byte, u *user, p *part) (out []byte, ok bool) {
	if p.text != nil {
		return append(to, p.text...), true
	}
	switch p.from.kind {
	case column:
		return appendPlaced(to, w.Data.Value(u.row, p.from.index), p.in)
	case newUUID:
		return template.Source{Kind: template.UUID}.Append(to, &w.facts), true
	case newDate:
		return template.Source{Kind: template.Now}.Append(to, &w.facts), true
	}
	v := &u.slots[p.from.index]
	if p.in == hurl.InText || v.kind == integer || v.kind == float {
		return v.render(to)
	}
	from := len(w.placed)
	w.placed, ok = v.render(w.placed)
	if !ok {
		return to, false
	}
	rendered := w.placed[from:]
	w.placed = w.placed[:from]
	return appendPlaced(to, rendered, p.in)
}

// valueOf is the value of a source.
func (w *worker) valueOf(u *user, from source) value {
	switch from.kind {
	case constant:
		return from.value
	case column:
		return inferred(w.Data.Value(u.row, from.index))
	case slot:
		return u.slots[from.index]
	case newDate:
		return value{kind: date, i: w.facts.Due}
	}
	b := len(w.scratch.text)
	w.scratch.text = template.Source{Kind: template.UUID}.Append(w.scratch.text, &w.facts)
	return ofText(w.scratch.text[b:])
}

// checkNames reports variables and columns that cannot be used.
func checkNames(variables []Variable, t *data.Table) (all []error) {
	wrong := func(of fact.ScenarioFault, name string) {
		all = append(all, say.Wrong(fact.InScenario{Of: of, Name: name}))
	}
	columns := []string{}
	if t != nil {
		columns = t.Columns()
	}
	for _, name := range columns {
		if hurl.IsFunction(name) {
			wrong(fact.ColumnFunction, name)
		}
		for _, v := range variables {
			if v.Name == name {
				wrong(fact.ColumnTwice, name)
			}
		}
	}
	for _, v := range variables {
		if hurl.IsFunction(v.Name) {
			wrong(fact.VariableFunction, v.Name)
		}
		if strings.HasPrefix(v.Value, `"`) && !strings.HasSuffix(v.Value, `"`) {
			wrong(fact.QuoteOpen, v.Name)
		}
	}
	return all
}
