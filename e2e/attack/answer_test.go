//go:build linux

package attack

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An evilAnswer is a body that costs whoever looks at it much more than whoever sends it.
type evilAnswer struct {
	kind, body string
	asserts    string
	check      string // that fails, since the body exceeds a limit; "": it is the worst within them
}

func evilAnswers() []evilAnswer {
	x := strings.Repeat
	unlike := ""
	for i := range 20 {
		unlike += fmt.Sprintf("<b c=%d>", i)
	}
	const judged, within = "response within 256 levels", "body within 1048576 bytes"
	return []evilAnswer{
		{"text/xml", x("<a>", 4_000_000) + x("</a>", 4_000_000), `xpath "string(/a)" == "x"`, within},
		{"text/xml", "<r>" + x("<a/>", 8_000_000) + "</r>", `xpath "count(//a)" == 1`, within},
		{"application/json", "[" + x("0,", 15_000_000) + "0]", `jsonpath "$[?@ > 1]" count == 1`, within},
		{"text/xml", x("<a>", 140_000) + x("</a>", 140_000), `xpath "string(/a)" == "x"`, judged},
		{"text/xml", "<r>" + x("<a/>", 250_000) + "</r>", `xpath "count(//a)" == 1`, judged},
		{"text/xml", "<r>" + x("<!---->", 140_000) + "</r>", `xpath "count(//a)" == 1`, judged},
		{"text/xml", "<r" + x(" a=''", 200_000) + "/>", `xpath "count(//@a)" == 1`, judged},
		{"text/html", x("<div>", 200_000), `xpath "string(/html)" == "x"`, judged},
		{"text/html", x("<p>", 340_000), `xpath "count(//p)" == 1`, judged},
		{"text/html", unlike + x("<p>x", 200_000), `xpath "count(//b)" == 1`, judged},
		{"application/json", x("[", 9_000) + x("]", 9_000), `jsonpath "$..a" count == 1`, judged},
		{"application/json", "[" + x("0,", 500_000) + "0]", `jsonpath "$[?@ > 1]" count == 1`, judged},
		{"application/json", "[" + x("0,", 500_000) + "0]", `jsonpath "$" includes 1`, judged},
		{"application/json", `[{"b":"x"}]`, `jsonpath "$[?match(@.a,'x')]" count == 1`, ""},
		{"application/json", `{"t":"` + x("a", 500_000) + `","a":["b"` + x(`,"b"`, 10_000) + "]}",
			`jsonpath "$.a[?search($.t,@)]" count == 1`, judged},
		{"text/plain", x("a,", 500_000), `body split "," count == 1`, judged},
		{"text/plain", x("a", 1_000_000), "regex \"([ab]{500}){2}c\" == \"x\"", judged},
		{"text/xml", "<r>" + x("<a/>", 49_990) + "</r>", `xpath "count(//a[. = 2] | //a)" == 1`, ""},
		{"text/xml", "<r>" + x("<a>1</a>", 30_000) + "</r>", `xpath "count(//a[count(preceding-sibling::a) > 2])" == 1`, judged},
		{"text/html", x("<p>", 49_000), `xpath "count(//p)" == 1`, ""},
		{"application/json", "[" + x("0,", 49_990) + "0]", `jsonpath "$[?@ >= 0]" count == 1`, ""},
		{"text/plain", x("a", 200_000), "regex \"[ab]{25}c\" == \"x\"", ""},
		{"text/plain", x("a", 1_000_000), `body replace "a" "` + x("x", 3) + `" count == 1`, ""},
	}
}

// A load that looks at what a hostile server answers needs little more memory than one that does not,
// and goes on to its end. What exceeds a limit fails a check that names it.
func TestHostileAnswers(t *testing.T) {
	const allowed = 256 << 10 // KiB
	plain, said := judgeAnswers(t, evilAnswer{kind: "application/json", body: "[" + strings.Repeat("0,", 15_000_000) + "0]"})
	t.Logf("without asserts: %d MiB\n%s", plain>>10, said)
	for _, a := range evilAnswers() {
		began := time.Now()
		peak, said := judgeAnswers(t, a)
		t.Logf("%-40.40s %.40s: %4d MiB more, %.1f s", a.asserts, a.body, (peak-plain)/1024, time.Since(began).Seconds())
		if peak > plain+allowed {
			t.Errorf("%s of %.40s…: %d MiB, %d more than without", a.asserts, a.body, peak>>10, (peak-plain)>>10)
		}
		if a.check != "" && !strings.Contains(said, a.check) {
			t.Errorf("%s of %.40s…: no check %s:\n%s", a.asserts, a.body, a.check, said)
		}
	}
}

// judgeAnswers runs a load whose every answer is that, and returns the most memory that it had, in
// KiB, and what it said.
func judgeAnswers(t *testing.T, a evilAnswer) (peak int64, said string) {
	t.Helper()
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	_, _ = z.Write([]byte(a.body))
	_ = z.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", a.kind)
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	}))
	defer s.Close()
	text := "GET {{base}}/\nHTTP 200\n"
	if a.asserts != "" {
		text += "[Asserts]\n" + a.asserts + "\n"
	}
	file := filepath.Join(t.TempDir(), "s.hurl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "run", "-c", "50", "-t", "2", "-n", "50", "-d", "500ms", "--variable", "base="+s.URL, file)
	cmd.Env = append(os.Environ(), "DYNO_HOME="+t.TempDir())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { // the peak that the kernel reports afterwards is that of this process, if it is higher
		defer close(ended)
		status := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)
		for b, err := os.ReadFile(status); err == nil; b, err = os.ReadFile(status) {
			_, high, has := strings.Cut(string(b), "VmHWM:")
			if !has { // it has ended
				return
			}
			_, _ = fmt.Sscan(high, &peak)
			time.Sleep(10 * time.Millisecond)
		}
	}()
	<-ended
	err := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code < 0 || code > 1 || ctx.Err() != nil {
		t.Errorf("%s of %.40s…: %v\n%.2000s", a.asserts, a.body, err, out.String())
	}
	return peak, out.String()
}
