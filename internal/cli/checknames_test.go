package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"

	"dyno/internal/result"
)

// A script's checks count whatever it calls them: dyno's own are known by their place.
func TestScriptChecksOfAnyName(t *testing.T) {
	inFolder(t, map[string]string{"s.lua": `
function response()
  dyno.check("status", true)
  dyno.check("redirects within budget", false)
  dyno.check("redirects stay at the server", false)
  dyno.check("body within 9 bytes", true)
end`})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	code, said := runHereAs(t, server.URL, "-n", "10", "-c", "1", "--drain", "1m", "--script", "s.lua", "--json", "out.json")
	text, err := os.ReadFile("out.json")
	var r result.Result
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	want := []result.CheckCount{{Name: "status", Passed: 10}, {Name: "redirects within budget", Failed: 10},
		{Name: "redirects stay at the server", Failed: 10}, {Name: "body within 9 bytes", Passed: 10}}
	if code != exitOK || err != nil || !slices.Equal(r.Checks, want) {
		t.Errorf("code %d, %s %v: %+v, want %+v", code, said, err, r.Checks, want)
	}
}
