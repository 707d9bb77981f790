// Generated from src/formats/registry.cc; VESTA_UPDATE=1 scripts/test -R '^formats$' writes it.
export interface WrittenFormat {
  format: string; // as /api/v1/export knows it
  title: string;
  extension: string;
  picture: boolean;
}

export const writtenFormats: readonly WrittenFormat[] = [
  { format: 'pprof', title: 'pprof', extension: 'pb.gz', picture: false },
  { format: 'folded', title: 'Folded stacks', extension: 'folded', picture: false },
  { format: 'speedscope', title: 'speedscope', extension: 'speedscope.json', picture: false },
  { format: 'otlp', title: 'OTLP', extension: 'otlp', picture: false },
  { format: 'otlp-json', title: 'OTLP as JSON', extension: 'otlp.json', picture: false },
  { format: 'flamebearer', title: 'Flamebearer', extension: 'flamebearer.json', picture: false },
  { format: 'svg', title: 'SVG', extension: 'svg', picture: true },
  { format: 'html', title: 'HTML, one file', extension: 'html', picture: true },
];

export const readFormats = 'pprof, folded stacks, speedscope, OTLP, OTLP as JSON, flamebearer, JFR, perf script';
