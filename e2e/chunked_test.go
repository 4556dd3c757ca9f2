//go:build linux

package e2e

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// An upload is a body, and how it is cut.
type upload struct {
	body  []byte
	chunk int // 0: as the header Transfer-Encoding has it
}

// uploads are bodies at the edges of chunks, of --chunk-size 1000 and of the header's 65536.
func uploads() (all []upload) {
	random := rand.NewChaCha8([32]byte{50})
	for _, chunk := range []int{1000, 0} {
		edge := cmp.Or(chunk, 65536)
		for _, size := range []int{1, edge, edge + 1, 1 << 20} {
			u := upload{make([]byte, size), chunk}
			random.Read(u.body)
			copy(u.body[min(size, 100):], "\r\n0\r\n\r\n") // the end of chunks, if somebody looks for it
			all = append(all, u)
		}
	}
	return all
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Bodies in chunks arrive byte for byte: at a Go server, through nginx at an upstream, and through nginx in PHP. Each
// answers with the hash of what it got.
func TestChunkedUploads(t *testing.T) {
	t.Parallel()
	var chunked, whole atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) == 1 && r.TransferEncoding[0] == "chunked" {
			chunked.Add(1)
		} else {
			whole.Add(1)
		}
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		io.WriteString(w, hashOf(b))
	}))
	t.Cleanup(upstream.Close)
	fpm := phpFPM
	fpm.files = maps.Clone(phpFPM.files)
	fpm.files["www/hash.php"] = "<?php echo hash('sha256', file_get_contents('php://input'));\n"
	script := fpm.launchServer(t)
	front := nginx
	front.files = maps.Clone(nginx.files)
	front.files["nginx.conf"] = strings.Replace(nginx.files["nginx.conf"], "\t\tlocation / {", fmt.Sprintf(
		"\t\tlocation /go { proxy_pass %s; }\n\t\tlocation /php {\n\t\t\tfastcgi_pass unix:%s/php.sock;\n"+
			"\t\t\tfastcgi_param SCRIPT_FILENAME %s/www/hash.php;\n\t\t\tfastcgi_param REQUEST_METHOD $request_method;\n"+
			"\t\t\tfastcgi_param CONTENT_LENGTH $content_length;\n\t\t\tfastcgi_param CONTENT_TYPE text/plain;\n\t\t}\n"+
			"\t\tlocation / {", upstream.URL, script.dir, script.dir), 1)
	proxy := front.launchServer(t)
	all := uploads()
	for _, url := range []string{upstream.URL + "/", proxy.url + "/go", proxy.url + "/php"} {
		for _, chunk := range []int{1000, 0} {
			uploadLines(t, url, all, chunk)
		}
		uploadByHurl(t, url, all[len(all)-1].body)
	}
	if chunked.Load() == 0 || whole.Load() == 0 { // nginx reads all of a body before it passes it on
		t.Errorf("%d bodies came in chunks and %d whole", chunked.Load(), whole.Load())
	}
}

// uploadLines sends the bodies of a size of chunks, each once, and has each answer be its hash.
func uploadLines(t *testing.T, url string, all []upload, chunk int) {
	t.Helper()
	var lines bytes.Buffer
	n := int64(0)
	args := []string{"-c", "1", "--retry-unsafe"}
	if chunk > 0 {
		args = append(args, "--chunk-size", fmt.Sprint(chunk))
	}
	for _, u := range all {
		if u.chunk != chunk {
			continue
		}
		line := map[string]any{"method": "POST", "body_base64": base64.StdEncoding.EncodeToString(u.body),
			"expect_body": "contains:" + hashOf(u.body)}
		if chunk == 0 {
			line["headers"] = map[string]string{"Transfer-Encoding": "chunked"}
		}
		b, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(b, '\n'))
		n++
	}
	file := filepath.Join(t.TempDir(), "uploads.jsonl")
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	checkFlawless(t, runDyno(t, 0, append(args, "-n", fmt.Sprint(n), "--drain", "1m", "--timeout", "5m", "--requests-file", file, url)...).result, n, "200")
}

// uploadByHurl sends a file in chunks, as a Hurl file says.
func uploadByHurl(t *testing.T, url string, body []byte) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"body.bin": string(body), "up.hurl": "POST {{base}}\nTransfer-Encoding: chunked\n" +
		"file,body.bin;\nHTTP 200\n[Asserts]\nbody contains \"" + hashOf(body) + "\"\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	base := strings.TrimSuffix(url, "/")
	checkFlawless(t, runDyno(t, 0, "-n", "1", "-c", "1", "--drain", "1m", "--timeout", "5m", filepath.Join(dir, "up.hurl"), "--variable", "base="+base).result, 1, "200")
}
