package curl

import (
	"slices"
	"strings"
	"testing"

	"dyno/internal/imports"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		`curl a 'b c' "d $e" `:              nil,
		"curl \\\n a\\ b 'c'\"d\"e\\\nf":    {"curl", "a b", "cdef"},
		`curl $'a\tb\'\x41\u00e9\101\q' ''`: {"curl", "a\tb'A" + "é" + `A\q`, ""},
		`curl "a\"b\\c\d\$\` + "`" + `"`:    {"curl", `a"b\c\d$` + "`"},
	} {
		got, err := Words("f", text)
		if want == nil && err == nil || want != nil && (err != nil || !slices.Equal(got, want)) {
			t.Errorf("%s is %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestWordsRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "f: has no command",
		"  \n":                         "f: has no command",
		"# only a comment":             "f: has no command",
		"curl 'a":                      "f:1:6: reached EOF without closing quote `'`",
		"curl a; curl b":               "f:1:9: begins another command; give one at a time",
		"curl a &":                     "f:1:1: is more than a command; leave out what curl itself does not see",
		"curl a | jq":                  "f:1:1: is more than a command; leave out what curl itself does not see",
		"curl a < b":                   "f:1:8: redirects input; leave that out, and name the file, as in -d @FILE",
		"curl a <<< b > c":             "f:1:8: redirects input; leave that out, and name the file, as in -d @FILE",
		"A=1 curl a":                   "f:1:1: sets a variable; leave that out",
		"curl a \\\n  $(date)":         "f:2:3: the shell replaces this; write what curl gets",
		"curl \"${A}\"":                "f:1:7: the shell replaces this; write what curl gets",
		"curl \x00":                    "f:1:6: has a byte that no command has",
		"curl \xff\xfe":                "f:1:6: has a byte that no command has",
		"curl ^\"a":                    "f:1:9: ends within quotes",
		strings.Repeat("curl ", 3<<20): "f: is longer than 1024 KiB, as no command is",
	} {
		if _, err := Words("f", text); err == nil || err.Error() != want {
			t.Errorf("%.40q\n  is %v\nwant %s", text, err, want)
		}
	}
}

// Whatever a command is, it is refused or gives requests that a file can have.
func FuzzCommand(f *testing.F) {
	for _, s := range []string{`curl -X POST http://h/ -d 'a=1' -H "K: V"`, `curl ^"http://h/^" ^` + "\r\n -d x",
		`curl $'http://h/\x41' -F a=b;type=c -G -u a:b`, "curl --json '{}' http://h/{a} -g"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, "@<") || strings.Contains(text, "-T") || strings.Contains(text, "upload") {
			return // names a file
		}
		words, err := Words("f", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("%q has no place", err)
			}
			return
		}
		command, err := Parse(words)
		if err != nil {
			return
		}
		c := imports.Collector{}
		for _, r := range command.Requests {
			if c.Add(r) != nil {
				return
			}
		}
		var b strings.Builder
		if err := c.Write(&b); err != nil {
			t.Error(err)
		}
	})
}
