package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"dyno/internal/result"
)

// packed is a body with a coding.
func packed(t *testing.T, coding string, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	switch coding {
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Checks see what a body with a Content-Encoding stands for, over HTTP/1 and 2. One that is not what
// it says, and one that is larger than checks look, fail checks of their own.
func TestEncodedBodiesAreChecked(t *testing.T) {
	inFolder(t, nil)
	bodies := map[string][]byte{}
	for _, coding := range []string{"gzip", "br", "zstd"} {
		bodies["/"+coding] = packed(t, coding, []byte(`{"ok": true}`))
		bodies["/bomb/"+coding] = packed(t, coding, make([]byte, 4<<20))
		bodies["/cut/"+coding] = bodies["/"+coding][:len(bodies["/"+coding])-3]
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		coding := r.URL.Path[bytes.LastIndexByte([]byte(r.URL.Path), '/')+1:]
		if r.Header.Get("Accept-Encoding") != coding {
			coding = "none"
		}
		w.Header().Set("Content-Encoding", coding)
		w.Write(bodies[r.URL.Path])
	})
	one, two := httptest.NewServer(answer), httptest.NewUnstartedServer(answer)
	defer one.Close()
	two.EnableHTTP2 = true
	two.StartTLS()
	defer two.Close()
	const decodes, within = "body decodes as its Content-Encoding says", "body within 1048576 bytes"
	for _, url := range []string{one.URL, two.URL} {
		for _, coding := range []string{"gzip", "br", "zstd"} {
			for path, want := range map[string][]result.CheckCount{
				"/":      {{Name: "json:$.ok==true", Passed: 5}},
				"/cut/":  {{Name: "json:$.ok==true", Failed: 5}, {Name: decodes, Failed: 5}},
				"/bomb/": {{Name: "json:$.ok==true", Failed: 5}, {Name: within, Failed: 5}},
			} {
				args := []string{"-n", "5", "-c", "1", "--drain", "1m", "-H", "Accept-Encoding: " + coding,
					"--expect-body", "json:$.ok==true", "--json", "out.json"}
				if url == two.URL {
					args = append(args, "--insecure")
				}
				code, said := runHereAs(t, url+path+coding, args...)
				text, err := os.ReadFile("out.json")
				var r result.Result
				if err == nil {
					err = json.Unmarshal(text, &r)
				}
				if err != nil || code != exitOK || !slices.Equal(r.Checks, want) {
					t.Errorf("%s%s: %+v, want %+v; code %d %s %v", path, coding, r.Checks, want, code, said, err)
				}
				if len(want) > 1 && (len(r.Errors) != 1 || r.Errors[0].Kind != want[1].Name) {
					t.Errorf("%s%s: %+v", path, coding, r.Errors)
				}
			}
		}
	}
}
