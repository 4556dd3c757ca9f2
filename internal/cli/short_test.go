package cli

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// A short run says nothing of the generator: that is said, alone, and is no fault. An objective
// that it misses is missed all the same.
func TestTooShortToJudge(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	words := func(s string) *regexp.Regexp {
		return regexp.MustCompile(strings.ReplaceAll(s, " ", `\s+`))
	}
	const lacks = `too short to judge: N answers in [^;]*; a verdict takes (at least 100 answers and )?a ` +
		`window of at least 1 s`
	for _, c := range []struct {
		flags, n string
		code     int
		says     string
	}{
		{"", "2", exitOK, `generator ` + lacks + `; measure for longer \(-d\), or raise -n; busy`},
		{"-q", "99", exitOK, `, 0 errors, generator not judged - ` + lacks},
		{"-q", "100", exitOK, `, 0 errors, generator not judged - ` + lacks},
		{"--slo p50<1ns", "99", exitMissed, lacks},
	} {
		line := "dyno run --no-save --strict -c 1 -n " + c.n
		args := append(append(strings.Fields(line)[1:], strings.Fields(c.flags)...), server.URL)
		out, code := "", 0
		for try := range 20 {
			var shown strings.Builder
			code = Main(args, strings.NewReader(""), &shown, &shown)
			if out = shown.String(); strings.Contains(out, "too short to judge") &&
				!strings.Contains(out, "stood still") {
				break
			}
			t.Logf("try %d: a busy machine took over 1 s, or stopped it for 0.1 s: %s", try, out)
		}
		want := words(strings.ReplaceAll(c.says, "N", c.n))
		if code != c.code || !want.MatchString(out) || // a window without a pause has 100 %
			regexp.MustCompile(`SUSPECT|CLIENT-BOUND|no CPU|busy 10[1-9]|busy 1[1-9]\d`).MatchString(out) {
			t.Errorf("%v: code %d, want %d and %s:\n%s", args, code, c.code, want, out)
		}
	}
}
