export function SourceView() {
  return <h1>Source</h1>;
}
