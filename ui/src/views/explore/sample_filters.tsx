// Only the samples of one trace or span, or with labels of their own. Out of the way unless used.
import { useId, useState } from 'preact/hooks';
import { serverConfig } from '../../api/server_config';
import { go, state } from '../../state/store';
import { fillLink } from '../../text/link_templates';

type Name = 'trace' | 'span' | 'sampleLabels';
const fields: [Name, string, string][] = [
  ['trace', 'Trace id', '32 hex digits'],
  ['span', 'Span id', '16 hex digits'],
  ['sampleLabels', 'Sample labels', '{thread="main"}'],
];

export function SampleFilters() {
  const current = state.value;
  const used = fields.filter(([name]) => current[name] !== '').length;
  const [open, setOpen] = useState(used > 0);
  const { trace_link, span_link } = serverConfig.value;
  const values = { trace_id: current.trace, span_id: current.span };
  const links: [string, string | undefined][] = [
    ['Open the trace', current.trace ? fillLink(trace_link, values) : undefined],
    ['Open the span', current.span ? fillLink(span_link, values) : undefined],
  ];
  return (
    <details class="explore-filters" open={open || used > 0} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Trace, span and sample labels{used > 0 && ` (${used} set)`}</summary>
      <div class="row">
        {fields.map(([name, title, hint]) => (
          <FilterField key={name} name={name} title={title} hint={hint} />
        ))}
        {used > 0 && (
          <button type="button" onClick={() => go({ trace: '', span: '', sampleLabels: '', zoom: [] })}>
            Clear
          </button>
        )}
        {links.map(
          ([title, link]) =>
            link && (
              <a key={title} href={link} target="_blank" rel="noreferrer">
                {title}
              </a>
            ),
        )}
      </div>
    </details>
  );
}

function FilterField({ name, title, hint }: { name: Name; title: string; hint: string }) {
  const id = useId();
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        const field = event.currentTarget.elements.namedItem('value') as HTMLInputElement;
        go({ [name]: field.value.trim(), zoom: [] });
      }}
    >
      <label for={id} class="muted">
        {title}
      </label>
      <input
        id={id}
        name="value"
        type="text"
        class="mono"
        placeholder={hint}
        spellcheck={false}
        autocomplete="off"
        defaultValue={state.value[name]}
        key={state.value[name]}
        onBlur={(event) => go({ [name]: event.currentTarget.value.trim() })}
      />
    </form>
  );
}
