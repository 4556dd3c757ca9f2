package scenario

import (
	"strings"
	"testing"
)

// A pattern that a server has written is compiled only if that costs little.
func TestCompilePattern(t *testing.T) {
	for text, fits := range map[string]bool{
		"a|b": true, "(a{100}){10}": true, strings.Repeat("é", 1000): true, "": true, "[": false,
		"(?:(?:" + strings.Repeat("a", 50) + "){2}){500}": false, "(((a?){50}){2}){3,}": true,
		"(?:" + strings.Repeat("a", 500) + "){30}": false, strings.Repeat("a", MaxPattern+1): false,
		"((" + strings.Repeat("[a-z]", 300) + "){10}){10}": false, strings.Repeat("(a{500})", 30): false,
	} {
		re, n, err := CompilePattern(text)
		if (err == nil) != fits || (re == nil) == fits || n > 2*maxInstructions {
			t.Errorf("%.40s: %d instructions, %v", text, n, err)
		}
	}
}

// No pattern has more instructions than the limit says, twice at most.
func FuzzCompilePattern(f *testing.F) {
	for _, s := range []string{"a{3,}b*?", "(?i)[k-s]{7}", "(a|b|){5,9}$", "(?:x{10}y?){20}\\b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, n, err := CompilePattern(text); err == nil && n > 2*maxInstructions {
			t.Errorf("%q has %d instructions", text, n)
		}
	})
}
