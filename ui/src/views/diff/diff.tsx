export function DiffView() {
  return <h1>Diff</h1>;
}
