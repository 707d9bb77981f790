export function TreePane(_: { compare: boolean }) {
  return <p class="muted">Call tree</p>;
}
