package cli

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"dyno/internal/capacity"
	"dyno/internal/engine/loadplan"
	"dyno/internal/result"
	"dyno/internal/view/report"
)

// The command in a report makes the plan of the run that it reports, when a shell reads it.
func TestCommandRepeatsThePlan(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh to read the command")
	}
	for _, args := range []string{
		"http://127.0.0.1:8080/", "-c 7 -t 3 -d 1m30s --warmup 2s --drain 500ms http://localhost/a?b=1&c=2",
		"-n 1000 -c 3 --timeout 3s --connect-timeout 700ms --http 1.0 http://localhost/",
		"--expect any http://localhost/", "--expect 2xx,404 http://localhost/",
		"-R 12.5 --arrival poisson --seed 9 -d 4 http://localhost/",
		"--users 5 --stage 10s:200users --stage 0s:1users http://localhost/",
		"-R 1k --stage 10s:2k --stage 0s:100 --stage 1m:100 --connect-rate 50 http://localhost/",
		"--pipeline 4 --reconnect 100 --ring portable --cpus 0 --expect 2xx,304 http://localhost/",
		"--http 2 --streams 16 --insecure --sni example.org https://localhost/", "--reconnect always h2c://localhost:81/x",
		"--http auto --tls-min 1.2 --tls-max 1.3 --tls-resume on --alpn h2,http/1.1 https://localhost/",
		"-R 1k --probe 10 --spin --source 127.0.0.1,127.0.0.8/30,fe80::1%eth0,fe80::%1/120 http://127.0.0.1/", "-X PUT -H X-A:$HOME'`\"\\ -H B: -b a'b\"c http://localhost/", "-X DELETE http+unix:///run/a.sock:/b",
		"--fcgi-param A=b --fcgi-param C= fcgi://localhost:9000/x.php",
	} {
		f, faults := readRun(strings.Fields(args), strings.NewReader(""))
		if len(faults) > 0 {
			t.Errorf("%s: %v", args, faults)
			continue
		}
		line := report.RunSentences(&result.Result{Plan: f.plan}).Command
		words, err := exec.Command("sh", "-c", "printf '%s\\n' "+line).Output()
		if err != nil {
			t.Fatal(err)
		}
		again := strings.Split(strings.TrimSuffix(string(words), "\n"), "\n")
		g, faults := readRun(again[2:], strings.NewReader(""))
		if have, want := jsonOf(t, g.plan), jsonOf(t, f.plan); len(faults) > 0 || have != want {
			t.Errorf("%s\nis repeated by %s\n%v\nhave %s\nwant %s", args, line, faults, have, want)
		}
	}
}

// The command in the report of a search makes the same search.
func TestCommandRepeatsTheSearch(t *testing.T) {
	for _, args := range []string{
		"--slo p99<20ms --probe-time 3s http://127.0.0.1/",
		"--slo p95<=50ms --slo errors<=0 --probe-time 500ms --warmup 1s --arrival poisson --seed 7 -c 200 -t 2 http://127.0.0.1/",
	} {
		f, faults := readFind(strings.Fields(args), strings.NewReader(""))
		if len(faults) > 0 {
			t.Errorf("%s: %v", args, faults)
			continue
		}
		s := &capacity.Search{Plan: f.plan}
		s.Plan.Duration = loadplan.Seconds(f.probe) // as Find says it
		for _, o := range f.objectives {
			s.Objectives = append(s.Objectives, o.Expr)
		}
		line := strings.ReplaceAll(report.SearchSentences(s).Command, "'", "")
		g, faults := readFind(strings.Fields(line)[2:], strings.NewReader(""))
		if len(faults) > 0 || g.probe != f.probe || jsonOf(t, g.objectives) != jsonOf(t, f.objectives) ||
			jsonOf(t, g.plan) != jsonOf(t, f.plan) {
			t.Errorf("%s\nis repeated by %s\n%v", args, line, faults)
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
