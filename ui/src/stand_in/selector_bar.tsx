// Until parts/selector_bar.tsx is here.
import type { Source } from '../state/state';

export function SelectorBar(props: { source: Source; onChange(source: Source): void; label: string }) {
  return (
    <input
      type="text"
      class="mono"
      aria-label={props.label}
      value={props.source.query}
      onChange={(event) => props.onChange({ ...props.source, query: event.currentTarget.value })}
    />
  );
}
