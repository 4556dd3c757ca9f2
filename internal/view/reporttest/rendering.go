package reporttest

import (
	"bytes"
	"encoding/csv"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"dyno/internal/view/format"
)

// clean checks that nothing in a rendering is a command to a terminal.
func clean(t *testing.T, form, text string) {
	t.Helper()
	i := strings.IndexFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
	})
	if i >= 0 {
		t.Errorf("%s has %q", form, text[max(0, i-40):min(len(text), i+40)])
	}
}

// inert checks that no word of Markdown mentions anybody, or is a link.
func inert(t *testing.T, form, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		picture := regexp.MustCompile(`^!\[[^]]*\]\([^ ]*\)$`) // our own
		rest, closed := TextOfMarkdown(strings.TrimSuffix(line, "\n"))
		if word := format.LiveWord(rest); !closed || word != "" &&
			!picture.MatchString(strings.TrimSpace(line)) {
			t.Errorf("%s: %q is live in %q", form, word, line)
		}
	}
}

// computed checks that no cell of CSV is computed by a spreadsheet.
func computed(t *testing.T, form, text string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Errorf("%s: %v", form, err)
	}
	for _, row := range rows {
		for _, cell := range row {
			_, err := strconv.ParseFloat(cell, 64)
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") && err != nil {
				t.Errorf("%s: %q is a formula", form, cell)
			}
		}
	}
}

// CheckRendering checks what is written in a form.
func CheckRendering(t *testing.T, form string, write func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	if write(&b) != nil {
		return
	}
	clean(t, form, b.String())
	switch form {
	case "Markdown":
		inert(t, form, b.String())
	case "CSV":
		computed(t, form, b.String())
	}
}

// TextOfMarkdown is Markdown without its code, as CommonMark finds that. A piece of code leaves a
// gap, and closed reports whether every one ends.
func TextOfMarkdown(s string) (text string, closed bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == '`':
			run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
			end := closing(s[i+run:], run)
			if end < 0 {
				return "", false
			}
			b.WriteByte('\x00')
			i += run + end - 1
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), true
}

// closing is where in s the code ends that so many marks have begun, behind the marks; -1 if it
// does not.
func closing(s string, run int) int {
	for i := 0; i < len(s); i++ {
		if s[i] != '`' {
			continue
		}
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if n == run {
			return i + n
		}
		i += n - 1
	}
	return -1
}
