package redact

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A secret is found in the texts of others however it is written there, and nothing of it is left.
func TestKnown(t *testing.T) {
	const secret = "pä ss\"w/rd+%\nZq9<secret>"
	k := NewKnown(PlainMark, []string{"(redacted-00000000)", "", "abc", "Bearer " + secret})
	user := base64.StdEncoding.EncodeToString([]byte("somebody:" + secret))
	for _, s := range append(spellings(secret), fmt.Sprintf("%q", fmt.Sprintf("x %s y", secret)), user,
		base64.RawURLEncoding.EncodeToString([]byte("u:"+secret+" and more")),
		base64.StdEncoding.EncodeToString([]byte("us:"+secret))) {
		got := k.Text("he said " + s + " there, abc")
		if strings.Contains(got, "Zq9") || !strings.Contains(got, "he said ") ||
			!strings.HasSuffix(got, " there, abc") && !strings.HasPrefix(s, `"`) {
			t.Errorf("%s: %s", s, got)
		}
		if strings.Contains(got, s[len(s)/2:]) {
			t.Errorf("%s: half is left in %s", s, got)
		}
	}
	for _, harmless := range []string{"(redacted-00000000) and (redacted)", "abcd", "somebody"} {
		if got := k.Text(harmless); got != harmless {
			t.Errorf("%q became %q", harmless, got)
		}
	}
	var none *Known
	if none.Text(secret) != secret || none.Cut(secret) != secret || NewKnown(nil, []string{secret}) != nil {
		t.Error("nothing is known and something is replaced")
	}
}

// What has been taken out of a header is known without the name of its scheme and its cookie, and
// the password without the user and without its encoding.
func TestPartsOfValuesAreKnown(t *testing.T) {
	basic := base64.StdEncoding.EncodeToString([]byte("me:hunter2!"))
	k := NewKnown(PlainMark, []string{"Basic " + basic, "theme=dark; sid=Zq7CookieSecret", "p%40ss%20word"})
	for _, s := range []string{basic, "me:hunter2!", "hunter2!", "Zq7CookieSecret", "p@ss word",
		"p%40ss+word"} {
		if got := k.Text("(" + s + ")"); strings.Contains(got, s) {
			t.Error(got)
		}
	}
	if got := k.Text("dark matter"); got != "dark matter" {
		t.Error(got)
	}
}

// Of a text that was cut within a secret, its part is taken out too.
func TestPartsThatWereCut(t *testing.T) {
	const secret = `Zq1"First9Value`
	k := NewKnown(PlainMark, []string{secret})
	for _, s := range []string{"it said " + secret[:9], fmt.Sprintf("bad line %q; see below", secret[:10]),
		fmt.Sprintf("%q…", "x "+secret[:12]), secret[6:] + " it said", "output:\n" + secret[5:] + "\nmore"} {
		got := k.Cut(s)
		if strings.Contains(got, "First9") || strings.Contains(got, "irst9") || !strings.Contains(got, Plain) {
			t.Errorf("%s: %s", s, got)
		}
	}
	for _, s := range []string{"Zq1", "First thing", "nine Zq", "alue is given"} {
		if got := k.Cut(s); got != s && s != "alue is given" {
			t.Errorf("%q became %q", s, got)
		}
	}
}

// A few bytes of a secret are in many words by chance, and then are not taken for one that was cut.
func TestPartsOfWordsAreKept(t *testing.T) {
	k := NewKnown(PlainMark, []string{"test-account-7-ends"})
	for in, want := range map[string]string{
		`not found: "latest"`: `not found: "latest"`, "the latest": "the latest", "endsome": "endsome",
		"ends\nfriends": "(redacted)\nfriends", "a test": "a (redacted)", `x="test-a"`: `x="(redacted)"`,
		"is test-acc": "is (redacted)", "istest-acc": "is(redacted)", "istest-ac": "istest-ac",
		"ount-7-ends1": "(redacted)1", "7-ends1": "7-ends1", "7-ends 1": "(redacted) 1",
		`"\ntest-a"`: `"\n(redacted)"`,
	} {
		if got := k.Cut(in); got != want {
			t.Errorf("%q became %q, and not %q", in, got, want)
		}
	}
}

// What is public anyway is not searched for, nor is what of a value is.
func TestPublicIsKept(t *testing.T) {
	k := NewKnown(PlainMark, []string{"127.0.0.1", "host=localhost; sid=Zq7CookieSecret", "8080"},
		"http://127.0.0.1:8080", "localhost")
	const text = "connect 127.0.0.1:8080: localhost refused"
	if got := k.Cut(text + " Zq7CookieSecret"); got != text+" (redacted)" {
		t.Error(got)
	}
}

// A short value is found as a whole word, and a shorter one not at all.
func TestShortValuesAreWords(t *testing.T) {
	k := NewKnown(PlainMark, []string{"4711", "ab!cd", "abc", "true", "NULL", "Disabled"})
	for in, want := range map[string]string{"pin=4711.": "pin=(redacted).", "147110": "147110",
		"4711_": "4711_", "ab!cd": "(redacted)", "xab!cd": "xab!cd", "abc": "abc", "true": "true", "so NULL": "so NULL", "Disabled": "Disabled",
		"4711, 4711": "(redacted), (redacted)", "ä4711": "ä4711"} {
		if got := k.Text(in); got != want {
			t.Errorf("%q became %q, and not %q", in, got, want)
		}
	}
}

// Of a load's values the first 4,096 are searched for, and of each the first 4 KiB.
func TestSoManyValuesAreKnown(t *testing.T) {
	values := make([]string, 4097)
	for i := range values {
		values[i] = fmt.Sprintf("Zq%dSecret", i)
	}
	values[0] = strings.Repeat("LongSecret", 500)
	k := NewKnown(PlainMark, values)
	for in, want := range map[string]string{values[4095]: Plain, values[4096]: values[4096],
		values[0]: Plain + values[0][4<<10:], values[0][:4<<10]: Plain} {
		if got := k.Text("it said " + in); got != "it said "+want {
			t.Errorf("%.40q became %.40q, of %d bytes, and not %.40q", in, got, len(got), want)
		}
	}
}

func FuzzKnown(f *testing.F) {
	f.Add("secret-value", "it is secret-value\n\"secret-", "Basic bWU6aHVudGVyMg==")
	f.Fuzz(func(t *testing.T, one, text, other string) {
		if slices.Contains(switches, strings.ToLower(one)) {
			return
		}
		k := NewKnown(PlainMark, []string{one, other})
		kept := k.Cut(text)
		if len(one) >= shortestHidden && len(one) < longestKnown && strings.Contains(kept, one) &&
			!strings.Contains(Plain, one) && !strings.Contains(one, "redacted") &&
			!HasMark(text) && !strings.Contains(one, ")") && !strings.Contains(one, "(") {
			t.Errorf("%q is left in %q", one, kept)
		}
	})
}
