//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// clientsOfNginx loads nginx from two clients, each in a network namespace of its own. Its log
// has a line for each request that it answered, with the address that it came from.
const clientsOfNginx = `
version: 1
name: clients
design: {rounds: 2, seed: 1, aa: false, warmup: {min: 0, max: 0}, cooldown: 0,
  metrics: [throughput], clients: {count: 2, isolate: netns}}
levels:
  - {name: closed, connections: 7, requests: 5001}
  - {name: reconnecting, connections: 4, requests: 401, reconnect: always}
  - {name: open, connections: 6, rate: 3000, requests: 3001}
variants:
  nginx:
    files:
      tmp/.keep: ""
      nginx.conf: |
        daemon off; master_process off; pid nginx.pid; error_log stderr warn; ROOT
        events { worker_connections 1024; }
        http {
          log_format of '$remote_addr $status $bytes_sent';
          client_body_temp_path tmp/body; proxy_temp_path tmp/proxy; fastcgi_temp_path tmp/fcgi;
          uwsgi_temp_path tmp/uwsgi; scgi_temp_path tmp/scgi;
          server {
            listen {{address}}:{{port}};
            access_log DIR/{{port}}.log of;
            location / { return 200 "ok\n"; }
          }
        }
    processes: [{cmd: 'NGINX -e stderr -p {{dir}} -c {{file "nginx.conf"}}'}]
    url: http://{{address}}:{{port}}/
`

// What the clients say together is what the server counted, to the request, and each did its
// share.
func TestClientsCountAsTheServer(t *testing.T) {
	t.Parallel()
	nginx := lookUpCommand("nginx")
	if nginx == "" {
		t.Skip("nginx is not installed; Debian's package is nginx-light (see e2e/install.sh)")
	}
	dir := publicDir(t)
	text := strings.NewReplacer("DIR", dir, "NGINX", nginx, "ROOT", rootOnly("user root;")).
		Replace(clientsOfNginx)
	file, out := filepath.Join(dir, "clients.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, binary, "lab", "run", file, "-o", out)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	said, err := cmd.CombinedOutput()
	if bytes.Contains(said, []byte("it needs root with CAP_SYS_ADMIN")) {
		t.Skipf("no network namespaces here:\n%s", said)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for _, name := range trialFiles(t, out, 6, said) {
		checkCountsAgree(t, dir, name)
	}
}

// trialFiles returns the files of an experiment's trials, without those that a busy machine made
// it repeat.
func trialFiles(t *testing.T, out string, want int, said []byte) (all []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(out, "trials", "*.json"))
	repeated := 0
	for _, name := range all {
		if strings.Contains(filepath.Base(name), "-again") {
			repeated++
		}
	}
	if err != nil || len(all)-repeated != want {
		t.Fatalf("trials %q, %v, want %d\n%s", all, err, want, said)
	}
	return all
}

// A labTrial is the part of a stored trial that is checked.
type labTrial struct {
	ID      string
	Level   string
	Failure *struct{ Reason string }
	Result  struct {
		Plan     struct{ Target struct{ Port int } }
		Requests struct{ Sent, Completed, Errors, Unfinished int64 }
		Bytes    struct{ Received int64 }
	}
}

func checkCountsAgree(t *testing.T, dir, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	var trial labTrial
	if err == nil {
		err = json.Unmarshal(b, &trial)
	}
	if err != nil || trial.Failure != nil {
		t.Fatalf("%s: %v, %+v", name, err, trial.Failure)
	}
	r := trial.Result
	log, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.log", r.Plan.Target.Port)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"closed": 5001, "reconnecting": 401, "open": 3001}[trial.Level]
	served, size := map[string]int64{}, int64(0)
	line := regexp.MustCompile(`(?m)^(\S+) 200 (\d+)$`)
	for _, found := range line.FindAllSubmatch(log, -1) {
		from := string(found[1])
		if ip := net.ParseIP(from).To4(); ip == nil || ip[3] != 2 { // not a client's: a check's
			continue
		}
		served[from]++
		var n int64
		fmt.Sscan(string(found[2]), &n)
		size += n
	}
	one, two := served["10.77.1.2"], served["10.77.2.2"]
	q := r.Requests
	if len(served) != 2 || one+two != want || q.Sent != want || q.Completed != want ||
		q.Errors+q.Unfinished != 0 || size != r.Bytes.Received {
		t.Errorf("%s: nginx served %v with %d bytes; dyno counted %+v, %d bytes; want %d", trial.ID,
			served, size, q, r.Bytes.Received, want)
	}
	if one < want*3/10 || two < want*3/10 {
		t.Errorf("%s: the clients' shares are %v", trial.ID, served)
	}
}
