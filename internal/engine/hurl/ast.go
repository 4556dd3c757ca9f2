// Package hurl reads the Hurl file format: requests, and what their responses have to be, as plain
// text. Program hurl (https://hurl.dev) runs such files as tests.
//
// The reader takes what hurl 8 takes, whether dyno can run it or not, and refuses the rest with
// line and column. What a file means, and which part of the language dyno runs, is in package
// session.
//
//	ast.go         what a file consists of: entries, requests, captures, asserts
//	body.go        bodies: text, JSON, XML, GraphQL, multiline, bytes, files
//	filter.go      the filters behind a query or in a capture: names and arguments
//	json.go        JSON bodies, which may have holes
//	note.go        comments that are notes to dyno: weights, thinking times, what stays
//	option.go      the section [Options]
//	parse.go       files, entries, sections; where reading begins
//	predicate.go   what follows a query in an assert: ==, contains, isNumber
//	query.go       what captures and asserts look at: status, header, jsonpath, cookie
//	text.go        quoted and unquoted texts, and the holes in them
package hurl

import "regexp"

// A File is a Hurl file.
type File struct {
	Name    string
	Source  string // all of its text
	Entries []Entry
	Weight  int // of "# dyno: weight 3" before the first request; 0: not given
}

// A Pos is a place in the file: line, and column in bytes, both from 1.
type Pos struct{ Line, Column int }

// An Entry is a request and what its response has to be.
type Entry struct {
	Request
	Response *Response   // nil: anything
	Delay    *Delay      // of "# dyno: delay 1s..3s" before the request; nil: not given
	Stream   *Stream     // of "# dyno: stream openai" before the request; nil: not given
	Again    *Recurrence // of "# dyno: once" and the like; nil: it runs in each iteration
}

// A Request is the first half of an entry.
type Request struct {
	Pos       Pos // of the method
	Method    string
	URL       Template
	Headers   []KeyValue
	Query     []KeyValue
	Form      []KeyValue
	Multipart []Part
	Cookies   []KeyValue
	BasicAuth []KeyValue // at most one
	Options   []Option
	Body      *Body // nil: none
}

// A Response is the second half of an entry.
type Response struct {
	Version    string // "1.0", "1.1", "2", "3", or "": any
	VersionPos Pos
	Status     int // -1: any
	StatusPos  Pos
	Headers    []KeyValue
	Captures   []Capture
	Asserts    []Assert
	Body       *Body // nil: any
}

// A KeyValue is a line "key: value".
type KeyValue struct{ Key, Value Template }

// A Part is one of a multipart form.
type Part struct {
	Key, Value Template
	File       bool     // Value is the name of a file
	Type       Template // of a file; no pieces: from its name
}

// A Capture gives the value of a query a name.
type Capture struct {
	Text    string // query and filters as they were written
	Name    Template
	Query   Query
	Filters []Filter
	Redact  bool
}

// An Assert says what the value of a query has to be.
type Assert struct {
	Text      string // the line as it was written
	Query     Query
	Filters   []Filter
	Predicate Predicate
}

// A Query is where a value comes from.
type Query struct {
	Pos       Pos
	Name      string   // such as "jsonpath"
	Text      Template // its argument, or a pattern that is a string
	Pattern   *Pattern // of a regex between slashes
	Attribute string   // of a cookie, or of a certificate, in lower case; "": the value
}

// A Filter makes another value of one.
type Filter struct {
	Pos     Pos
	Name    string
	Text    Template // its first argument
	Pattern *Pattern // its first argument if that is a regex between slashes
	Other   Template // its second argument
	N       int64    // its argument if that is an integer
	Expr    *Expr    // in place of N
}

// A Pattern is a regular expression between slashes.
type Pattern struct {
	Pos Pos
	*regexp.Regexp
}

// A Predicate is a condition.
type Predicate struct {
	Pos   Pos
	Not   bool
	Name  string // such as "==" or "isEmpty"
	Value Value  // if it compares with one
}

// A ValueKind is how a value was written.
type ValueKind uint8

// The kinds of values.
const (
	NoValue ValueKind = iota
	Null
	Bool
	Number  // Text is the number
	Text    // of quotes, backticks or three backticks
	Bytes   // of hex or base64
	Content // of a file, whose name Text is
	Held    // what a variable or a function has: Text is one piece, which has an Expr
	Regex
)

// A Value is what a predicate compares with.
type Value struct {
	Pos     Pos
	Kind    ValueKind
	Bool    bool
	Text    Template
	Raw     bool // Text is JSON or the like, between three backticks
	Bytes   []byte
	Pattern *Pattern
}

// An Option is a line of [Options].
type Option struct {
	Pos   Pos
	Name  string
	Value Template // as written; of a variable, its value
	// Variable is the name that a variable is given.
	Variable string
	Literal  bool // the variable's value is null, a boolean or a number, and no text
}

// A BodyKind is how a body was written.
type BodyKind uint8

// The kinds of bodies. All but BytesBody and FileBody have a Text.
const (
	TextBody  BodyKind = iota
	JSONBody           // its type is application/json
	XMLBody            // its type is application/xml
	BytesBody          // of hex or base64
	FileBody           // Text is the name of the file
)

// A Body is that of a request, or what that of a response has to be.
type Body struct {
	Pos   Pos
	Kind  BodyKind
	Text  Template
	Bytes []byte
}

// A Template is text with expressions in it.
type Template struct {
	Pos    Pos
	Pieces []Piece
}

// A Piece is text or, if Expr is not nil, an expression.
type Piece struct {
	Text string
	Expr *Expr
	In   Place
}

// A Place is where an expression stands.
type Place uint8

// The places.
const (
	InText       Place = iota
	InJSONString       // its value is escaped
	InJSON             // its value has to be a number, a boolean or null
)

// An Expr is what stands in {{}}: a variable, or one of Functions.
type Expr struct {
	Pos  Pos
	Name string
}

// NewUUID and NewDate are the functions.
const (
	NewUUID = "newUuid"
	NewDate = "newDate"
)

// IsFunction reports whether a name is a function's, so that no variable can have it.
func IsFunction(name string) bool { return name == NewUUID || name == NewDate }

// Source is the template with its expressions as {{name}}.
func (t Template) Source() string {
	s := ""
	for _, p := range t.Pieces {
		if p.Expr != nil {
			s += "{{" + p.Expr.Name + "}}"
		} else {
			s += p.Text
		}
	}
	return s
}

// Literal is the text of a template without expressions; ok is false if it has some.
func (t Template) Literal() (text string, ok bool) {
	for _, p := range t.Pieces {
		if p.Expr != nil {
			return "", false
		}
		text += p.Text
	}
	return text, true
}
