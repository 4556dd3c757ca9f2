package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"dyno/internal/result"
)

// A request's own timeout holds for it alone, in place of the run's, on HTTP/1 and 2.
func TestTimeoutsOfRequests(t *testing.T) {
	inFolder(t, map[string]string{"mix.jsonl": `{"url": "/never", "timeout": "50ms"}` + "\n" +
		`{"url": "/any", "timeout": 100, "weight": 3}` + "\n" + `{"url": "/any"}`})
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" {
			<-r.Context().Done()
			return
		}
		io.WriteString(w, "ok")
	})
	one, two := httptest.NewServer(answer), httptest.NewUnstartedServer(answer)
	defer one.Close()
	two.EnableHTTP2 = true
	two.StartTLS()
	defer two.Close()
	for url, flags := range map[string][]string{one.URL: nil, two.URL: {"--insecure", "--streams", "3"}} {
		code, said := runHereAs(t, url, append(flags, "-n", "50", "-c", "2", "-t", "1", "--timeout", "10m", "--drain",
			"10m", "--requests-file", "mix.jsonl", "--json", "out.json")...)
		text, err := os.ReadFile("out.json")
		var r result.Result
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil || code != exitOK || r.Requests.Completed != 40 || r.Requests.Errors != 10 ||
			len(r.Errors) != 1 || r.Errors[0].Phase != "timeout" || r.Errors[0].Count != 10 {
			t.Errorf("code %d %s %v: %+v, %+v", code, said, err, r.Requests, r.Errors)
		}
		if len(r.Plan.Requests) != 3 || r.Plan.Requests[0].Timeout.String() != "50ms" {
			t.Errorf("the plan has %+v", r.Plan.Requests)
		}
	}
}
