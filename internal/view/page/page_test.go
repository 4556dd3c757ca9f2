package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Nothing in the page's source makes markup of text, or fetches anything but from its own server.
func TestSourceMakesNoMarkup(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|` +
		`createContextualFragment|\beval\(|new Function|setAttribute\("style"|import\(|https?://[a-z]`)
	allowed := "http://www.w3.org/2000/svg" // a name, which nothing fetches
	files := 0
	err := filepath.WalkDir("web/src", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for i, line := range strings.Split(string(text), "\n") {
			if bad := forbidden.FindString(strings.ReplaceAll(line, allowed, "")); bad != "" {
				t.Errorf("%s:%d: %s", path, i+1, bad)
			}
		}
		return nil
	})
	if err != nil || files < 10 {
		t.Errorf("%d files looked at, %v", files, err)
	}
}

// The policy allows the script and the style that are there, and nothing else.
func TestPolicy(t *testing.T) {
	html := made(t, document{title: "</title><script>", summary: "<b>", payload: map[string]string{
		"kind": "</script><script>alert(1)</script>"}}.writeHTML)
	policy := regexp.MustCompile(`content="(default-src 'none'; script-src '(sha256-[^']+)' '(sha256-[^']+)'; style-src '(sha256-[^']+)'; ` +
		`img-src data: blob:; base-uri 'none'; form-action 'none')"`).FindSubmatch(html)
	if policy == nil {
		t.Fatalf("the page has no policy: %.600s", html)
	}
	script := packedScript(t, html)
	if policyHash(script) != "'"+string(policy[3])+"'" {
		t.Error("the policy has not the packed script's hash")
	}
	for tag, digest := range map[string][]byte{"script": policy[2], "style": policy[4]} {
		parts := regexp.MustCompile(`(?s)<` + tag + `>(.*?)</` + tag + `>`).FindSubmatch(html)
		if parts == nil || !strings.Contains(policyHash(string(parts[1])), string(digest)) {
			t.Errorf("%s: the policy has not its hash", tag)
		}
		if _, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(digest), "sha256-")); err != nil {
			t.Errorf("%s: %v", tag, err)
		}
	}
	if n := bytes.Count(html, []byte("<script")); n != 3 {
		t.Errorf("%d scripts, and the page has 3: its packed data and script, and what unpacks them", n)
	}
	if bytes.Contains(html, []byte("<b>")) {
		t.Error("the summary became markup")
	}
}

// The page stays small: everyone who is sent a report gets it.
func TestBundleSize(t *testing.T) {
	script, err := Asset(Script)
	if err != nil {
		t.Fatal(err)
	}
	if len(script) > 140_000 { // a library that draws adds far more
		t.Errorf("the script has %d bytes: leave out what is not used", len(script))
	}
}

// packedScript is the script of a page, unpacked.
func packedScript(t *testing.T, html []byte) string {
	t.Helper()
	packed := regexp.MustCompile(`id="packed-script">([^<]*)<`).FindSubmatch(html)
	if packed == nil {
		t.Fatal("the page has no script")
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(packed[1])))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
