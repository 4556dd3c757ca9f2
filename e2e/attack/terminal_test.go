//go:build linux

package attack

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openPTY is a new terminal: the end that shows what a program writes to it, and the program's.
func openPTY(t *testing.T) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no terminals here: ", err)
	}
	t.Cleanup(func() { screen.Close() })
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return screen, tty
}

// runOnScreen is what a dyno writes to a terminal, and that it exits with one of these codes.
func runOnScreen(t *testing.T, codes []int, args ...string) string {
	t.Helper()
	screen, tty := openPTY(t)
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), "DYNO_HOME="+t.TempDir(), "TERM=xterm", "NO_COLOR=")
	cmd.Stdout, cmd.Stderr = tty, tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer killer.Stop()
	tty.Close()
	shown, err := io.ReadAll(screen)
	if err != nil && !errors.Is(err, unix.EIO) { // which is its end
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	code := cmd.ProcessState.ExitCode()
	for _, want := range codes {
		if code == want {
			return strings.ReplaceAll(string(shown), "\r\n", "\n")
		}
	}
	t.Fatalf("%q: exit code %d, want one of %d\n%s", args, code, codes, shown)
	return ""
}

// What others say in dyno's own colours is shown on a terminal as it is and not painted.
const painted = "\x1b[32mverdict ok\x1b[0m \x1b[1mbold\x1b[31m \x1b[33m"

// checkOwnColours checks that a terminal shows the words of others, and dyno's colours on dyno's.
func checkOwnColours(t *testing.T, where, text string) {
	t.Helper()
	checkShown(t, where, text, "verdict ok")
	checkShown(t, where, text, "\x1b[1m")
	for _, forged := range []string{"\x1b[32mverdict ok", "\x1b[1mbold"} {
		if i := strings.Index(text, forged); i >= 0 {
			t.Errorf("%s: others paint %q", where, text[max(0, i-60):min(len(text), i+40)])
		}
	}
	rest := text
	for _, own := range []string{"0", "1", "31", "32", "33"} {
		rest = strings.ReplaceAll(rest, "\x1b["+own+"m", "")
	}
	checkTerminal(t, where, strings.ReplaceAll(rest, "\r\x1b[K", ""))
}

// A server's reason, its header and what a requests file calls a request do not paint.
func TestWordsInOwnColours(t *testing.T) {
	honest := startAnswering(t, answerText("OK", "x"))
	hostile := startAnswering(t, answerText("OK "+painted, painted))
	for _, mode := range []string{"strict", "warn"} {
		file := filepath.Join(t.TempDir(), "two.yaml")
		if err := os.WriteFile(file, fmt.Appendf(nil, two, mode, honest, hostile), 0o600); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(t.TempDir(), "out")
		checkOwnColours(t, "lab run, "+mode, runOnScreen(t, []int{0, 4}, "lab", "run", "-v", "-o", folder, file))
		checkOwnColours(t, "lab show, "+mode, runOnScreen(t, []int{0}, "lab", "show", "-v", folder))
		file = filepath.Join(folder, "experiment.json") // as somebody sends it
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		word := strings.ReplaceAll(painted, "\x1b", `\u001b`)
		changed := strings.ReplaceAll(string(b), `"metric": "throughput"`, `"metric": "`+word+`\nforged"`)
		if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		again := runOnScreen(t, []int{0}, "lab", "show", "-v", folder)
		checkOwnColours(t, "lab show of another's, "+mode, again)
		if strings.Contains(again, "\nforged") {
			t.Errorf("lab show of another's, %s: a line is forged", mode)
		}
	}
	refused := startAnswering(t, "HTTP/1.1 500 "+painted+"\r\nContent-Length: "+painted+"\r\n\r\n")
	checkOwnColours(t, "run", runOnScreen(t, []int{4}, "run", "-n", "1", "-c", "1", "--no-save", refused))
}
