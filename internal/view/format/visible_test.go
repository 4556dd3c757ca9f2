package format

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// testPaint is one for tests.
const testPaint Paint = "\x1bpaint-"

func TestVisible(t *testing.T) {
	for _, test := range []struct{ name, text, want, painted string }{
		{"a title", "\x1b]0;owned\a", `\u001b]0;owned\u0007`, ""},
		{"a link", "\x1b]8;;http://x\x1b\\y", `\u001b]8;;http://x\u001b\y`, ""},
		{"the clipboard", "\x1b]52;c;eA==\a", `\u001b]52;c;eA==\u0007`, ""},
		{"a screen that is cleared", "\x1b[2J\x1b[H", `\u001b[2J\u001b[H`, ""},
		{"a line that is overwritten", "bad\rgood\x1b[K\b", `bad\u000dgood\u001b[K\u0008`, ""},
		{"C1 as UTF-8", "\u009b31m\u0085", `\u009b31m\u0085`, ""},
		{"C1 as bytes", "\x9b31m\x84", `\x9b31m\x84`, ""},
		{"half a character", "a\xe2\x82", `a\xe2\x82`, ""},
		{"DEL and NUL", "\x7f\x00", `\u007f\u0000`, ""},
		{"a direction", "a\u202etxt.exe\u2066\u200f", `a\u202etxt.exe\u2066\u200f`, ""},
		{"what cannot be seen", "\ufeff\u200b\u00ad\u2028\u2029", `\ufeff\u200b\u00ad\u2028\u2029`, ""},
		{"tags", "\U000e0041", `\udb40\udc41`, ""},
		{"ends of lines and tabs", "a\tb\nc\n", "a\tb\nc\n", "a\tb\nc\n"},
		{"letters", "µs ≥ 5 – naïve 日本 می\u200cخواهم 👩\u200d🚀", "µs ≥ 5 – naïve 日本 می\u200cخواهم 👩\u200d🚀", ""},
		{"colours of others", "\x1b[1mx\x1b[0m \x1b[31m\x1b[32m\x1b[33m", `\u001b[1mx\u001b[0m ` +
			`\u001b[31m\u001b[32m\u001b[33m`, ""},
		{"our colours", "\x1bpaint-1mx\x1bpaint-0m", `\u001bpaint-1mx\u001bpaint-0m`, "\x1b[1mx\x1b[0m"},
		{"no colour of ours", "\x1bpaint-35mx\x1bpaint-\x1bpain", `\u001bpaint-35mx\u001bpaint-\u001bpain`, ""},
		{"other colours", "\x1b[35m\x1b[1;31m\x1b[m\x1b[8m\x1b[01m",
			`\u001b[35m\u001b[1;31m\u001b[m\u001b[8m\u001b[01m`, ""},
	} {
		if test.painted == "" {
			test.painted = test.want
		}
		if got := string(Visible([]byte(test.text), "")); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if got := string(Visible([]byte(test.text), testPaint)); got != test.painted {
			t.Errorf("%s, where there are colours: %q, want %q", test.name, got, test.painted)
		}
	}
}

// What a Style paints comes out in the terminal's colours, and each Paint is another.
func TestVisiblePaints(t *testing.T) {
	s := Style{Color: NewPaint()}
	if s.Color == NewPaint() {
		t.Errorf("%q can be known", s.Color)
	}
	for _, c := range []Color{Bold, Red, Green, Yellow} {
		want := "\x1b[" + string(c) + "mx\x1b[0m"
		if text := s.Paint(c, "x"); string(Visible([]byte(text), s.Color)) != want {
			t.Errorf("%q does not come through", text)
		}
	}
	if text := (Style{}).Paint(Red, "x"); text != "x" {
		t.Errorf("without a Paint %q", text)
	}
}

// Whatever comes: nothing is left that a terminal obeys, text without such stays as it is, what
// is clean stays clean, and JSON means what it did. That holds for each part of a text, too.
func FuzzVisible(f *testing.F) {
	for _, s := range []string{"plain", "\x1b]0;x\a", "\x1b[31mred\x1b[0m", "\u009b2J", "\x9b2J", "\u202e",
		"\xe2\x80", "{\"a\":\"\u0085\"}", "\x1b\x1b[1m[1m", "\U000e0001", "a\r\nb", "\x1bpaint-31mx"} {
		f.Add([]byte(s), 1, false)
		f.Add([]byte(s), 3, true)
	}
	ours := regexp.MustCompile(`\x1b\[(0|1|31|32|33)m`)
	f.Fuzz(func(t *testing.T, text []byte, at int, painted bool) {
		paint := testPaint
		if !painted {
			paint = ""
		}
		at = min(max(at, 0), len(text))
		given := bytes.Clone(text)
		whole := Visible(text, paint)
		parts := append(bytes.Clone(Visible(text[:at], testPaint)), Visible(text[at:], paint)...)
		if !bytes.Equal(text, given) {
			t.Fatalf("%q was changed into %q", given, text)
		}
		for _, out := range [][]byte{whole, parts} {
			rest := out
			if painted {
				rest = ours.ReplaceAll(out, nil)
			}
			if n := len(out) - len(rest); n > 0 && !bytes.Contains(given, []byte(paint)) {
				t.Errorf("%q becomes %q, in colours of others", text, out)
			}
			if !utf8.Valid(rest) || bytes.ContainsFunc(rest, func(r rune) bool {
				return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
			}) {
				t.Errorf("%q becomes %q", text, out)
			}
			if again := Visible(rest, paint); !bytes.Equal(again, rest) {
				t.Errorf("%q becomes %q, and that %q", text, out, again)
			}
		}
		var before, after any
		if json.Unmarshal(text, &before) == nil && utf8.Valid(text) && !strings.Contains(string(text), "\r") &&
			!bytes.Contains(text, []byte{0x7f}) {
			if err := json.Unmarshal(whole, &after); err != nil {
				t.Errorf("%q is JSON and %q is not: %v", text, whole, err)
			}
		}
	})
}
