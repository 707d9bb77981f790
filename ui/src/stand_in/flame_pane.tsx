// Until flame/flame_pane.tsx is here.
export function FlamePane({ compare }: { compare: boolean }) {
  return <div class="notice">Flame graph{compare ? ' of the comparison' : ''}</div>;
}
