package cli

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// answersGarbage is a server that answers with no HTTP, in which it repeats what it was sent: a header, a
// password and a field of the query, each as a server may write it, and cut off where the
// generator cuts what it quotes.
func answersGarbage(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go repeat(c, n)
		}
	}()
	return l.Addr().String()
}

func repeat(c net.Conn, n int) {
	defer c.Close()
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	_, basic, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	query := r.URL.Query().Get("api_key")
	says := []string{r.Header.Get("X-Tenant"), basic, url.QueryEscape(query),
		strings.Repeat("-", 50) + r.Header.Get("X-Tenant"), strings.Repeat("-", 51) + query}
	fmt.Fprintf(c, "HTTP/1.1 no %s\r\n\r\n", says[n%len(says)])
}

// No secret that a server repeats in what is no answer is in what dyno run prints, stores and
// writes, whole, in part or in another form.
func TestRepeatedSecretsAreConcealed(t *testing.T) {
	t.Parallel()
	addr, dir := answersGarbage(t), t.TempDir()
	const header, password, query = `Zq1 "Header" Secret9x`, "Zq5UrlSecret9x", "Zq4/Query+Secret=9x"
	line := fmt.Sprintf(`-n 10 -c 1 --save --reconnect always -H 'X-Tenant: %s' 'http://me:%s@%s/x?api_key=%s'`,
		header, password, addr, url.QueryEscape(query))
	said := ""
	for _, verb := range []string{"run --json run.json ", "run --show-secrets --json shown.json "} {
		out, _ := shell(t, dir, "dyno "+verb+line).CombinedOutput() // no answer came: 4
		if !strings.Contains(verb, "--show") {
			said = string(out)
		}
	}
	left := func(text string) (all []string) {
		for _, part := range []string{"Zq1", "Zq5", "Zq4", "Secret9x", url.QueryEscape(query),
			base64.StdEncoding.EncodeToString([]byte("me:" + password))} {
			if strings.Contains(text, part) {
				all = append(all, part)
			}
		}
		return all
	}
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	stored, _ := filepath.Glob(filepath.Join(dir, "home", "results", "*.json"))
	if text := read("run.json"); len(left(text)) > 0 || !strings.Contains(text, "not a status line") {
		t.Errorf("%q in %s", left(text), text)
	}
	if all := left(said); len(all) > 0 {
		t.Errorf("%q in %s", all, said)
	}
	if all := left(read("shown.json")); len(all) == 0 {
		t.Errorf("--show-secrets: nothing is repeated in %s, of %q", read("shown.json"), stored)
	}
}

// Where a load went is said, though one of its headers says the same.
func TestDestinationIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := shell(t, dir, "dyno run -n 1 --save --json run.json -H 'X-Forwarded-For: 127.0.0.1' "+
		"-H 'X-Word: could' http://127.0.0.1:1/")
	out, _ := c.CombinedOutput() // nothing could be reached: 4
	stored, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "no connection could be opened (connect 127.0.0.1:1: "
	if !strings.Contains(string(stored), want) || strings.Contains(string(out), "(redacted") ||
		!strings.Contains(string(out), "UNREACHABLE: connect 127.0.0.1:1: ") {
		t.Errorf("%s\n%s", out, stored)
	}
}

// What was begun with secrets shown goes on so, and what was begun without does not show them; which
// of the two it is is said.
func TestResumesAsItWasShown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := strings.Replace(fleetExperiment, "variants:", `workload:
  request: {headers: {X-Auth: literal-secret, X-Env: '{{env "DYNO_TEST_UNSET" "a default"}}'}}
variants:`, 1)
	for name, content := range map[string]string{"e.yaml": text, "auth": "literal-secret",
		"env": "a default"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"run --show-secrets e.yaml -o shown", exitOK, "\n  report "},
		{"run --resume shown", exitUsage, "was begun with --show-secrets"},
		{"run --resume shown --show-secrets", exitOK, "\n  report "},
		{"run e.yaml -o marked", exitOK, "\n  report "},
		{"run --resume marked --show-secrets --secret X-Auth=@auth --secret X-Env=@env", exitUsage,
			"was begun without --show-secrets"},
		{"run --resume marked", exitUsage, "lacks X-Auth, X-Env"},
		{"run --resume marked --secret X-Auth=@auth --secret X-Env=@env", exitOK, "\n  report "},
		{"run --resume marked --secret X-Auth=@auth", exitUsage, "lacks X-Env"},
	} {
		cmd := shell(t, dir, "dyno lab "+c.line)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("%s: %v, without %q\n%s", c.line, err, c.want, out)
		}
	}
	set := shell(t, dir, "dyno lab run --resume marked --secret X-Auth=@auth")
	set.Env = append(set.Env, "DYNO_TEST_UNSET=other")
	if out, err := set.CombinedOutput(); err != nil {
		t.Errorf("the variable is set, and its default is not needed: %v\n%s", err, out)
	}
}

// Where the key of the marks is there and cannot be read, nothing is marked by another, and nothing
// is sent: the user is told once, with what to do. What has no secrets needs no key.
func TestUnreadableKeyIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "home", "redact.key"), 0o700); err != nil { // also root's
		t.Fatal(err)
	}
	asking := func(what string) string {
		return strings.Replace(fleetExperiment, "variants:", "workload: {"+what+"}\nvariants:", 1)
	}
	for name, text := range map[string]string{
		"plain.yaml":  strings.Replace(fleetExperiment, "rounds: 3", "rounds: 1", 1),
		"header.yaml": asking("request: {headers: {X-Auth: secret}}"),
		"file.yaml":   asking("requests_file: some.jsonl"), "some.jsonl": `{"url": "/?token=secret"}`,
		"env.yaml": asking(`request: {path: '/{{env "DYNO_HOME"}}'}`)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, verb := range []string{"run -n 1 -H 'X-Auth: secret' http://127.0.0.1:1/",
		"find --levels c=1 -H 'X-Auth: secret' http://127.0.0.1:1/", "lab run header.yaml -o out",
		"lab run file.yaml -o out", "lab run env.yaml -o out"} {
		c := shell(t, dir, "dyno "+verb)
		out, _ := c.CombinedOutput()
		if c.ProcessState.ExitCode() != exitUsage || strings.Count(string(out), "redact.key readable") != 1 {
			t.Errorf("%s: %v\n%s", verb, c.ProcessState, out)
		}
	}
	for verb, code := range map[string]int{"run -n 1 --no-save http://127.0.0.1:1/": exitUnreachable,
		"run -n 1 --no-save --show-secrets -H 'X-Auth: secret' http://127.0.0.1:1/": exitUnreachable,
		"lab run --quick plain.yaml -o plain":                                       exitOK, "lab run --quick --show-secrets header.yaml -o shown": exitOK} {
		c := shell(t, dir, "dyno "+verb)
		if out, _ := c.CombinedOutput(); c.ProcessState.ExitCode() != code {
			t.Errorf("%s: %v\n%s", verb, c.ProcessState, out)
		}
	}
}
