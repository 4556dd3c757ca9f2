//go:build linux

package attack

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// A changer is a DNS server whose names, aN… .test, are allowed at the first N lookups, and another
// machine from then on.
type changer struct {
	mu    sync.Mutex
	asked map[string]int
}

const allowed, forbidden = "127.0.0.1", "10.99.0.1"

// answer is the answer to a question.
func (c *changer) answer(question []byte) []byte {
	end, name := 12, ""
	for end < len(question) && question[end] != 0 {
		next := end + 1 + int(question[end])
		if next >= len(question) {
			return nil
		}
		name += string(question[end+1:next]) + "."
		end = next
	}
	if end+5 > len(question) {
		return nil
	}
	kind := int(question[end+1])<<8 | int(question[end+2])
	reply := append([]byte{}, question[:end+5]...)
	copy(reply[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
	if kind != 1 { // there are only addresses of IPv4
		return reply
	}
	reply[7] = 1
	c.mu.Lock()
	defer c.mu.Unlock()
	times, is := 0, forbidden
	fmt.Sscanf(name, "a%d", &times)
	if c.asked[name]++; c.asked[name] <= times {
		is = allowed
	}
	reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
	return append(reply, net.ParseIP(is).To4()...)
}

func (c *changer) serve(socket net.PacketConn) {
	b := make([]byte, 1500)
	for {
		n, from, err := socket.ReadFrom(b)
		if err != nil {
			return
		}
		if n > 12 {
			socket.WriteTo(c.answer(b[:n]), from)
		}
	}
}

// changingEnv is set in the namespace in which names change.
const changingEnv = "DYNO_ATTACK_CHANGING_NAMES"

// A name that means an allowed address when it is looked at, and another later, leads no load there:
// neither the dashboard's nor an agent's. The address that was judged is the one that is dialled.
func TestNamesThatChange(t *testing.T) {
	if os.Getenv(changingEnv) != "" {
		attackWithNames(t)
		return
	}
	t.Parallel()
	args := []string{"--net", "--mount"}
	if os.Geteuid() != 0 {
		args = append(args, "--map-root-user")
	}
	if out, err := exec.Command("unshare", append(args, "ip", "link")...).CombinedOutput(); err != nil {
		t.Skipf("no network namespace can be had here: %v: %s", err, out)
	}
	cmd := exec.Command("unshare", append(args, os.Args[0], "-test.run=^TestNamesThatChange$", "-test.v", "-test.timeout=5m")...)
	cmd.Env = append(os.Environ(), changingEnv+"=1", binaryEnv+"="+binary)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: TestNamesThatChange") {
		t.Error(err)
	}
}

// attackWithNames is that test, in a network that has only this machine.
func attackWithNames(t *testing.T) {
	resolver := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(resolver, []byte("nameserver 127.0.0.53\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"ip link set lo up", "ip address add " + forbidden + "/32 dev lo",
		"mount --bind " + resolver + " /etc/resolv.conf"} {
		words := strings.Fields(line)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", line, err, out)
		}
	}
	socket, err := net.ListenPacket("udp", "127.0.0.53:53")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	names := &changer{asked: map[string]int{}}
	go names.serve(socket)
	var served, strayed atomic.Int64
	listen := func(address string, count *atomic.Int64) net.Listener {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		go http.Serve(l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { count.Add(1) }))
		return l
	}
	honest := listen(allowed+":0", &served)
	defer honest.Close()
	_, port, _ := net.SplitHostPort(honest.Addr().String())
	other, err := net.Listen("tcp", forbidden+":"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() {
		for {
			c, err := other.Accept()
			if err != nil {
				return
			}
			strayed.Add(1)
			c.Close()
		}
	}()
	check := func(who string) {
		t.Helper()
		if served.Load() == 0 || strayed.Load() > 0 {
			t.Errorf("%s: %d requests where it may load, and %d connections elsewhere", who, served.Load(), strayed.Load())
		}
		served.Store(0)
	}
	v := visitDashboard(t, t.TempDir())
	tries := 0
	for n := range 4 {
		await(t, "the load before has ended", func() bool {
			tries++ // each with a name that was not asked for before
			url := fmt.Sprintf("http://a%dx%d.test:%s/", n, tries, port)
			status, text := v.post(t, "/api/load", map[string]any{"url": url, "duration": "300ms", "connections": "2"})
			if status/100 != 2 && status != http.StatusConflict && n > 0 {
				t.Errorf("%s: %d %s", url, status, text)
			}
			return status != http.StatusConflict
		})
	}
	await(t, "an answer", func() bool { return served.Load() > 0 })
	check("dashboard")

	if done := orderWithNames(t, port); done < 3 {
		t.Errorf("the agent carried out %d orders", done)
	}
	check("agent")
}

// orderWithNames has an agent load these names, and returns how often it did.
func orderWithNames(t *testing.T, port string) (done int) {
	dir := t.TempDir()
	command := func(home string, args ...string) *exec.Cmd {
		c := exec.Command(binary, args...)
		c.Env = append(os.Environ(), "DYNO_HOME="+filepath.Join(dir, home), "NO_COLOR=1")
		return c
	}
	policy := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte("allow: [127.0.0.0/8]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	begin(t, command("hub", "fleet", "up", "--listen", "127.0.0.1:0"), "the fleet's hub is at")
	token, err := command("hub", "fleet", "token").Output()
	if err != nil {
		t.Fatal(err)
	}
	agent := command("agent", "agent", "--join", "-", "--name", "one", "--weight", "1", "--policy", policy)
	agent.Stdin = bytes.NewReader(token)
	begin(t, agent, "is on the bus")
	for n := range 4 {
		out, err := command("hub", "run", "--fleet", "all", "--loose-start", "-d", "300ms", "-c", "2", "--no-save", "-q",
			fmt.Sprintf("http://a%d.test:%s/", n, port)).CombinedOutput()
		if err == nil {
			done++
		} else if n > 0 {
			t.Logf("a%d.test: %v %s", n, err, out)
		}
	}
	return done
}
