package deploy

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	network "k8s.io/api/networking/v1"
	strict "sigs.k8s.io/yaml"
)

// written is the file of that kind.
func written(t *testing.T, kind string, c Config) string {
	t.Helper()
	if faults := c.CheckKind(kind); len(faults) > 0 {
		t.Fatal(faults)
	}
	var b bytes.Buffer
	if err := WriteKind(&b, kind, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What Kubernetes reads is what was meant, by its own types and with no field unknown.
func TestKubernetes(t *testing.T) {
	c := DefaultConfig("1.2.3")
	c.Agents, c.CPUs, c.Memory, c.Deadline = 3, 4, "2Gi", 90*time.Minute
	c.Hubs = []string{"10.0.0.5:3967", "[fd00::5]:3968"}
	c.Targets = []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}
	docs := strings.Split(written(t, "kubernetes", c), "\n---\n")
	if len(docs) != 2 {
		t.Fatalf("%d documents", len(docs))
	}
	var job batch.Job
	if err := strict.UnmarshalStrict([]byte(docs[0]), &job); err != nil {
		t.Fatal(err)
	}
	var policy network.NetworkPolicy
	if err := strict.UnmarshalStrict([]byte(docs[1]), &policy); err != nil {
		t.Fatal(err)
	}
	j, pod := job.Spec, job.Spec.Template.Spec
	if *j.CompletionMode != batch.IndexedCompletion || *j.Completions != 3 || *j.Parallelism != 3 ||
		*j.BackoffLimit != 0 || *j.PodReplacementPolicy != batch.Failed ||
		*j.ActiveDeadlineSeconds != 5400 || pod.RestartPolicy != core.RestartPolicyNever {
		t.Errorf("the job: %+v", j)
	}
	if *pod.AutomountServiceAccountToken || *pod.EnableServiceLinks || !*pod.SecurityContext.RunAsNonRoot ||
		pod.SecurityContext.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault ||
		pod.TopologySpreadConstraints[0].WhenUnsatisfiable != core.DoNotSchedule {
		t.Errorf("the pod: %+v", pod)
	}
	agent := pod.Containers[0]
	if agent.Image != "dyno:1.2.3" || agent.Resources.Requests.Cpu().Value() != 4 ||
		agent.Resources.Limits.Memory().Value() != 2<<30 ||
		!agent.Resources.Requests.Memory().Equal(*agent.Resources.Limits.Memory()) ||
		!*agent.SecurityContext.ReadOnlyRootFilesystem || *agent.SecurityContext.AllowPrivilegeEscalation {
		t.Errorf("the container: %+v", agent)
	}
	for _, m := range agent.VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == m.Name }) {
			t.Errorf("%s is mounted and no volume", m.Name)
		}
		if m.Name == "join" && m.SubPathExpr != "$("+agent.Env[0].Name+")" {
			t.Errorf("a pod sees %+v", m)
		}
	}
	p := policy.Spec
	if len(p.Ingress) != 0 || len(p.PolicyTypes) != 2 || len(p.Egress) != 4 {
		t.Errorf("the policy: %+v", p)
	}
	if p.PodSelector.MatchLabels["app.kubernetes.io/name"] == "" || p.PodSelector.MatchLabels["app.kubernetes.io/name"] !=
		job.Spec.Template.Labels["app.kubernetes.io/name"] {
		t.Error("the policy is not the pods'")
	}
	var to []string
	for _, e := range p.Egress {
		for _, peer := range e.To {
			to = append(to, peer.IPBlock.CIDR)
		}
	}
	if want := []string{"10.0.0.5/32", "fd00::5/128", "10.1.0.0/16"}; !slices.Equal(to, want) {
		t.Errorf("agents may connect to %v, want %v", to, want)
	}
}

// compose is what docker compose knows of that is used here (its specification has more).
type compose struct {
	Name     string `yaml:"name"`
	Services map[string]struct {
		Image   string   `yaml:"image"`
		Command []string `yaml:"command"`
		Secrets []struct {
			Source string `yaml:"source"`
			Target string `yaml:"target"`
		} `yaml:"secrets"`
		Restart     string   `yaml:"restart"`
		ReadOnly    bool     `yaml:"read_only"`
		Tmpfs       []string `yaml:"tmpfs"`
		CapDrop     []string `yaml:"cap_drop"`
		SecurityOpt []string `yaml:"security_opt"`
		Ulimits     map[string]struct {
			Soft int `yaml:"soft"`
			Hard int `yaml:"hard"`
		} `yaml:"ulimits"`
	} `yaml:"services"`
	Secrets map[string]struct {
		File string `yaml:"file"`
	} `yaml:"secrets"`
}

func TestCompose(t *testing.T) {
	c := DefaultConfig("1.2.3")
	c.Agents = 2
	text := written(t, "compose", c)
	var file compose
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if len(file.Services) != 2 || len(file.Secrets) != 2 {
		t.Fatalf("%+v", file)
	}
	for i := range 2 {
		s := file.Services[fmt.Sprint("agent-", i)]
		secret := file.Secrets[s.Secrets[0].Source]
		if s.Image != "dyno:1.2.3" || !s.ReadOnly || secret.File != fmt.Sprint("./tokens/", i) ||
			!slices.Contains(s.Command, "@/run/secrets/"+s.Secrets[0].Target) {
			t.Errorf("agent %d: %+v, %+v", i, s, secret)
		}
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "compose.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if exec.Command("docker", "compose", "version").Run() != nil {
		t.Log("there is no docker compose to ask")
		return
	}
	if out, err := exec.Command("docker", "compose", "-f", name, "config", "-q").CombinedOutput(); err != nil {
		t.Errorf("docker compose: %v\n%s", err, out)
	}
}

// systemd finds nothing to complain of in the unit.
func TestSystemd(t *testing.T) {
	c := DefaultConfig("1.2.3")
	text := written(t, "systemd", c)
	if !strings.Contains(text, "\nExecStart=/usr/local/bin/dyno agent --join @%d/join-token\n") {
		t.Error(text)
	}
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("there is no systemd-analyze to ask")
		return
	}
	dir := t.TempDir()
	if c.Program, err = exec.LookPath("true"); err != nil { // a program has to be there
		t.Fatal(err)
	}
	name := filepath.Join(dir, "dyno-agent.service")
	if err := os.WriteFile(name, []byte(written(t, "systemd", c)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool, "verify", "--man=no", "--recursive-errors=no", name).CombinedOutput()
	if err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

func TestSSH(t *testing.T) {
	c := DefaultConfig("1.2.3")
	c.Hosts, c.Hubs = []string{"web1", "root@web2.example"}, []string{"127.0.0.1:3967", "10.0.0.5:3967"}
	text := written(t, "ssh", c)
	for _, want := range []string{"\nagent web1 web1 &", "\nagent root@web2.example web2-example &",
		" -o ExitOnForwardFailure=yes -R 127.0.0.1:3967:127.0.0.1:3967 \"$1\""} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("the script is for a POSIX shell, and there is none: ", err)
	}
	check := exec.Command(sh, "-n")
	check.Stdin = strings.NewReader(text)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestDockerfile(t *testing.T) {
	var does []string
	for line := range strings.Lines(written(t, "dockerfile", DefaultConfig("1.2.3"))) {
		if !strings.HasPrefix(line, "#") {
			does = append(does, strings.TrimSpace(line))
		}
	}
	want := []string{"FROM scratch", "COPY --chmod=0755 dyno /dyno", "USER 65534:65534",
		"ENV DYNO_HOME=/state", `ENTRYPOINT ["/dyno", "agent"]`}
	if !slices.Equal(does, want) {
		t.Errorf("%q", does)
	}
}

// Nothing gets into a file that would mean something else there.
func TestCheck(t *testing.T) {
	with := func(change func(*Config)) Config {
		c := DefaultConfig("1.2.3")
		c.Hubs = []string{"10.0.0.5:3967"}
		change(&c)
		return c
	}
	for _, test := range []struct {
		kind   string
		config Config
		reason string
	}{
		{"nomad", with(func(*Config) {}), "is not a kind"},
		{"systemd", with(func(c *Config) { c.Program = "dyno" }), "--program"},
		{"systemd", with(func(c *Config) { c.Program = "/a b" }), "--program"},
		{"systemd", with(func(c *Config) { c.Hosts = []string{"web1"} }), "unexpected arguments: web1"},
		{"ssh", with(func(*Config) {}), "HOST"},
		{"ssh", with(func(c *Config) { c.Hubs = nil }), "start dyno fleet up first"},
		{"ssh", with(func(c *Config) { c.Hubs = []string{"[::1%$(rm)]:1"} }), "not HOST:PORT"},
		{"ssh", with(func(c *Config) { c.Hosts = []string{"$(rm)"} }), "not a host"},
		{"ssh", with(func(c *Config) { c.Hosts = []string{"-oProxyCommand=x"} }), "not a host"},
		{"ssh", with(func(c *Config) { c.Hosts = []string{"web1", "root@web1"} }), "both be called web1"},
		{"compose", with(func(c *Config) { c.Image = "a\nb" }), "--image"},
		{"compose", with(func(c *Config) { c.Agents = 0 }), "--agents"},
		{"compose", with(func(c *Config) { c.Hubs = []string{"127.0.0.1:1"} }), "from this machine only"},
		{"kubernetes", with(func(c *Config) { c.Agents = 1001 }), "--agents"},
		{"kubernetes", with(func(c *Config) { c.CPUs = 0 }), "--cpus"},
		{"kubernetes", with(func(c *Config) { c.Memory = "1G\"" }), "--memory"},
		{"kubernetes", with(func(c *Config) { c.Deadline = 0 }), "--deadline"},
		{"kubernetes", with(func(c *Config) { c.Hubs = nil }), "--hub"},
		{"kubernetes", with(func(c *Config) { c.Hubs = []string{"fleet.example:3967"} }), "knows no names"},
		{"kubernetes", with(func(c *Config) { c.Hubs = []string{"[::1]:3967"} }), "from this machine only"},
	} {
		if got := fmt.Sprint(test.config.CheckKind(test.kind)); !strings.Contains(got, test.reason) {
			t.Errorf("%s: %s, want %s", test.kind, got, test.reason)
		}
	}
}
