package accesslog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// A Format is the form of a log's lines: texts that all lines have, and fields between them.
type Format struct {
	fields []field
	last   string // text behind the last field
}

// A field is what stands behind a text.
type field struct {
	before string
	name   string // of nginx; "" is of no interest
}

// The formats that Detect knows, as nginx writes them. Apache's common and combined logs are the
// same.
var known = []struct{ name, format string }{
	{"combined, with a field more", combined + ` "$http_x_forwarded_for"`},
	{"combined", combined},
	{"combined, with the host before", "$host " + combined},
	{"common", common},
	{"common, with the host before", "$host " + common},
}

const (
	common = `$remote_addr - $remote_user [$time_local] "$request" $status ` +
		`$body_bytes_sent`
	combined = common + ` "$http_referer" "$http_user_agent"`
)

// ParseFormat reads a format as nginx has it in log_format, '$remote_addr [$time_local] …', or
// Apache in LogFormat, '%h %t …'.
func ParseFormat(s string) (Format, error) {
	f, err := parseVariables(s)
	if !strings.Contains(s, "$") {
		f, err = parseDirectives(s)
	}
	if err != nil {
		return f, err
	}
	for i, one := range f.fields {
		if i > 0 && one.before == "" {
			return f, fmt.Errorf("nothing is between two of its fields, so none of them ends: %.60q", s)
		}
	}
	has := func(name string) bool {
		return slices.ContainsFunc(f.fields, func(f field) bool { return f.name == name })
	}
	if !has("request") && !has("request_uri") && !has("uri") {
		return f, fmt.Errorf("%.60q has no request: neither $request nor $request_uri (%%r or %%U)", s)
	}
	return f, nil
}

// parseVariables reads a format of nginx.
func parseVariables(s string) (f Format, err error) {
	for {
		before, rest, found := strings.Cut(s, "$")
		if !found {
			f.last = before
			return f, nil
		}
		name := rest[:len(rest)-len(strings.TrimLeft(rest, letters))]
		s = rest[len(name):]
		if inside, braced := strings.CutPrefix(rest, "{"); braced {
			if name, s, braced = strings.Cut(inside, "}"); !braced {
				return f, fmt.Errorf("${%.40s has no }", inside)
			}
		}
		if name == "" {
			return f, fmt.Errorf("$ without a name before %.40q", rest)
		}
		f.fields = append(f.fields, field{before, name})
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// directives are those of Apache whose values are of interest, by the names of nginx.
var directives = map[string]string{"r": "request", "s": "status", "U": "uri", "q": "args",
	"m": "request_method", "t": "time_bracketed", "v": "host", "V": "host"}

// parseDirectives reads a format of Apache: %h, %>s, %{Referer}i, %400,501{Host}i.
func parseDirectives(s string) (f Format, err error) {
	s = strings.ReplaceAll(s, `\"`, `"`)
	before := ""
	for {
		text, rest, found := strings.Cut(s, "%")
		before += text
		if !found {
			f.last = before
			return f, nil
		}
		if strings.HasPrefix(rest, "%") {
			before, s = before+"%", rest[1:]
			continue
		}
		rest = strings.TrimLeft(rest, "!0123456789,<>")
		argument := ""
		if inside, braced := strings.CutPrefix(rest, "{"); braced {
			if argument, rest, braced = strings.Cut(inside, "}"); !braced {
				return f, fmt.Errorf("%%{%.40s has no }", inside)
			}
		}
		if rest == "" {
			return f, fmt.Errorf("%% is at its end, without a letter")
		}
		name := directives[rest[:1]]
		switch {
		case rest[0] == 'i' && strings.EqualFold(argument, "host"):
			name = "host"
		case argument != "":
			name = map[string]string{"sec": "msec", "msec": "milliseconds",
				"usec": "microseconds"}[argument]
		case rest[0] == '^':
			return f, fmt.Errorf("%%^ is not known")
		}
		f.fields = append(f.fields, field{before, name})
		before, s = "", rest[1:]
	}
}

// match parts a line into the values of the format's fields. Where it does not fit, it returns the
// column and what was expected there.
func (f Format) match(line string, value func(name, text string, column int)) (column int,
	problem string) {
	at := 0
	for i, one := range f.fields {
		if !strings.HasPrefix(line[at:], one.before) {
			return at + 1, fmt.Sprintf("has not %q there", one.before)
		}
		at += len(one.before)
		end := f.last
		if i+1 < len(f.fields) {
			end = f.fields[i+1].before
		}
		rest := line[at:]
		if end == "" && i > 0 && slices.Contains(oneWord, one.name) {
			rest, _, _ = strings.Cut(rest, " ")
		}
		n := valueLength(rest, one.before, end)
		if n < 0 {
			return at + 1, fmt.Sprintf("ends where %q should follow $%s", end, one.name)
		}
		value(one.name, line[at:at+n], at+1)
		at += n
	}
	if !strings.HasPrefix(line[at:], f.last) {
		return at + 1, fmt.Sprintf("has %.40q where %q should follow", line[at:], f.last)
	}
	return 0, "" // what else the line has is of no interest
}

// oneWord are fields without blanks: at the end of a format, they end where more follows.
var oneWord = []string{"status", "request_uri", "uri", "args", "query_string", "host", "http_host",
	"server_name", "request_method", "msec", "milliseconds", "microseconds", "time_iso8601"}

// valueLength is how long the value is that a text begins with, before end; -1 if that is missing.
// In quotes a backslash quotes a character. What ends a line is the rest of it.
func valueLength(text, before, end string) int {
	if end == "" {
		return len(text)
	}
	quoted := strings.HasSuffix(before, `"`) && strings.HasPrefix(end, `"`)
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], end):
			return i
		}
	}
	return -1
}

// unescape is a value as it was before the log quoted it: \x22 of nginx, \" of Apache, and \u0026
// of JSON.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if n := hexByte(s[i:]); n >= 0 {
			b.WriteByte(byte(n))
			i += 2
		} else if r, n := unicodeEscape(s[i:]); n > 0 {
			b.WriteRune(r)
			i += n - 1
		} else if j := strings.IndexByte(`ntrvbf`, s[i]); j >= 0 {
			b.WriteByte("\n\t\r\v\b\f"[j])
		} else {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// unicodeEscape is the character that uHHHH names, or two of them, with which a text begins, and
// how long that is; 0 if it does not.
func unicodeEscape(s string) (r rune, n int) {
	unit := func(s string) (rune, bool) {
		if len(s) < 5 || s[0] != 'u' {
			return 0, false
		}
		code, err := strconv.ParseUint(s[1:5], 16, 16)
		return rune(code), err == nil
	}
	r, is := unit(s)
	if !is {
		return 0, 0
	}
	if utf16.IsSurrogate(r) && strings.HasPrefix(s[5:], `\`) {
		if low, is := unit(s[6:]); is {
			return utf16.DecodeRune(r, low), len(`u0000\u0000`)
		}
	}
	return r, len("u0000")
}

// hexByte is the byte that xHH names, with which a text begins; -1 if it does not.
func hexByte(s string) int {
	if len(s) < 3 || s[0] != 'x' {
		return -1
	}
	const digits = "0123456789abcdef"
	high := strings.IndexByte(digits, s[1]|0x20)
	low := strings.IndexByte(digits, s[2]|0x20)
	if high < 0 || low < 0 {
		return -1
	}
	return high<<4 | low
}
