package hole

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxFilled is how many bytes a template makes at most.
const maxFilled = 4 << 20

// Words are what templates can name.
type Words map[string]Word

// A Word stands for a text or an int, which may depend on its arguments.
type Word struct {
	Least, Most int // arguments
	Value       func(args []string) (any, error)
}

// Text is a word that stands for a text.
func Text(value string) Word {
	return Word{Value: func([]string) (any, error) { return value, nil }}
}

// Int is a word that stands for a number.
func Int(value int) Word {
	return Word{Value: func([]string) (any, error) { return value, nil }}
}

// Fill is the text that a template without faults makes, and how many bytes were made for it: those
// of printf, too, which a condition can take. The error is a Fault.
func (t *Template) Fill(words Words) (text string, made int, err error) {
	f := filler{words: words}
	if err := f.write(t.nodes); err != nil {
		return "", 0, err
	}
	return f.text.String(), f.text.Len() + f.printed, nil
}

type filler struct {
	words   Words
	text    strings.Builder
	printed int // bytes that printf made, written or not
}

func (f *filler) write(nodes []node) error {
	for _, n := range nodes {
		text := n.text
		switch {
		case n.branches != nil:
			if err := f.choose(n.branches); err != nil {
				return err
			}
		case n.value != nil:
			v, err := f.value(n.value)
			if err != nil {
				return err
			}
			text = fmt.Sprint(v)
		}
		if f.text.Len()+len(text) > maxFilled {
			return Fault{n.at, errTooLong}
		}
		f.text.WriteString(text)
	}
	return nil
}

var errTooLong = fmt.Errorf("makes more than %d bytes", maxFilled)

// choose writes the first branch whose condition is true.
func (f *filler) choose(all []branch) error {
	for _, b := range all {
		if b.condition == nil {
			return f.write(b.nodes)
		}
		v, err := f.value(b.condition)
		if err != nil {
			return err
		}
		if isTrue(v) {
			return f.write(b.nodes)
		}
	}
	return nil
}

// isTrue reports whether a value is not the zero of its kind.
func isTrue(v any) bool {
	switch v := v.(type) {
	case string:
		return v != ""
	case bool:
		return v
	case int:
		return v != 0
	}
	return v != 0.0
}

func (f *filler) value(e *expression) (any, error) {
	switch {
	case e.name == "":
		return e.constant, nil
	case e.name == "and" || e.name == "or":
		return f.firstThat(e.name == "or", e.args)
	case !isFunction(e.name):
		return f.word(e)
	}
	values := make([]any, len(e.args))
	for i := range e.args {
		var err error
		if values[i], err = f.value(&e.args[i]); err != nil {
			return nil, err
		}
	}
	v, err := f.call(e, values)
	if err != nil {
		return nil, Fault{e.at, err}
	}
	return v, nil
}

// firstThat is the first value that is true, or that is not, or else the last one. Those behind it
// are not computed.
func (f *filler) firstThat(is bool, args []expression) (v any, err error) {
	for i := range args {
		if v, err = f.value(&args[i]); err != nil || isTrue(v) == is {
			return v, err
		}
	}
	return v, nil
}

// word is the value of a word.
func (f *filler) word(e *expression) (any, error) {
	w, known := f.words[e.name]
	if n := len(e.args); !known {
		return nil, Fault{e.at, fmt.Errorf("%s is unknown", e.name)}
	} else if n < w.Least || n > w.Most {
		return nil, Fault{e.at, fmt.Errorf("%s cannot have %d arguments", e.name, n)}
	}
	args := make([]string, len(e.args))
	for i, a := range e.args {
		args[i] = a.constant.(string)
	}
	v, err := w.Value(args)
	if err != nil {
		return nil, Fault{e.at, err}
	}
	return v, nil
}

// call is the value of a function that computes all of its arguments.
func (f *filler) call(e *expression, values []any) (any, error) {
	switch e.name {
	case "not":
		return !isTrue(values[0]), nil
	case "printf":
		return f.printf(values[0], values[1:])
	}
	for i, other := range values[1:] {
		if kindOf(values[0]) != kindOf(other) {
			return nil, mismatch(e.args[0], e.args[i+1], values[0], other)
		}
		if values[0] == other {
			return e.name == "eq", nil
		}
	}
	return e.name == "ne", nil
}

func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "a text"
	case bool:
		return "true or false"
	case int:
		return "a number"
	}
	return "a number with a point"
}

// mismatch is the error of a comparison of values of two kinds. It has no value that is not
// written there, for that may be secret.
func mismatch(a, b expression, v, w any) error {
	mend := "they are never equal"
	for _, side := range []struct {
		written expression
		other   any
	}{{a, w}, {b, v}} {
		_, text := side.other.(string)
		_, quoted := side.written.constant.(string)
		switch {
		case side.written.name != "":
		case text:
			mend = fmt.Sprintf("write \"%v\"", side.written.constant)
		case quoted:
			mend = fmt.Sprintf("write %v without quotes", side.written.constant)
		}
	}
	return fmt.Errorf("%s is compared with %s; %s", kindOf(v), kindOf(w), mend)
}

// printf is fmt.Sprintf. A format can ask for a width of a million, so what comes of it is
// estimated before.
func (f *filler) printf(format any, args []any) (any, error) {
	text, is := format.(string)
	if !is {
		return nil, errors.New("the format of printf is no text; write it in quotes")
	}
	if f.printed+longest(text, args) > maxFilled {
		return nil, errTooLong
	}
	made := fmt.Sprintf(text, args...)
	f.printed += len(made)
	return made, nil
}

// longest is at least how many bytes fmt.Sprintf makes.
func longest(format string, args []any) int {
	const verb = 400 // a float64 has 309 digits before its point
	widest, text, all := 0, 0, 0
	for _, a := range args {
		switch a := a.(type) {
		case string:
			text, all = max(text, len(a)), all+len(a)
		case int:
			widest = min(max(widest, a, -a), 1e6)
		}
	}
	total := len(format)
	for i := 0; i < len(format) && total <= maxFilled; i++ {
		switch c := format[i]; {
		case c == '%' && escapes(format[i+1:]):
			total += verb + 10*text // %q writes a byte as \x00, a rune as \U0010ffff
		case c == '%':
			total += verb + text
		case c == '*':
			total += widest
		case isDigit(c):
			n := prefixOf(format[i:], func(r rune) bool { return '0' <= r && r <= '9' })
			if width, err := strconv.Atoi(format[i : i+n]); err == nil {
				total += min(width, 1e6)
			}
			i += n - 1
		}
	}
	// What no verb takes is written behind: %!(EXTRA …).
	return total + verb + all + 20*len(args)
}

// escapes reports whether what follows a % writes a byte of a text as several.
func escapes(behind string) bool {
	verb := strings.TrimLeft(behind, "+- 0123456789.*[]")
	return verb != "" && strings.IndexByte("#qxX", verb[0]) >= 0
}
