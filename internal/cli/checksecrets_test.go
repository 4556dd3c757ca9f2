package cli

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a check wants is stored without the secrets of its request.
func TestChecksHaveNoSecrets(t *testing.T) {
	const secret = "ZQX.V4r+secretval"
	t.Setenv("DYNO_TEST_PLAIN", secret)
	url := echoing(t) + "/"
	given := []string{"run", "-n", "20", "-c", "1", "--json", "-", "--save-errors"}
	for _, source := range [][]string{
		{"--variable", "t=" + secret, "-H", "Cookie: a={{t}}"},
		{"-H", "X-Tenant: " + secret},
		{"-H", `Accept: text/{{env "DYNO_TEST_PLAIN"}}`},
	} {
		for _, check := range [][]string{
			{"--expect-body", "contains:x" + secret + "x"},
			{"--expect-body", "regex:^" + secret},
			{"--expect-body", "regex:^" + regexp.QuoteMeta(secret)},
			{"--expect-body", `json:$.a=="` + secret + `"`},
			{"--expect-header", "X-Foo: " + secret},
		} {
			home, saved := t.TempDir(), filepath.Join(t.TempDir(), "errors")
			t.Setenv("DYNO_HOME", home)
			var said strings.Builder
			line := slices.Concat(given, []string{saved}, source, check, []string{url})
			code := Main(line, strings.NewReader(""), &said, &said)
			for _, form := range []string{secret, regexp.QuoteMeta(secret), strings.ReplaceAll(
				regexp.QuoteMeta(secret), `\`, `\\`)} {
				if strings.Contains(said.String(), form) {
					t.Errorf("%q %q: exit %d, it is written\n%s", source, check, code, said.String())
				}
				if found := filesWith(t, form, home, saved); len(found) > 0 {
					t.Errorf("%q %q: it is stored in %q", source, check, found)
				}
			}
			if !strings.Contains(said.String(), `"checks"`) {
				t.Errorf("%q: no checks: %s", check, said.String())
			}
		}
	}
}

// Nor are they in what programs read of a run while it lasts.
func TestLiveOutputsHaveNoSecretsOfChecks(t *testing.T) {
	const secret = "ZQX.V4r+secretval"
	t.Setenv("DYNO_HOME", t.TempDir())
	var said strings.Builder
	code := Main([]string{"run", "-q", "-n", "20", "-c", "1", "--no-save", "--json-stream", "-H", "X-Tenant: " + secret,
		"--expect-body", "contains:x" + secret + "x", echoing(t) + "/?token=" + secret}, strings.NewReader(""), &said, &said)
	line, _, _ := strings.Cut(said.String(), "\n")
	if code != exitOK || !strings.Contains(line, `"checks":[{"name":"contains:`) || strings.Contains(said.String(), secret) {
		t.Errorf("exit code %d\n%s", code, said.String())
	}
}
