export function TargetsView() {
  return <h1>Targets</h1>;
}
