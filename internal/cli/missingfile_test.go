package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// A file that is missing is named in one way, whatever reads it.
func TestMissingFiles(t *testing.T) {
	inFolder(t, map[string]string{"ok.hurl": "GET {{base}}/\n", "ok.yaml": "version: 1\nname: ok\nlevels: [{connections: 1}]\n" +
		"variants: {one: {url: \"http://127.0.0.1:1/\"}}\n", "targets": "GET http://127.0.0.1:1/\n@gone.x\n"})
	t.Setenv("DYNO_HOME", t.TempDir())
	const url, base = "http://127.0.0.1:1/", "base=http://127.0.0.1:1"
	named := regexp.MustCompile(`(?m)^dyno: (the command: )?(--[a-z-]+: |FILE\.hurl: |targets:2:1: )?gone\.[a-z]+: no such file or directory$`)
	for _, words := range []string{
		"run --urls gone.x " + url, "run --bodies gone.x " + url, "run --requests-file gone.x " + url, "run --body @gone.x " + url,
		"run --json-body gone.x " + url, "run --form a=@gone.x " + url, "run -H @gone.x " + url, "run --data gone.csv " + url,
		"run --variables-file gone.x " + url, "run --stages gone.x " + url, "run --cacert gone.x https://127.0.0.1:1/",
		"run --script gone.lua " + url, "run gone.hurl --variable " + base, "run ok.hurl --data gone.csv --variable " + base,
		"find --slo p99<1s --urls gone.x " + url, "find --slo p99<1s --data gone.csv " + url,
		"scenario check gone.hurl", "scenario run gone.hurl --variable " + base, "scenario check gone.lua",
		"lab run gone.yaml", "lab check gone.yaml", "lab run ok.yaml --secret a=@gone.x",
		"vs gone.hurl " + url + " http://127.0.0.1:2/", "vs --urls gone.x " + url + " http://127.0.0.1:2/",
		"vs --data gone.csv " + url + " http://127.0.0.1:2/",
		"report gone.json", "compare gone.json gone.json", "chart gone.json", "import gone.json",
		"from curl curl --data-binary @gone.x " + url, "from har gone.har", "from access-log gone.log", "from vegeta gone.x", "from vegeta targets",
		"agent --join @gone.x", "fleet ls --nats tls://127.0.0.1:1 --creds gone.x", "serve --experiments gone.x",
		"wrk -s gone.lua " + url, "ab -p gone.x " + url, "hey -D gone.x " + url,
	} {
		var out, errs bytes.Buffer
		code := Main(strings.Fields(words), strings.NewReader(""), &out, &errs)
		if code != exitUsage || !named.MatchString(errs.String()) {
			t.Errorf("%s: code %d\n%s%s", words, code, out.String(), errs.String())
		}
	}
}
