package probe

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

var processes = []candidate{
	{1, 0, "init", "init"},
	{10, 1, "nginx", "nginx"},
	{11, 10, "nginx", "nginx"},
	{12, 11, "sh", "sh"},
	{13, 12, "nginx", "nginx"}, // a grandchild behind a shell
	{20, 1, "nginx", "nginx"},
	{30, 1, "a-long-program-", "a-long-program-name"},
	{31, 1, "a-long-program-", "a-long-program-other"},
	{32, 1, "python3", "python3.11"},
	{40, 41, "x", "x"}, {41, 40, "x2", "x2"}, // parents in a ring
	{99, 1, "dyno", "dyno"},
	{100, 99, "nginx-helper", "nginx-helper"},
}

func TestFind(t *testing.T) {
	for what, want := range map[string]string{
		"nginx":               "nginx[10]=10 nginx[20]=20",
		"11":                  "nginx=11",
		"a-long-program-name": "a-long-program-name=30",
		"python3":             "python3=32",
		"python3.11":          "python3.11=32",
		"x":                   "x=40",
		"100":                 "nginx-helper=100",
		"ngnix":               `no process is named "ngnix"; similar: nginx (10)`,
		"dyno":                `no process is named "dyno"`, // never itself
		"postgres":            `no process is named "postgres"`,
		"long":                "similar: a-long-program-name (30), a-long-program-other (31)",
		"4711":                "there is no process 4711",
		"":                    `no process is named ""`,
	} {
		trees, err := findAmong(what, processes, 99)
		var got []string
		for _, tree := range trees {
			got = append(got, tree.Name+"="+strconv.Itoa(tree.PID))
		}
		if err != nil {
			got = []string{err.Error()}
		}
		text := strings.Join(got, " ")
		if text != want && (err == nil || !strings.Contains(text, want)) {
			t.Errorf("%q: %s, want %s", what, text, want)
		}
	}
}

// On this machine there is at least this process, by its pid.
func TestFindHere(t *testing.T) {
	trees, err := Find(strconv.Itoa(os.Getpid()))
	if err != nil || len(trees) != 1 || trees[0].PID != os.Getpid() ||
		!strings.Contains(trees[0].Name, "probe") {
		t.Errorf("%v, %v", trees, err)
	}
}

func TestProgramOf(t *testing.T) {
	for line, want := range map[string]string{
		"/usr/sbin/nginx\x00-c\x00/x": "nginx",
		"nginx: worker process":       "nginx",
		`C:\Go\bin\go.exe`:            "go.exe",
		"":                            "",
	} {
		if got := programOf(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
