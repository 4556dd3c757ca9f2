package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dyno/internal/view/page"
)

// echoing is a server that answers with what it was sent, and so with its secrets.
func echoing(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		io.WriteString(w, r.URL.RawQuery+" "+r.Header.Get("Accept")+" "+string(body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// filesWith are the files below folders that contain a text, packed or not.
func filesWith(t *testing.T, text string, folders ...string) (all []string) {
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			if data, bad := page.Data(b); bad == nil {
				b = append(b, data...)
			}
			if strings.Contains(string(b), text) {
				all = append(all, path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	return all
}

// A value of the environment is a secret wherever it stands: nothing that is stored, saved or
// written has it, although the server repeats it.
func TestEnvironmentIsSecretEverywhere(t *testing.T) {
	const secret = "ZQXENV2secretval"
	t.Setenv("DYNO_TEST_PLAIN", secret)
	url := echoing(t) + `/x?note={{env "DYNO_TEST_PLAIN"}}`
	for name, args := range map[string][]string{
		"form": {"-b", `note={{env "DYNO_TEST_PLAIN"}}`, "-H",
			"Content-Type: application/x-www-form-urlencoded"},
		"json":   {"-b", `{"note":"{{env "DYNO_TEST_PLAIN"}}"}`},
		"header": {"-H", `Accept: text/{{env "DYNO_TEST_PLAIN"}}`},
		"field":  {"--form", `note={{env "DYNO_TEST_PLAIN"}}`},
	} {
		home, saved := t.TempDir(), filepath.Join(t.TempDir(), "errors")
		t.Setenv("DYNO_HOME", home)
		line := append([]string{"run", "-n", "2", "-c", "1", "--expect-body", "contains:never",
			"--save-errors", saved}, append(args, url)...)
		var said strings.Builder
		code := Main(line, strings.NewReader(""), &said, &said)
		if strings.Contains(said.String(), secret) {
			t.Errorf("%s: exit %d, it is written\n%s", name, code, said.String())
		}
		if found := filesWith(t, secret, home, saved); len(found) > 0 {
			t.Errorf("%s: it is stored in %q", name, found)
		}
		if found := filesWith(t, "(redacted-", home, saved); len(found) < 2 {
			t.Errorf("%s: marks are only in %q\n%s", name, found, said.String())
		}
	}
}

// A search keeps no value of the environment either, in what its probes say of errors.
func TestEnvironmentIsSecretInSearches(t *testing.T) {
	const secret = "ZQXENV3secretval"
	t.Setenv("DYNO_TEST_PLAIN", secret)
	home := t.TempDir()
	t.Setenv("DYNO_HOME", home)
	var said strings.Builder
	Main([]string{"find", "--slo", "p99<10s", "--slo", "errors<1%", "-R", "800", "--probe-time", "0.3s", "-c", "1", "--json",
		filepath.Join(home, "found.json"), "--expect-body", `json:$.note==never`, "-b", `{"note":"{{env "DYNO_TEST_PLAIN"}}"}`,
		echoing(t)}, strings.NewReader(""), &said, &said)
	if strings.Contains(said.String(), secret) {
		t.Errorf("it is written\n%s", said.String())
	}
	if found := filesWith(t, secret, home); len(found) > 0 {
		t.Errorf("it is stored in %q\n%s", found, said.String())
	}
	if len(filesWith(t, "", home)) == 0 {
		t.Errorf("nothing is stored\n%s", said.String())
	}
	f, faults := readFind([]string{"--slo", "p99<1s", "-b", `{{env "DYNO_TEST_PLAIN"}}`, "http://127.0.0.1:1"}, strings.NewReader(""))
	if len(faults) > 0 || !slices.Equal(f.plan.Environment, []string{secret}) {
		t.Errorf("%q is secret: %v", f.plan.Environment, faults)
	}
}
