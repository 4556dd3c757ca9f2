package server

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolate makes the program start in a network namespace of its own. Who is not
// root gets it through a user namespace in which everybody stays who they are:
// a server that found itself root would behave as one.
func (n *Netns) isolate(cmd *exec.Cmd, asRoot bool) {
	attr := cmd.SysProcAttr
	attr.Cloneflags = unix.CLONE_NEWNET
	if asRoot {
		return
	}
	attr.Cloneflags |= unix.CLONE_NEWUSER
	uid, gid := os.Geteuid(), os.Getegid()
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN} // or exec would drop it
	if n.Clients > 0 {
		attr.AmbientCaps = append(attr.AmbientCaps, unix.CAP_SYS_ADMIN) // to make and enter more
	}
}

// isRefused says what is missing when the kernel grants no namespace.
func isRefused(err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Errorf("network namespace: %w: it needs root with CAP_SYS_ADMIN, or a system "+
			"that lets users make namespaces (user.max_user_namespaces above 0, "+
			"kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0)",
			err)
	case errors.Is(err, unix.ENOSPC):
		return fmt.Errorf("network namespace: %w: as many as user.max_net_namespaces and "+
			"user.max_user_namespaces allow are there", err)
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("network namespace: %w: this kernel has none", err)
	}
	return fmt.Errorf("start the supervisor of servers in a network namespace: %w", err)
}

// prepare, from inside, brings the loopback interface up and makes settings.
func (n *Netns) prepare() error {
	if err := raiseLink("lo"); err != nil {
		return fmt.Errorf("network namespace: bring its loopback interface up: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Sysctl)) {
		if err := writeSysctl(name, n.Sysctl[name]); err != nil {
			return fmt.Errorf("sysctl %s=%s: %w", name, n.Sysctl[name], err)
		}
	}
	return nil
}

func writeSysctl(name, value string) error {
	parts := strings.Split(name, ".")
	if parts[0] != "net" || slices.ContainsFunc(parts, notPlain) {
		return errors.New("only settings net.* belong to a network namespace; " +
			"others are the whole machine's and stay as they are")
	}
	err := os.WriteFile("/proc/sys/"+strings.Join(parts, "/"), []byte(value), 0)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("not a setting of a network namespace in this kernel: " +
			"the whole machine's, or gone")
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("%w (a container that protects /proc/sys?)", err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w (it can be read in a namespace, not set)", err)
	}
	return err
}

func notPlain(part string) bool { return part == "" || strings.Contains(part, "/") }
