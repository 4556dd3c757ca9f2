package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/lab/experiment"
)

// A path in a variant's URL that no line of a file asks for is a fault, which names both places. It is
// none where a line has it, or has no URL of its own, or where it says whether a server is ready.
func TestPathOfNoLine(t *testing.T) {
	t.Setenv("DYNO_TEST_URL", "http://127.0.0.1:1/token")
	const (
		urls    = "workload: {urls: urls.txt}\n"
		lines   = "workload: {requests_file: all.jsonl}\n"
		mixed   = "workload: {requests_file: some.jsonl}\n"
		process = "processes: [{cmd: 'server {{port}}'}], "
	)
	dir := t.TempDir()
	for name, text := range map[string]string{"urls.txt": "/data.json\n/a?b=c\n",
		"all.jsonl":  `{"url": "/data.json"}` + "\n" + `{"method": "POST", "url": "/b"}` + "\n",
		"some.jsonl": `{"url": "/data.json"}` + "\n" + `{"method": "DELETE"}` + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "x.yaml")
	for name, c := range map[string]struct{ workload, variant, want string }{
		"urls": {urls, "{url: 'http://127.0.0.1:1/dat.json'}", ":5:12: variants.a.url: its path, /dat.json, is not what " +
			"requests ask for: workload.urls, at " + file + ":3:18, is urls.txt, of which no line has it; leave it out"},
		"a query":         {urls, "{url: 'http://127.0.0.1:1/?q'}", "its path, /?q, "},
		"a socket":        {urls, "{url: 'http+unix:///run/x.sock:/dat.json'}", "its path, /dat.json, "},
		"lines":           {lines, "{url: 'http://127.0.0.1:1/dat.json'}", "workload.requests_file, at " + file + ":3:27, is all.jsonl"},
		"environment":     {urls, `{url: '{{env "DYNO_TEST_URL"}}'}`, "its path is not what requests ask for"},
		"ready elsewhere": {urls, "{processes: [{cmd: 'server {{port}}', ready: {http: /}}], url: 'http://127.0.0.1:{{port}}/x'}", "its path, /x, "},
		"ready there":     {urls, "{" + process + "url: 'http://127.0.0.1:{{port}}/x'}", ""},
		"fastcgi":         {urls, "{" + process + "url: 'fcgi://127.0.0.1:{{port}}/x'}", "its path, /x, "},
		"a line":          {urls, "{url: 'http://127.0.0.1:1/data.json'}", ""},
		"none":            {urls, "{url: 'http://127.0.0.1:1'}", ""},
		"root":            {urls, "{url: 'http://127.0.0.1:1/'}", ""},
		"a line without":  {mixed, "{url: 'http://127.0.0.1:1/dat.json'}", ""},
		"its own":         {urls, "{url: 'http://127.0.0.1:1/dat.json', request: {method: HEAD}}", ""},
	} {
		text := "version: 1\nname: x\n" + c.workload + "variants:\n  a: " + c.variant + "\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := experiment.ReadFile(file)
		if err == nil {
			err = Check(e)
		}
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "token")):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
