package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math/big"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"dyno/internal/engine/jsonscan"
	"dyno/internal/engine/scenario"
)

// A kind is the type of a value, as hurl has them.
type kind uint8

const (
	none kind = iota // there is no value
	null
	boolean
	integer
	float
	bigInteger // text has its digits
	text
	binary // text has the bytes
	list
	object   // text is its JSON
	nodes    // i of them
	date     // i is in ns since the Unix epoch
	unit     // there is one: of an attribute without a value
	response // one that was a redirect; text is where to
)

var kindNames = []string{"none", "null", "boolean", "integer", "float", "integer", "string",
	"bytes", "list", "object", "nodeset", "date", "unit",
	"response"}

// A value is what a query or a filter yields. Its text is only lent: by the response, the row or
// the scratch memory.
type value struct {
	kind kind
	i    int64 // an integer, 1 of true, a count or an instant
	f    float64
	text []byte
	list []value // of a list, unless text is its JSON
}

func ofText(b []byte) value    { return value{kind: text, text: b} }
func ofInteger(i int64) value  { return value{kind: integer, i: i} }
func ofFloat(f float64) value  { return value{kind: float, f: f} }
func ofList(all []value) value { return value{kind: list, list: all} }

func ofBool(b bool) value {
	v := value{kind: boolean}
	if b {
		v.i = 1
	}
	return v
}

// inferred is the value of a variable as hurl takes it from its command line.
func inferred(s []byte) value {
	switch {
	case string(s) == "true" || string(s) == "false":
		return ofBool(s[0] == 't')
	case string(s) == "null":
		return value{kind: null}
	case len(s) == 0 || !looksNumeric(s):
		return ofText(s)
	}
	if i, err := strconv.ParseInt(string(s), 10, 64); err == nil {
		return ofInteger(i)
	}
	if allDigits(s) {
		return value{kind: bigInteger, text: s}
	}
	if f, err := strconv.ParseFloat(string(s), 64); err == nil {
		return ofFloat(f)
	}
	return ofText(s)
}

// looksNumeric reports whether s can be a number: it has digits, and no letters but an e.
func looksNumeric(s []byte) bool {
	for _, c := range s {
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c|0x20 != 'e' {
			return false
		}
	}
	return s[0] != 'e' && s[0] != 'E'
}

func allDigits(s []byte) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(s) > 0
}

// fromJSON is the value of a JSON text, which is valid.
func (s *scratch) fromJSON(b []byte) value {
	switch b[0] {
	case '"':
		inside := b[1 : len(b)-1]
		if bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside) {
			return ofText(inside)
		}
		from := len(s.text)
		s.text = jsonscan.AppendUnquoted(s.text, b)
		return ofText(s.text[from:])
	case '{':
		return value{kind: object, text: b}
	case '[':
		return value{kind: list, text: b}
	case 't', 'f':
		return ofBool(b[0] == 't')
	case 'n':
		return value{kind: null}
	}
	return ofNumber(b)
}

// ofNumber is the value of a JSON number.
func ofNumber(b []byte) value {
	if bytes.ContainsAny(b, ".eE") {
		f, _ := strconv.ParseFloat(string(b), 64) // too large ones are infinite
		return ofFloat(f)
	}
	if i, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return ofInteger(i)
	}
	return value{kind: bigInteger, text: b}
}

// elements are those of a list; none if they exceed the limits.
func (s *scratch) elements(v value) []value {
	if v.text == nil {
		return v.list
	}
	if !scenario.JSONFits(v.text) {
		_ = s.exceed()
		return nil
	}
	var all []value
	w := jsonscan.Walk{Text: v.text, At: 1}
	for w.Next() {
		end, ok := jsonscan.Skip(v.text, w.At)
		if !ok {
			break
		}
		all = append(all, s.fromJSON(v.text[w.At:end]))
		w.At = end
	}
	return all
}

// nowLayout is how hurl writes a date.
const nowLayout = "2006-01-02T15:04:05.000000Z"

// render appends the value as it stands in a template. ok is false if it cannot stand there.
func (v value) render(b []byte) (out []byte, ok bool) {
	switch v.kind {
	case null:
		return append(b, "null"...), true
	case boolean:
		return strconv.AppendBool(b, v.i != 0), true
	case integer:
		return strconv.AppendInt(b, v.i, 10), true
	case float:
		return appendFloat(b, v.f), true
	case text, bigInteger:
		return append(b, v.text...), true
	case date:
		return time.Unix(0, v.i).UTC().AppendFormat(b, nowLayout), true
	}
	return b, false
}

// appendFloat appends a number, with a fraction even if that is 0.
func appendFloat(b []byte, f float64) []byte {
	from := len(b)
	b = strconv.AppendFloat(b, f, 'f', -1, 64)
	if bytes.IndexByte(b[from:], '.') < 0 && f-f == 0 {
		b = append(b, ".0"...)
	}
	return b
}

// equals reports whether two values are the same, of the same type.
func (s *scratch) equals(a, b value) bool {
	if a.isNumber() && b.isNumber() {
		return compareNumbers(a, b) == 0
	}
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case null, unit:
		return true
	case boolean, nodes, date:
		return a.i == b.i
	case text, binary, response:
		return bytes.Equal(a.text, b.text)
	case object:
		if !scenario.JSONFits(a.text) || !scenario.JSONFits(b.text) {
			return s.exceed() == nil
		}
		var x, y any
		return json.Unmarshal(a.text, &x) == nil && json.Unmarshal(b.text, &y) == nil &&
			reflect.DeepEqual(x, y)
	case list:
		x, y := s.elements(a), s.elements(b)
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !s.equals(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return false
}

func (v value) isNumber() bool {
	return v.kind == integer || v.kind == float || v.kind == bigInteger
}

func compareNumbers(a, b value) int {
	switch {
	case a.kind == integer && b.kind == integer:
		return cmp.Compare(a.i, b.i)
	case a.kind == bigInteger || b.kind == bigInteger:
		return a.exact().Cmp(b.exact())
	}
	return cmp.Compare(a.asFloat(), b.asFloat())
}

func (v value) asFloat() float64 {
	if v.kind == float {
		return v.f
	}
	return float64(v.i)
}

// exact is a number with all its digits.
func (v value) exact() *big.Float {
	const bits = 512
	n := new(big.Float).SetPrec(bits)
	switch v.kind {
	case integer:
		return n.SetInt64(v.i)
	case float:
		if v.f != v.f {
			return n
		}
		return n.SetFloat64(v.f)
	}
	if _, ok := n.SetString(string(v.text)); !ok {
		return n
	}
	return n
}

// order compares two values; ok is false if they have no order.
func order(a, b value) (c int, ok bool) {
	switch {
	case a.isNumber() && b.isNumber():
		return compareNumbers(a, b), true
	case a.kind == text && b.kind == text:
		return bytes.Compare(a.text, b.text), true
	case a.kind == date && b.kind == date:
		return cmp.Compare(a.i, b.i), true
	}
	return 0, false
}

// size is how many parts a value has; ok is false if it has none.
func (s *scratch) size(v value) (n int, ok bool) {
	switch v.kind {
	case list:
		if v.text == nil {
			return len(v.list), true
		}
		w := jsonscan.Walk{Text: v.text, At: 1}
		return countMembers(&w), true
	case text, binary:
		return len(v.text), true
	case nodes:
		return int(v.i), true
	case object:
		w := jsonscan.Walk{Text: v.text, Object: true, At: 1}
		return countMembers(&w), true
	}
	return 0, false
}

// countMembers is how many members or elements a walk meets.
func countMembers(w *jsonscan.Walk) (n int) {
	for w.Next() {
		end, is := jsonscan.Skip(w.Text, w.At)
		if !is {
			break
		}
		w.At = end
		n++
	}
	return n
}

// keep makes k a copy of v in memory of its own, which it keeps for the next.
func (k *value) keep(v value) {
	own := k.text
	*k = v
	k.text = append(own[:0], v.text...)
	if v.kind != list {
		return
	}
	if v.text == nil {
		k.text = nil
	}
	k.list = nil
	for _, e := range v.list {
		var copied value
		copied.keep(e)
		k.list = append(k.list, copied)
	}
}

// String shows the value for people, with its type.
func (v value) String() string {
	const longest = 200
	shown := ""
	switch v.kind {
	case none, unit, null:
		return kindNames[v.kind]
	case binary:
		shown = strconv.Itoa(len(v.text)) + " bytes"
		return shown
	case list:
		if v.text == nil {
			return "list of " + strconv.Itoa(len(v.list))
		}
		shown = string(v.text)
	case object, response:
		shown = string(v.text)
	case nodes:
		return "nodeset of " + strconv.FormatInt(v.i, 10)
	case text:
		shown = strconv.Quote(string(v.text))
	default:
		b, _ := v.render(nil)
		shown = string(b)
	}
	if r := []rune(shown); len(r) > longest {
		shown = string(r[:longest]) + "…"
	}
	return kindNames[v.kind] + " " + shown
}
