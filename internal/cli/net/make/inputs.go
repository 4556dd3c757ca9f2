//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"time"
)

// An input is a command line whose result is kept. A word in braces is a server (servers.go),
// and ␣ a blank within an argument.
type input struct{ name, line string }

// calm are loads that are made again, some times, if the machine disturbed the generator.
const calm = " closed closed-warm closed-stall open open-stall open-poisson users-ramp " +
	"probe timeout unanswered session watched "

// interrupted is when the load of that name is.
const interrupted = 1500 * time.Millisecond

var inputs = []input{
	{"closed", "run -c 4 -d 2s {target}/"},
	{"closed-warm", "run -c 4 -t 2 -d 1s --warmup 300ms {target}/"},
	{"closed-stall", "run -c 4 -d 2s {stalling}/"},
	{"closed-gone", "run -c 4 -d 2s {leaving}/"},
	{"open", "run -R 500 -c 8 -d 2s {target}/"},
	{"open-stall", "run -R 500 -c 4 -d 2s {stalling}/"},
	{"open-poisson", "run -R 300 --arrival poisson --seed 7 -c 8 -d 1s {four}/"},
	{"open-overload", "run -R 3000 -c 4 -d 1s {four}/"},
	{"open-stages", "run --stage 1s:300 --stage 500ms:300 --stage 500ms:50 -c 8 {target}/"},
	{"users-ramp", "run --stage 1s:5users --stage 1s:5users {four}/"},
	{"probe", "run -c 4 -d 2s --probe 50 {stalling}/"},
	{"count", "run -n 7 -c 2 {target}/"},
	{"closing", "run -c 4 -d 1s {closing}/"},
	{"reconnect", "run -c 4 -n 400 --reconnect always {target}/"},
	{"pipelined", "run -c 2 --pipeline 4 -n 4000 {target}/"},
	{"secure", "run -c 2 --streams 3 -n 2000 --insecure {secure}/"},
	{"resolve", "run -c 2 -d 1s http://nowhere.invalid/"},
	{"refused", "run -c 2 -d 1s {refused}/"},
	{"connect-timeout", "run -c 2 -d 1s --connect-timeout 200ms {full}/"},
	{"tls-plain", "run -c 2 -d 1s {target-as-https}/"},
	{"tls-untrusted", "run -c 2 -d 1s {secure}/"},
	{"tls-timeout", "run -c 2 -d 1s --connect-timeout 200ms {silent-as-https}/"},
	{"timeout", "run -c 4 -d 1s --timeout 200ms {go}/late-some"},
	{"closed-early", "run -c 2 -d 1s {go}/close-some"},
	{"cut", "run -c 2 -d 1s {go}/cut"},
	{"malformed", "run -c 2 -d 1s {go}/malformed"},
	{"status", "run -c 2 -n 500 {go}/status-some"},
	{"status-all", "run -c 2 -n 100 {go}/missing"},
	{"expectations", "run -c 2 -n 300 --expect 200,500 --expect-body json:$.ok==true " +
		"--expect-body contains:nothing --expect-header Content-Type:␣application/json " +
		"-H Authorization:␣Bearer␣swordfish {go}/json"},
	{"redirects", "run -c 2 -n 60 --follow 2 --requests-file redirects.jsonl {go}/"},
	{"several", "run -c 3 -n 600 --requests-file several.jsonl {go}/"},
	{"replay", "run -c 3 --requests-file replay.jsonl {go}/"},
	{"unanswered", "run -R 100 -c 30 -d 1s --drain 200ms {go}/hang-some"},
	{"hanging", "run -c 2 -d 1s --drain 200ms {go}/hang"},
	{"session", "run -c 3 -d 1s shop.hurl --data users.csv --variable base={go}"},
	{"session-failing", "run -R 40 -c 4 -d 1s failing.hurl --data users.csv --variable base={go}"},
	{"lua", "run -c 2 -n 400 --script count.lua {go}/"},
	{"data", "run -c 4 --users 6 -n 300 --data users.csv --data-order per-user " +
		"--variable kind=new -b {\"user\":\"{{user}}\",\"id\":\"{{uuid}}\"} " +
		"{go}/items/{{kind}}?n={{int␣1␣9}}"},
	{"watched", "run -c 4 -d 2s --watch {pid} --pprof {go}/debug/pprof {go}/"},
	{"slo-met", "run -c 4 -n 4000 --slo p99<10s,␣errors<1% --slo rps>1 {target}/"},
	{"slo-missed", "run -c 4 -n 400 --slo p50<1ms --slo max<1us --slo errors<1% {four}/"},
	{"slo-undecided", "run -c 2 -n 60 --slo p99.9<10s --slo mean<10s {four}/"},
	{"slo-aborted", "run -c 2 -d 20s --slo p50<1ms --abort-on-slo {four}/"},
	{"interrupted", "run -c 2 -d 20s {four}/"},
	{"find-met", "find --slo p90<20ms --probe-time 600ms -c 8 {four}/"},
	{"find-unmet", "find --slo p50<1ms --probe-time 400ms -c 4 {four}/"},
	{"find-limited", "find --slo p99<10s --probe-time 400ms -c 4 {target}/"},
	{"find-failing", "find --slo p99<1s --probe-time 400ms -c 4 {go}/status-some"},
	{"find-session", "find --slo p99<1s --probe-time 400ms -c 4 shop.hurl --data users.csv " +
		"--variable base={four-go}"},
	{"sweep-closed", "find --levels c=1,2,4,8 --rounds 2 --probe-time 400ms {four}/"},
	{"sweep-open", "find --rates 100,400,3000 --rounds 2 --probe-time 400ms -c 8 {four}/"},
}

// makeSeries makes two times twelve runs of one URL, whose server is slower from the thirteenth on.
func (m *maker) makeSeries() error {
	if !m.wants("series") {
		return nil
	}
	address := "127.0.0.1:0"
	for _, half := range []struct{ name, service string }{{"before", "1ms"}, {"after", "2ms"}} {
		url, stop, err := m.startTarget("--listen", address, "--service", "constant:"+half.service)
		if err != nil {
			return err
		}
		address = url[len("http://"):]
		for i := range 12 {
			name := fmt.Sprintf("%s-%02d", half.name, i+1)
			json := filepath.Join(m.tmp, name+".json")
			if err = m.run(name, "home-series", 0, "run", "-q", "-c", "1", "-R", "150", "-d", "1s",
				"--json", json, url+"/"); err == nil {
				err = m.keep(json, filepath.Join("series", half.name, name+".json"))
			}
			if err != nil {
				break
			}
		}
		stop()
		if err != nil {
			return err
		}
	}
	return nil
}
