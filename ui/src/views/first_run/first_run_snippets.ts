// What to type elsewhere so that profiles come here.
import { readFormats } from '../../text/formats.gen';

export interface Snippet {
  title: string;
  why: string;
  text: string;
}

export function snippets(origin: string, host: string): Snippet[] {
  return [
    {
      title: 'This host, continuously',
      why: 'Agent, store and web UI in one process. Profiles every program on the host without changing it.',
      text: 'sudo vesta up',
    },
    {
      title: 'Another host',
      why: 'Only the agent, sending to this server.',
      text: `sudo vesta agent --endpoint ${origin}`,
    },
    {
      title: 'One program, now',
      why: 'Record a process for ten seconds, then import the file.',
      text: `sudo vesta record -p PID -d 10s -o now.pb.gz\nvesta import now.pb.gz --service my-service \\\n  --server ${origin}`,
    },
    {
      title: 'Existing files',
      why: `${readFormats}.`,
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
      why: 'Forwards what Alloy scrapes or collects with eBPF.',
      text: `pyroscope.write "vesta" {\n  endpoint {\n    url = "${origin}"\n  }\n}`,
    },
  ];
}
