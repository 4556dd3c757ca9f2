package manpage

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// What texts contain is printed as it is, and no text is a command of roff.
func TestTextsAreNoCommands(t *testing.T) {
	p := Page{Name: "dyno-x", Synopsis: "dyno x [-a] 'B'", Does: "do it - well", Before: ".SH EVIL\n'so /etc/passwd\n\\fBbold",
		Groups: []Group{{"Flags \"q\"", []Flag{{"-a, --all", "N", ".all of\nthem"}}}}, After: "~ ^ `code`",
		Examples: []string{`dyno x -a '{"b": 1}' \n`}, See: []string{"dyno"}}
	var b strings.Builder
	if err := p.Write(&b, "1.2", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(line, ".") && !strings.Contains(".TH .SH .B .BR .TP .nf .fi", word) || strings.HasPrefix(line, "'") {
			t.Errorf("a command: %s", line)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Log("groff is not installed, so the page was not rendered: ", err)
		return
	}
	c := exec.Command(groff, "-man", "-Tascii", "-P-cbou", "-ww")
	c.Stdin = strings.NewReader(b.String())
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".SH EVIL\n", "'so /etc/passwd", `\fBbold`, "-a, --all N", ".all of them", "~ ^ `code`",
		`dyno x -a '{"b": 1}' \n`, "dyno(1)", "warning"} {
		if strings.Contains(string(out), want) == (want == "warning") {
			t.Errorf("the page and %q:\n%s", want, out)
		}
	}
}
