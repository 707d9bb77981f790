// What to type elsewhere so that profiles come here.
export interface Snippet {
  title: string;
  why: string;
  text: string;
}

export function snippets(origin: string, host: string): Snippet[] {
  return [
    {
      title: 'This host, always',
      why: 'Agent, store and pages in one process: every program of the host, nothing to change in them.',
      text: 'sudo vesta up',
    },
    {
      title: 'Another host',
      why: 'The agent alone, sending here.',
      text: `sudo vesta agent --to ${origin}`,
    },
    {
      title: 'One program, now',
      why: 'Ten seconds of a process, then into the store.',
      text: `sudo vesta record -p PID -d 10s -o now.pb.gz\nvesta import now.pb.gz --service my-service \\\n  --server ${origin}`,
    },
    {
      title: 'Files that exist',
      why: 'pprof, JFR, folded stacks, perf script, speedscope, OTLP.',
      text: `vesta import FILE --service my-service \\\n  --server ${origin}`,
    },
    {
      title: 'Pyroscope SDK',
      why: 'Any language with a Pyroscope client; here Go.',
      text: `pyroscope.Start(pyroscope.Config{\n  ApplicationName: "my-service",\n  ServerAddress:   "${origin}",\n})`,
    },
    {
      title: 'OpenTelemetry Collector',
      why: 'Profiles by OTLP; gRPC is on port 4317.',
      text: `exporters:\n  otlphttp/vesta:\n    profiles_endpoint: ${origin}/v1development/profiles\n  otlp/vesta: # or by gRPC\n    endpoint: ${host}:4317\n    tls: {insecure: true}\nservice:\n  pipelines:\n    profiles:\n      receivers: [otlp]\n      exporters: [otlp/vesta]`,
    },
    {
      title: 'Grafana Alloy',
      why: 'What Alloy scrapes or collects with eBPF, sent on to here.',
      text: `pyroscope.write "vesta" {\n  endpoint {\n    url = "${origin}"\n  }\n}`,
    },
  ];
}
