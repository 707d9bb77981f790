export function TablePane(_: { compare: boolean }) {
  return <p class="muted">Table</p>;
}
