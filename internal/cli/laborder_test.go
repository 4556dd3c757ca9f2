package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The page may begin what ships, and the files of the folders that were given: by name, each its
// own, and as they are then.
func TestChoices(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	for file, content := range map[string]string{
		filepath.Join(one, "mine.yaml"): "version: 1\nname: mine\nlevels: [{name: a, connections: 1}]\n" +
			"variants: {one: {url: \"http://127.0.0.1:1/\"}}\n",
		filepath.Join(one, "hello"): "version: 1\n", filepath.Join(one, "notes.txt"): "", filepath.Join(one, "bad.yml"): "a: 1\n",
		filepath.Join(other, "mine.yaml"): "version: 1\n", filepath.Join(other, "d.yaml", "x.yaml"): "version: 1\n",
	} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(one) // where a file has the name of one that ships
	f := newServeFlags()
	if p := parseOptions([]string{"--experiments", ".", "--experiments", other, "--experiments", "nowhere"}, f.groups()); len(p.faults) != 1 {
		t.Errorf("faults: %v", p.faults)
	}
	f.experiments = f.experiments[:2]
	problems := map[string]int{}
	var ids []string
	for _, o := range f.experimentOffers() {
		ids = append(ids, o.ID)
		problems[o.ID] = len(o.Problems)
		if (o.Plan == "" || o.Quick == "") != (len(o.Problems) > 0) {
			t.Errorf("%+v", o)
		}
	}
	want := []string{"dump-request", "hello", "load-generators", "nginx-in-front-of-go", "nginx-settings", "nginx-tuning", "redirects",
		"token-streams", "bad.yml", "mine.yaml", "mine.yaml~2"}
	if !slices.Equal(ids, want) || problems["hello"]+problems["mine.yaml"] > 0 || problems["bad.yml"]*problems["mine.yaml~2"] == 0 {
		t.Errorf("offered are %q, with problems %v", ids, problems)
	}
	begin := f.newConductor("dyno", "home")
	for id, name := range map[string]string{"hello": "hello", "mine.yaml": "mine", "mine.yaml~2": "", "bad.yml": "",
		"../mine.yaml": "", "": "", filepath.Join(one, "mine.yaml"): ""} {
		c, faults := begin(id, true)
		if c.Name != name || (len(faults) > 0) != (name == "") {
			t.Errorf("%q: %+v, %v", id, c, faults)
		}
		if dir := filepath.Join("home", "experiments", name+"-"); name != "" && !strings.HasPrefix(c.Dir, dir) {
			t.Errorf("%q goes into %s", id, c.Dir)
		}
	}
}

// What goes wrong with an experiment's process is what it says at its end, and on stderr.
func TestConductFails(t *testing.T) {
	for input, want := range map[string]string{
		"": "reading what to run: EOF", "version: 1": "reading what to run: ", `{"shipped":"none"}`: `"none" is not an experiment`,
		`{"file":"nowhere.yaml"}`: "nowhere.yaml",
	} {
		var out, stderr bytes.Buffer
		code := conductExperiment(streams{in: strings.NewReader(input), out: &out, err: &stderr}, nil)
		var end conducted
		if err := json.Unmarshal(out.Bytes(), &end); err != nil || code != exitUsage || !strings.Contains(end.Why, want) ||
			!strings.Contains(stderr.String(), "dyno: "+end.Why+"\n") {
			t.Errorf("%q: %d, %q, %v, %s", input, code, end.Why, err, stderr.String())
		}
	}
	if err := (order{Shipped: "none"}).carryOut(context.Background(), filepath.Join(t.TempDir(), "nowhere")); err == nil {
		t.Error("a program that is not there runs")
	}
	long := new(tail)
	for range 2000 {
		if n, err := long.Write([]byte("dyno: first\n 12/99 round 3: one at c1: 1234 req/s\n")); n != 50 || err != nil {
			t.Fatal(n, err)
		}
	}
	long.Write([]byte("This is a fault of dyno\n\n"))
	if got := long.lastLine(); got != "This is a fault of dyno" || len(long.kept) > tailBytes {
		t.Errorf("%q of %d bytes", got, len(long.kept))
	}
}

// Offers are those of the files as they are: one that comes, changes or goes is seen at once, each by
// the name that it has itself; what has not changed is not read again.
func TestOffersFollowTheFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := newServeFlags()
	f.experiments = []string{dir}
	offers := f.newOffers()
	name := func() string {
		all := offers()
		if last := all[len(all)-1]; last.ID == "mine.yaml" {
			return last.Name
		}
		return ""
	}
	file := filepath.Join(dir, "mine.yaml")
	write := func(name string) {
		content := "version: 1\nname: " + name + "\nlevels: [{name: a, connections: 1}]\nvariants: {one: {url: \"http://127.0.0.1:1/\"}}\n"
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := name(); got != "" {
		t.Errorf("of an empty folder %q", got)
	}
	for _, want := range []string{"one", "another"} {
		write(want)
		if got := name(); got != want {
			t.Errorf("%q is called %q", want, got)
		}
	}
	if a, b := offers(), offers(); &a[0] != &b[0] {
		t.Error("what has not changed is read again")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := name(); got != "" {
		t.Errorf("%q is still there", got)
	}
}
