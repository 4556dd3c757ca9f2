package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/lab/experiment"
)

func parse(t *testing.T, text string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Read("test.yaml", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A URL whose path comes from elsewhere, and is not what requests ask for, is refused too.
func TestPathFromElsewhere(t *testing.T) {
	t.Setenv("DYNO_TEST_URL", "http://base.invalid/dat.json")
	text := "version: 1\nname: x\nworkload: {request: {path: /data.json}}\n" +
		"variants: {base: {url: '{{env \"DYNO_TEST_URL\" \"\"}}'}}\n"
	e := parse(t, text)
	for url, wrong := range map[string]bool{"http://base.invalid/dat.json": true,
		"http://base.invalid/data.json": false, "http://base.invalid/": false, "http://base.invalid": false} {
		_, err := Plan(e, new(Inputs), e.Levels[0], e.Workload, url, nil)
		if (err != nil) != wrong || wrong && !strings.Contains(err.Error(), "/dat.json, is not what requests ask for, /data.json") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// A variant that another program loads has nothing to fill and nothing to sign.
func TestGeneratorFillsAndSignsNothing(t *testing.T) {
	const also = "variants: {a: {url: 'http://127.0.0.1:1/', generator: {served: 'http://127.0.0.1:1/n', cmd: [x]}}}\n"
	for workload, wrong := range map[string]bool{
		"{}": false, "{request: {path: '/{{seq}}'}}": true, "{auth: digest, user: 'ada:s'}": true,
		"{auth: 'sigv4:a/s3', user: 'key:one'}": true,
	} {
		err := Check(parse(t, "version: 1\nname: x\nworkload: "+workload+"\n"+also))
		if (err != nil) != wrong || wrong && !strings.Contains(err.Error(), "variants.a.generator: another program fills no holes") {
			t.Errorf("%s: %v", workload, err)
		}
	}
}

// Who sends requests may come from the environment as a whole: that it has no colon is found before the load.
func TestUserOfTheEnvironment(t *testing.T) {
	e := parse(t, "version: 1\nname: x\nworkload: {auth: digest, user: '{{env \"DYNO_TEST_U\"}}'}\nvariants:\n"+
		"  a: {url: 'http://127.0.0.1:1/'}\n  b: {url: 'http://127.0.0.1:1/', request: {path: /b}}\n")
	for user, want := range map[string]string{"ada:s": "", "ada": "test.yaml:3:32: workload.user: what comes from the " +
		"environment has no colon; it is to be USER:PASSWORD"} {
		t.Setenv("DYNO_TEST_U", user)
		if err := Check(e); (err != nil) != (want != "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v", user, err)
		}
	}
}

// The files of a workload may have absolute paths, so that an experiment file can name files that
// are not beside it.
func TestAbsolutePaths(t *testing.T) {
	dir := filepath.ToSlash(t.TempDir())
	for name, text := range map[string]string{"body": "hello", "requests.jsonl": `{"url": "/x"}` + "\n",
		"urls": "/x\n", "a.hurl": "GET {{base}}/x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, workload := range []string{"request: {method: POST, path: /x, body_file: '" + dir + "/body'}",
		"requests_file: '" + dir + "/requests.jsonl'", "urls: '" + dir + "/urls'", "hurl: '" + dir + "/a.hurl'"} {
		e := parse(t, "version: 1\nname: x\nworkload: {"+workload+"}\nvariants: {base: {url: 'http://base.invalid/'}}\n")
		f, err := Read(e, 1<<20)
		if err != nil {
			t.Errorf("%s: %v", workload, err)
			continue
		}
		p, err := Plan(e, f, e.Levels[0], e.Workload, "http://base.invalid/", nil)
		if err != nil || p.Scenario == nil && p.Requests[0].Path != "/x" {
			t.Errorf("%s: %v, %v", workload, p.Requests, err)
		}
	}
}
