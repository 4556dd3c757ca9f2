package cli

import "dyno/internal/engine/loadplan"

// flagOf are the flags that set the fields of a plan, as messages name them. A field that has none
// is called what the user wrote.
var flagOf = map[string]string{
	"Connections": "--connections", "Threads": "--threads", "Pipeline": "--pipeline",
	"Streams": "--streams", "Reconnect": "--reconnect",
	"Resend": "--retry-unsafe", "Follow": "--follow", "Requested": "--requests",
	"ConnectRate": "--connect-rate", "Probe": "--probe", "Warmup": "--warmup", "Drain": "--drain",
	"Timeout": "--timeout", "Connecting": "--connect-timeout", "Duration": "--duration",
	"Requests": "--requests-file", "Expect": "--expect", "Rate": "--rate", "Stages": "--stage",
	"Arrival": "--arrival", "Users": "--users", "Source": "--source", "HTTP": "--http",
	"Params": "--fcgi-param", "Ring": "--ring", "Spin": "--spin", "CPUs": "--cpus",
	"Insecure": "--insecure", "CAFile": "--cacert", "CertFile": "--cert", "KeyFile": "--key",
	"ServerName": "--sni", "ALPN": "--alpn", "MinVersion": "--tls-min", "MaxVersion": "--tls-max",
	"Resume": "--tls-resume", "Rows": "--data-order", "Variables": "--variable",

	"URL": "URL", "KeyLogFile": "SSLKEYLOGFILE", "Scenario": "scenario", "Cap": "cap", "Part": "part",
	"Parts": "parts", "Weights": "weights", "Before": "requests before",
	"UsersBefore": "users before",
}

// inFlags is an error whose fields are named by flags, if it is a Flaw.
func inFlags(err error) error {
	flaw, is := err.(loadplan.Flaw)
	if !is {
		return err
	}
	return flaw.Named(func(field string) string {
		if flag := flagOf[field]; flag != "" {
			return flag
		}
		return field // a flag already: of a flaw in the command line
	})
}
