// Until parts/range_picker.tsx is here.
import type { Source } from '../state/state';

export function RangePicker(props: { source: Source; onChange(source: Source): void; label: string; live?: boolean }) {
  return (
    <span class="row">
      {(['from', 'to'] as const).map((end) => (
        <input
          key={end}
          type="text"
          size={14}
          aria-label={`${props.label}, ${end}`}
          value={props.source[end]}
          onChange={(event) => props.onChange({ ...props.source, [end]: event.currentTarget.value })}
        />
      ))}
    </span>
  );
}
