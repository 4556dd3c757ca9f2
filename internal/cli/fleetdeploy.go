package cli

import (
	"fmt"
	"net/netip"
	"slices"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fleet/bus"
	"dyno/internal/fleet/deploy"
	"dyno/internal/setting"
)

// deployFlags is the command line of dyno fleet deploy.
type deployFlags struct {
	helpFlag
	deploy.Config
	targets []netip.Prefix
}

func newDeployFlags() *deployFlags {
	return &deployFlags{Config: deploy.DefaultConfig(loadplan.Version)}
}

func (f *deployFlags) groups() []group {
	c := &f.Config
	return []group{{"Flags", []option{
		{"agents", "", "N", "how many, for compose and kubernetes (1)",
			storeParsed(&c.Agents, setting.ParseInt)},
		{"program", "", "PATH", "where dyno is on the machine, for systemd (/usr/local/bin/dyno)",
			setText(&c.Program)},
		{"image", "", "NAME", fmt.Sprintf("of containers (%s)", c.Image), setText(&c.Image)},
		{"cpus", "", "N", "of each agent, for kubernetes (2)", storeParsed(&c.CPUs, setting.ParseInt)},
		{"memory", "", "SIZE", "of each agent, for kubernetes (1Gi)", setText(&c.Memory)},
		{"deadline", "", "D", "after which kubernetes ends them (4h)",
			storeParsed(&c.Deadline, setting.ParseDuration)},
		{"hub", "", "ADDR", "where agents find the hub, for ssh and, as IP:PORT, for kubernetes;\n" +
			"{again} (this machine's dyno fleet up)", func(s string) error {
			c.Hubs = append(c.Hubs, s)
			return nil
		}},
		{"target", "", "CIDR", "that kubernetes lets them load; {again} (private addresses)",
			f.addTarget},
		{"help", "h", "", "this", setSwitch(&f.help)},
	}}}
}

func (f *deployFlags) addTarget(s string) error {
	block, err := netip.ParsePrefix(s)
	if err != nil {
		return fmt.Errorf("%q is not a range of addresses like 10.1.0.0/16", s)
	}
	f.targets = append(f.targets, block.Masked())
	return nil
}

// fleetDeploy is dyno fleet deploy.
func fleetDeploy(s streams, args []string) int {
	f := newDeployFlags()
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("fleet deploy")
	}
	if len(p.words) == 0 {
		return s.refuseFlags("fleet deploy", append(p.faults,
			fmt.Errorf("a KIND is wanted: %s", deployKinds())))
	}
	if len(f.targets) > 0 {
		f.Targets = f.targets
	}
	kind := p.words[0]
	f.Hosts = p.words[1:]
	if len(f.Hubs) == 0 {
		f.Hubs = hubAddresses()
	}
	if faults := slices.Concat(p.faults, f.CheckKind(kind)); len(faults) > 0 {
		return s.refuseFlags("fleet deploy", faults)
	}
	return s.writeExitCode(deploy.WriteKind(s.out, kind, f.Config))
}

// hubAddresses are the addresses at which agents reach this machine's hub, if it runs.
func hubAddresses() []string {
	folder, err := fleetFolder()
	if err != nil {
		return nil
	}
	c, err := bus.ReadController(folder)
	if err != nil {
		return nil
	}
	return c.Advertised
}
