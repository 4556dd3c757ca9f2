package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"dyno/internal/lab/experiment"
)

// The file that each command line makes, and that it says the same when it is read and written again.
func TestVsFiles(t *testing.T) {
	golden, err := filepath.Abs("testdata/vs.golden")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for name, text := range map[string]string{"urls.txt": "", "mix.jsonl": "", "rows.csv": "", "login.hurl": "", "x.lua": "", "body.txt": "",
		"chat.hurl": "GET {{base}}/\n\n# dyno: stream openai\nGET {{base}}/\n", "chat.lua": "function request() dyno.stream('ollama') end"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	two := []string{"./old --port {port}", "./new --port {port}"}
	urls := []string{"http://127.0.0.1:8080/x?y=1", ":8081"}
	var all strings.Builder
	for _, args := range [][]string{
		two,
		urls,
		append(urls, "-c", "7", "-R", "1500.5", "--arrival", "poisson", "--allow", "ETag,server", "--margin", "3%",
			"--max-regression", "5%", "--expect", "2xx,404", "--expect-body", "contains:a: b", "--expect-header", "X: 1"),
		append(two, "--rate", "2M", "-t", "3", "--timeout", "500ms", "--http", "2", "--allow", "all", "--names", "a,1"),
		append(two, "--http", "1.1", "--pipeline", "4", "--retry-unsafe", "--rounds", "7", "-d", "1500ms", "--warmup", "0"),
		append(two, "--reconnect", "always", "--follow", "3", "--precision", "1%", "--expect", "any", "--warmup", "3s"),
		append(two, "-X", "PUT", "-H", "B: 1", "-H", "A: x: \"y\"", "-H", "Empty:", "--user", "a:b", "-b", "line 1\nline 2 \\ {{x", "--path", "/é?a={b}"),
		append(two, "-b", "@body.txt", "--max-time", "10m", "--expect-body", "regex:^a", "--expect-body", "json:$.a==1"),
		append(two, "--requests-file", "mix.jsonl", "--data", "rows.csv", "--data-order", "random", "--users", "9",
			"--variable", "b=2", "--variable", "a=null", "--variable", "c=yes"),
		append(two, "--urls", "urls.txt", "-R", "0.5", "--reconnect", "30"),
		append(two, "login.hurl", "--variable", "n=1", "--users", "12"),
		append(two, "--script", "x.lua", "--", "a", "2", "-x"),
		append(urls, "--stream", "sse", "--stream-count", "$.a", "--stream-count", "$.b", "--stream-tokens", "$.n",
			"--stream-end", "[DONE]", "--stream-error", "$.e", "--stream-take", "100", "--stall", "0", "--timeout", "10s", "--max-regression", "5%"),
		append(two, "--stream", "openai", "-R", "8", "--goodput", "first_event<500ms,token_time<60ms"),
		append(two, "--goodput", "latency<20ms"),
		append(two, "chat.hurl", "-R", "8"),
		append(two, "--script", "chat.lua"),
		{"MODE='a b' N=1 ./srv -p {port} --tmp {dir}/x", "cd x && ./srv $HOME --port {port} | tee '{{dir}}'", "NONE= ./srv {port}", "--url",
			"https://127.0.0.1:{port}/v"},
		{"./a", "./b", "--url", "http+unix:///tmp/x.sock:/y"},
	} {
		f, faults := readVs(t.Context(), args)
		if len(faults) > 0 {
			t.Errorf("%q: %v", args, faults)
			continue
		}
		text, err := f.compared.File()
		if err != nil {
			t.Errorf("%q: %v", args, err)
			continue
		}
		fmt.Fprintf(&all, "$ dyno vs %q\n%s\n", args, text)
		readAgain(t, text)
	}
	got := strings.ReplaceAll(all.String(), filepath.ToSlash(dir), "/home")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("%v, got\n%s", err, got)
	}
}

func readAgain(t *testing.T, text []byte) {
	t.Helper()
	e, err := experiment.Read(vsFile, bytes.NewReader(text))
	if err != nil {
		t.Errorf("%v\n%s", err, text)
		return
	}
	again, err := e.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	second, err := experiment.Read(vsFile, bytes.NewReader(again))
	if err != nil {
		t.Errorf("%v\n%s", err, again)
		return
	}
	if e.Source, second.Source = nil, nil; !reflect.DeepEqual(e, second) {
		t.Errorf("%s\nread again it is\n%+v, not\n%+v", again, second, e)
	}
}
