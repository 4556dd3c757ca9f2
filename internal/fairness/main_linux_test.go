package fairness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

const apartEnv = "DYNO_TEST_APART"

// TestMain has the tests run in a network namespace of their own, where one can be had: the kernel
// counts connections by namespace, so that no other program's are among them.
func TestMain(m *testing.M) {
	if os.Getenv(apartEnv) != "" || exec.Command("unshare", apart("true")...).Run() != nil {
		os.Exit(m.Run())
	}
	c := exec.Command("unshare", apart(append([]string{os.Args[0]}, os.Args[1:]...)...)...)
	c.Env = append(os.Environ(), apartEnv+"=1")
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(c.ProcessState.ExitCode())
}

// apart are the arguments of unshare that run a command where there is only loopback.
func apart(command ...string) []string {
	args := []string{"--net"}
	if os.Geteuid() != 0 {
		args = append(args, "--map-root-user")
	}
	return append(append(args, "sh", "-c", `ip link set lo up && exec "$@"`, "sh"), command...)
}
