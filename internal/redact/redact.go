// Package redact decides what of a request, of an environment or of a command is secret, and
// what is kept in its place. Nothing else in dyno decides that.
//
// Headers and parameters are secret unless their name is on a short list. Fields of a query, a
// form, a JSON body or an environment are secret if their name says so: see Secret. A body that
// is neither JSON nor a form is secret as a whole, and so are the credentials of a URL.
// docs/security.md says the same to users.
//
// The list has harmless headers, and not secret ones, because nobody knows all the names that
// people give to their tokens.
//
// Each structure that is stored names those of its texts that are searched (result's foreignTexts,
// the concealer of lab/run). One mask of all strings before they are encoded would be less code,
// and wrong: it does not know the name by which a value is secret, and by which its mark is put
// back (lab run --resume); nor whether a text was cut, so that parts of values count; and it would
// search dyno's own words and where a load goes, of which a secret may be a part by chance. Only
// where others said every string, as a server its answer, is there such a walk (lab/run, within).
//
// The functions change no layout: what is not secret stays byte for byte as it was. So the same
// rules put values back where there were marks, with another Replacer.
//
//	answer.go     header fields and bodies of answers
//	body.go       JSON and forms
//	check.go      names of checks
//	command.go    command lines
//	comment.go    comments in YAML
//	holes.go      texts with holes
//	known.go      texts of others, searched for known secrets
//	name.go       is a name that of a secret?
//	redact.go     the Replacer and marks; headers, parameters, variables
//	settings.go   settings in the words of a command
//	url.go        URLs, and connection strings
package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strings"
	"sync"

	"dyno/internal/lazyregexp"
)

// A Replacer is told the name of a secret and its value, and returns what stands in its place.
// A nil Replacer keeps all values.
type Replacer func(name, value string) string

// Plain is the mark of a value of which nothing more is known. All secrets in results of earlier
// versions have it.
const Plain = "(redacted)"

// A mark of a value is "(redacted-", 8 hexadecimal digits of its HMAC, and ")". It has no blank
// and needs no escape, so that it can stand in a URL, a form, JSON and a command.
var (
	mark   = lazyregexp.New(`^\(redacted(-[0-9a-f]{8})?\)$`)
	within = lazyregexp.New(`\(redacted(-n?[0-9a-f]{8})?\)`)
)

// longestMark is how long a mark is, that of a number in JSON included.
const longestMark = len("(redacted-n00000000)")

// IsMark reports whether s is a mark and nothing else.
func IsMark(s string) bool { return len(s) <= longestMark && mark().MatchString(s) }

// HasMark reports whether there is a mark in s.
func HasMark(s string) bool { return mayHaveMark(s) && within().MatchString(s) }

// mayHaveMark tells most texts that have no mark, in a small part of an expression's time: requests
// of a file have hundreds of megabytes.
func mayHaveMark(s string) bool { return strings.Contains(s, "(redacted") }

// lost is a mark of which nobody can mean the words: by its digits, or, without, by being a value.
var lost = lazyregexp.New(`\(redacted-n?[0-9a-f]{8}\)` +
	`|(?:^|[=:"&]|//|(?i:bearer|basic|digest|token)\s)(\(redacted\))(?:$|["&@;])`)

// FirstMark is the first mark in s that stands in the place of a secret; "" if there is none.
func FirstMark(s string) string {
	if !mayHaveMark(s) {
		return ""
	}
	m := lost().FindStringSubmatch(s)
	switch {
	case m == nil:
		return ""
	case m[1] != "":
		return m[1]
	}
	return m[0]
}

// PlainMark is a Replacer that tells no value from another.
func PlainMark(_, value string) string {
	if value == "" {
		return ""
	}
	return Plain
}

// memoMost is how many marks Marks remembers: requests have headers in common.
const memoMost = 1 << 12

// Marks is a Replacer by whose marks values can be told alike or different, and by which nobody
// without the key can try a guess: a plain hash of a short secret could be found by a dictionary.
// key is called when there is something to mark. It may be used by several goroutines. An empty
// value and a mark are left as they are.
func Marks(key func() []byte) Replacer {
	var mu sync.Mutex
	memo := map[string]string{}
	return func(_, value string) string {
		if value == "" || IsMark(value) {
			return value
		}
		mu.Lock()
		defer mu.Unlock()
		if m, known := memo[value]; known {
			return m
		}
		sum := hmac.New(sha256.New, key())
		io.Copy(sum, struct{ io.Reader }{strings.NewReader(value)}) // a body has 100 MB: not at once
		m := "(redacted-" + hex.EncodeToString(sum.Sum(nil)[:4]) + ")"
		if len(memo) < memoMost && len(value) <= 1<<10 {
			memo[value] = m
		}
		return m
	}
}

// harmless are the headers, in small letters, whose values are kept: they say how to answer, and
// not who asks. A name that ends in * stands for all that begin so.
var harmless = []string{"accept", "accept-*", "access-control-request-*", "cache-control",
	"connection", "content-encoding", "content-language", "content-length", "content-type", "date",
	"dnt", "expect", "host", "if-*", "keep-alive", "max-forwards", "pragma", "priority", "range",
	"sec-ch-*", "sec-fetch-*", "te", "transfer-encoding", "upgrade", "upgrade-insecure-requests",
	"user-agent", "x-requested-with"}

// parameters are likewise those of FastCGI, besides HTTP_ and the name of a harmless header.
var parameters = []string{"content_length", "content_type", "document_root", "document_uri",
	"gateway_interface", "https", "path_info", "path_translated", "query_string", "redirect_status",
	"remote_addr", "remote_port", "request_method", "request_scheme", "request_uri",
	"script_filename", "script_name", "server_*"}

func isListed(name string, list []string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		begin, any := strings.CutSuffix(entry, "*")
		return name == entry || any && strings.HasPrefix(name, begin)
	})
}

// replace is r of a value that is secret.
func (r Replacer) replace(name, value string) string {
	if r == nil {
		return value
	}
	return r(name, value)
}

// Header is what is kept of a header's value.
func (r Replacer) Header(name, value string) string {
	if isListed(strings.ToLower(name), harmless) {
		return r.Text(value)
	}
	return r.replace(name, value)
}

// Param is what is kept of the value of a parameter of FastCGI.
func (r Replacer) Param(name, value string) string {
	lower := strings.ToLower(name)
	if header, is := strings.CutPrefix(lower, "http_"); is {
		return r.Header(strings.ReplaceAll(header, "_", "-"), value)
	}
	switch {
	case r == nil:
		return value
	case lower == "query_string":
		return r.redactForm(value)
	case lower == "request_uri":
		return r.URL(value)
	case isListed(lower, parameters):
		return r.Text(value)
	}
	return r(name, value)
}

// Variable is what is kept of the value of an environment's variable, or of a flag: all, unless
// the name is that of a secret and the value could be one.
func (r Replacer) Variable(name, value string) string {
	return commandLine{Replacer: r}.variable(name, value)
}

// Route is what is kept of a route's name, which is a method and a path unless the user gave one.
func (r Replacer) Route(name string) string {
	method, path, found := strings.Cut(name, " ")
	if found && strings.HasPrefix(path, "/") {
		return method + " " + r.URL(path)
	}
	return r.Text(name)
}
