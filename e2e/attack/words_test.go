//go:build linux

package attack

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/csv"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"dyno/internal/view/page"
)

// What others say, each with what it would have a reader's program do.
const (
	title    = "\x1b]0;owned\a"            // a terminal: take another title
	wipe     = "\x1b[2J\u009b2J"           // and be empty
	turn     = "\u202e"                    // a layout: go backwards
	formula  = "=cmd()"                    // a spreadsheet: compute
	mention  = "@everyone"                 // a site with Markdown: tell everybody
	link     = "http://evil.example/x"     // and lead there
	issue    = "#1"                        // and write there
	bug      = "~bug"                      // and label it
	other    = "!2 $3 &4 %v5"              // and refer to what else there is
	script   = "</script><script>evil()//" // a browser: run this
	everyone = formula + " " + mention + " " + link + " " + issue + " " + bug + " " + other + " " + script
)

// checkTerminal checks that text has nothing that a terminal obeys.
func checkTerminal(t *testing.T, where, text string) {
	t.Helper()
	i := strings.IndexFunc(text, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0xfffd)
	})
	if i >= 0 {
		t.Errorf("%s obeys: %q", where, text[max(0, i-60):min(len(text), i+40)])
	}
}

// checkShown checks that a word of others is there at all: what is not shown attacks nobody.
func checkShown(t *testing.T, where, text, word string) {
	t.Helper()
	if !strings.Contains(text, word) {
		t.Errorf("nothing was shown: %s does not have %q:\n%.2000s", where, word, text)
	}
}

// pieces is Markdown's code in a line; what is left is text.
var pieces = regexp.MustCompile("(?:\\\\`)|`[^`]*`")

// checkMarkdown checks that nothing is live in what is text there.
func checkMarkdown(t *testing.T, where, text string) {
	t.Helper()
	checkTerminal(t, where, text)
	rest := pieces.ReplaceAllString(text, "")
	for _, word := range []string{mention, "http://", "www.", issue, bug, "!2", "$3", "&4", "&amp;4", "%v5", "<script", "</script"} {
		if i := strings.Index(rest, word); i >= 0 {
			t.Errorf("%s: %s is live: %q", where, word, rest[max(0, i-60):min(len(rest), i+40)])
		}
	}
}

// checkSpreadsheet checks that no cell is computed.
func checkSpreadsheet(t *testing.T, where, text string) {
	t.Helper()
	checkTerminal(t, where, text)
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Errorf("%s: %d rows, %v", where, len(rows), err)
	}
	for _, row := range rows {
		for _, cell := range row {
			_, err := strconv.ParseFloat(cell, 64)
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") && err != nil {
				t.Errorf("%s computes %q", where, cell)
			}
		}
	}
}

// checkBrowser checks that a page's elements are its own: its packed data, its packed script and what
// unpacks them are its only scripts.
func checkBrowser(t *testing.T, where, text string) {
	t.Helper()
	scripts := regexp.MustCompile(`(?i)<script`).FindAllStringIndex(beforeProgram(text), -1)
	if len(scripts) != 3 || strings.Contains(beforeProgram(text), "<script>evil") {
		t.Errorf("%s: %d scripts begin", where, len(scripts))
	}
}

// beforeProgram is a page up to its own program, which is dyno's.
func beforeProgram(page string) string {
	i := strings.LastIndex(page, "<script>")
	if i < 0 {
		return page
	}
	return page[:i+len("<script>")]
}

// readChecked checks what dyno wrote into a file, by its form.
func readChecked(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text, where := string(b), filepath.Base(name)
	switch filepath.Ext(name) {
	case ".md":
		checkMarkdown(t, where, text)
	case ".csv":
		checkSpreadsheet(t, where, text)
	case ".html":
		checkBrowser(t, where, text)
		data, err := page.Data(b)
		if err != nil {
			t.Errorf("%s: %v", where, err)
		}
		text += string(data)
	default:
		checkTerminal(t, where, text)
	}
	return text
}

// startCertifiedServer is a TLS server whose certificate has these names, and a file of who signed it.
func startCertifiedServer(t *testing.T, names ...string) (url, ca string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), DNSNames: names, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	ca = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der},
		PrivateKey: key}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go http.Serve(l, http.NotFoundHandler())
	return "https://" + l.Addr().String() + "/", ca
}

// The names in a certificate are shown where it is refused, and not obeyed.
func TestCertificateWithEscapes(t *testing.T) {
	url, ca := startCertifiedServer(t, title+wipe[:4]+"x", mention, "www.evil.example")
	files := t.TempDir()
	result := filepath.Join(files, "r.json")
	ran := runDyno(t, nil, "run", "-n", "3", "-c", "1", "--cacert", ca, "--json", result, "--no-save", url)
	checkShown(t, "stdout and stderr", ran.out+ran.err, "0;owned")
	checkTerminal(t, "stdout of run", ran.out)
	checkTerminal(t, "stderr of run", ran.err)
	for _, form := range []string{"md", "txt", "html", "csv", "junit.xml"} {
		file := filepath.Join(files, "r."+form)
		again := runDyno(t, nil, "report", result, "-o", file)
		checkTerminal(t, "stderr of report", again.err)
		if text := readChecked(t, file); form != "csv" {
			checkShown(t, file, text, "0;owned")
		}
	}
}

// startAnswering is a server that answers every request with that head and body.
func startAnswering(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				from := bufio.NewReader(c)
				for {
					if _, err := http.ReadRequest(from); err != nil {
						return
					}
					if _, err := io.WriteString(c, answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

// answerText is a whole answer.
func answerText(reason, server string) string {
	return "HTTP/1.1 200 " + reason + "\r\nServer: " + server + "\r\nX-Said: " + server +
		"\r\nContent-Length: 2\r\n\r\nok"
}

// two is an experiment of a server that says what others do and one that does not. Those who
// answer otherwise are loaded all the same, or not.
const two = `version: 1
name: two
design: {rounds: 6, aa: false, cooldown: 0s, measure: 50ms, warmup: {min: 0s, max: 0s}}
fairness: {mode: %s}
levels: [{name: c1, connections: 1, threads: 1}]
variants:
  honest: {url: '%s'}
  hostile: {url: '%s'}
`

// runComparison runs an experiment of two servers, and returns its folder.
func runComparison(t *testing.T, mode, honest, hostile string) (folder string, ran said) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "two.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, two, mode, honest, hostile), 0o600); err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(t.TempDir(), "out")
	return folder, runDyno(t, nil, "lab", "run", "-v", "-o", folder, file)
}

// checkForms shows the experiment in a folder in every form, and checks each.
func checkForms(t *testing.T, folder, word string) {
	t.Helper()
	files := t.TempDir()
	for _, form := range []string{"-", "md", "txt", "html", "csv", "junit.xml", "bench.txt"} {
		file := filepath.Join(files, "x."+form)
		if form == "-" {
			file = form
		}
		again := runDyno(t, nil, "lab", "show", "-v", "-o", file, folder)
		checkTerminal(t, "stdout of lab show", again.out)
		checkTerminal(t, "stderr of lab show", again.err)
		if again.code != 0 {
			t.Errorf("lab show -o %s: exit code %d\n%s", file, again.code, again.err)
			continue
		}
		if form == "-" {
			checkShown(t, "lab show", again.out, word)
			continue
		}
		readChecked(t, file)
	}
}

// A server's reason, its header and its terminal codes are told by the check before the load,
// and go into the reports.
func TestServerSaysWords(t *testing.T) {
	honest := startAnswering(t, answerText("OK", "x"))
	hostile := startAnswering(t, answerText("OK "+title+wipe+turn, everyone+title+turn))
	for _, mode := range []string{"strict", "warn"} {
		folder, ran := runComparison(t, mode, honest, hostile)
		checkShown(t, "lab run", ran.out+ran.err, "0;owned")
		checkTerminal(t, "stdout of lab run, "+mode, ran.out)
		checkTerminal(t, "stderr of lab run, "+mode, ran.err)
		readChecked(t, filepath.Join(folder, "report.md"))
		whole := filepath.Join(folder, "whole.md")
		runDyno(t, nil, "lab", "show", "-v", "-o", whole, folder)
		checkShown(t, "lab show -v -o whole.md", readChecked(t, whole), mention)
		checkShown(t, "report.html", readChecked(t, filepath.Join(folder, "report.html")), mention)
		checkForms(t, folder, mention)
	}
}

// A server that breaks the protocol is quoted.
func TestServerBreaksProtocol(t *testing.T) {
	for name, answer := range map[string]string{
		"not HTTP":  title + wipe + everyone + "\r\n\r\n",
		"two heads": answerText("OK", "x") + title + wipe + everyone,
		"a status":  "HTTP/1.1 " + title + "\r\n\r\n",
		"a header":  "HTTP/1.1 200 OK\r\n" + title + ": " + wipe + "\r\n\r\n",
		"a length":  "HTTP/1.1 200 OK\r\nContent-Length: " + title + "\r\n\r\n",
		"a coding":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + title + everyone + "\r\n\r\n",
		"a chunk":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + title + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			files := t.TempDir()
			result := filepath.Join(files, "r.json")
			ran := runDyno(t, nil, "run", "-n", "3", "-c", "1", "--timeout", "500ms",
				"--json", result, "--no-save", startAnswering(t, answer)+"?"+everyone[:6])
			checkTerminal(t, "stdout of run", ran.out)
			checkTerminal(t, "stderr of run", ran.err)
			for _, form := range []string{"md", "txt", "html"} {
				file := filepath.Join(files, "r."+form)
				runDyno(t, nil, "report", result, "-o", file)
				readChecked(t, file)
			}
		})
	}
}

// What a requests file calls its requests, and the URL's path, are in reports.
func TestNamesOfRequests(t *testing.T) {
	url := startAnswering(t, answerText("OK", "x"))
	files := t.TempDir()
	list := filepath.Join(files, "list.jsonl")
	lines := fmt.Sprintf("{\"url\":%q,\"name\":%q}\n{\"url\":%q,\"name\":%q}\n", url+"a", everyone,
		url+"b/@everyone/#1", "www.evil.example "+formula)
	if err := os.WriteFile(list, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	result := filepath.Join(files, "r.json")
	ran := runDyno(t, nil, "run", "-v", "-n", "9", "-c", "1", "--requests-file", list, "--json", result, "--no-save", url)
	checkShown(t, "run", ran.out, mention)
	for _, form := range []string{"md", "txt", "html", "csv"} {
		file := filepath.Join(files, "r."+form)
		runDyno(t, nil, "report", result, "-o", file)
		readChecked(t, file)
	}
}

// makeArchive is what others have exported, with members of these names.
func makeArchive(t *testing.T, members ...*tar.Header) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.tar.gz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	zipped := gzip.NewWriter(f)
	w := tar.NewWriter(zipped)
	for _, m := range members {
		if m.Mode, m.Typeflag = 0o600, max(m.Typeflag, tar.TypeReg); m.Linkname != "" {
			m.Typeflag = tar.TypeSymlink
		}
		if err := w.WriteHeader(m); err != nil {
			t.Fatal(err)
		}
		w.Write(make([]byte, min(m.Size, 1<<10)))
	}
	zipped.Close() // the last may be shorter than it says
	f.Close()
	return file
}

// The names in an archive are shown where it is refused.
func TestArchiveMembers(t *testing.T) {
	for name, m := range map[string]*tar.Header{
		"no result":  {Name: "results/" + title + turn + ".json", Size: 9},
		"too large":  {Name: title + turn, Size: 2 << 30},
		"a link":     {Name: title + turn, Linkname: "/etc/passwd"},
		"elsewhere":  {Name: "../" + title + turn, Size: 9},
		"experiment": {Name: "experiments/" + title + turn + "/experiment.json", Size: 9},
	} {
		t.Run(name, func(t *testing.T) {
			ran := runDyno(t, nil, "import", makeArchive(t, m))
			checkShown(t, "import", ran.out+ran.err, "0;owned")
			checkTerminal(t, "stdout of import", ran.out)
			checkTerminal(t, "stderr of import", ran.err)
		})
	}
}

// An experiment of others has names that no file of ours may have.
func TestFolderOfOthers(t *testing.T) {
	honest := startAnswering(t, answerText("OK", "x"))
	folder, _ := runComparison(t, "warn", honest, honest)
	escaped := func(s string) string { return strings.Trim(strconv.QuoteToASCII(s), `"`) }
	names := strings.NewReplacer(`"c1"`, `"`+formula+`"`,
		`"hostile"`, `"`+strings.ReplaceAll(escaped("@everyone "+everyone), `\x1b`, `\u001b`)+`"`,
		`"honest"`, `"+1\u001b]0;owned\u0007\u202e `+mention+`"`)
	file := filepath.Join(folder, "experiment.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := names.Replace(string(b))
	if !strings.Contains(changed, formula) || !strings.Contains(changed, mention) {
		t.Fatal("nothing was changed")
	}
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	checkForms(t, folder, mention)
}

// forged is what would be a line of dyno's.
const forged = "\ndyno: all is well, forged\n"

// checkLines checks that others' words are shown and begin no line.
func checkLines(t *testing.T, where string, ran said) {
	t.Helper()
	text := ran.out + ran.err
	checkShown(t, where, text, "forged")
	if strings.Contains("\n"+text, forged[:len(forged)-1]) {
		t.Errorf("%s has a line of others:\n%s", where, text)
	}
}

// A name in a certificate, in an archive and in a result are no line of dyno's.
func TestForgedLines(t *testing.T) {
	url, ca := startCertifiedServer(t, "x"+forged+"y")
	checkLines(t, "run", runDyno(t, nil, "run", "-n", "3", "-c", "1", "--cacert", ca, "--no-save", url))
	checkLines(t, "run -q", runDyno(t, nil, "run", "-q", "-n", "3", "-c", "1", "--cacert", ca, "--no-save", url))
	checkLines(t, "find", runDyno(t, nil, "find", "--slo", "p99<1s", "--probe-time", "1s", "-c", "1", "--cacert", ca, url))
	checkLines(t, "import", runDyno(t, nil, "import", makeArchive(t, &tar.Header{Name: "results/x" + forged, Size: 9},
		&tar.Header{Name: "results/x" + forged + "/20261123-101112-abcd.json", Size: 9})))
	checkLines(t, "import of a link", runDyno(t, nil, "import", makeArchive(t, &tar.Header{Name: "x" + forged, Linkname: "y"})))
}
