package fact

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// A stored fact is read as it was, one of a newer dyno included.
func TestStoredFacts(t *testing.T) {
	all := []Fact{
		{Severity: Warning, Args: Steal{Percent: 12.5}, Remedies: []Remedy{{"cpus", Higher}}},
		{Severity: Error, Scope: Scope{Parts: []int{1, 3}}, Args: Unknown{"of-2030", json.RawMessage(`{"us":[1,2]}`)}},
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"kind":"steal","severity":"warning","args":{"percent":12.5},"remedies":[{"setting":"cpus","value":"higher"}]},` +
		`{"kind":"of-2030","severity":"error","scope":{"parts":[1,3]},"args":{"us":[1,2]}}]`
	if string(text) != want {
		t.Errorf("%s", text)
	}
	var got []Fact
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("%+v, %v", got, err)
	}
	err = json.Unmarshal([]byte(`[{"kind":"steal","severity":"note","args":{"percent":"much"}}]`), &got)
	if err == nil || !strings.Contains(err.Error(), `"steal"`) {
		t.Errorf("arguments of another type: %v", err)
	}
}

// Whatever a kind's arguments are, the texts in them can be replaced.
func TestReplaceTexts(t *testing.T) {
	type inner struct{ Name string }
	type args struct {
		Steal
		Text  string
		Names []string
		In    []inner
		N     int
	}
	a := args{Text: "key=1", Names: []string{"key=2", "b"}, In: []inner{{"key=3"}}, N: 4}
	f := Fact{Scope: Scope{Address: "key=5"}, Args: a}
	f.ReplaceTexts(func(s string) string { return strings.ReplaceAll(s, "key", "k") })
	want := args{Text: "k=1", Names: []string{"k=2", "b"}, In: []inner{{"k=3"}}, N: 4}
	if !reflect.DeepEqual(f.Args, want) || f.Scope.Address != "k=5" {
		t.Errorf("%+v", f)
	}
	if a.Names[0] != "key=2" {
		t.Error("the arguments of before were changed")
	}
	u := Fact{Args: Unknown{"new", json.RawMessage(`{"a":"key"}`)}}
	if u.ReplaceTexts(func(s string) string { return strings.ReplaceAll(s, "key", "k") }); string(u.Args.(Unknown).Raw) != `{"a":"k"}` {
		t.Errorf("%+v", u)
	}
}
