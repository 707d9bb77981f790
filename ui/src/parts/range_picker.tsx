// When: presets, times to the second, a step back or forward, twice as long, and how often to look again.
import { useEffect, useId, useState } from 'preact/hooks';
import { paused, refreshNow } from '../api/refresh';
import type { Source } from '../state/state';
import { amend, state } from '../state/store';
import { resolveRange, shiftRange, spanWord, widenRange } from '../state/time';
import { useCommands } from './commands/commands';
import { Popover } from './popover';
import { checkRange, presets, rangeTitle, showTime } from './range_words';
import './range_picker.css';

interface Props {
  source: Source;
  onChange(source: Source): void;
  label: string; // "Range", "Baseline range"
  live?: boolean; // with the controls for live refresh, of which a page needs one
}

export function RangePicker({ source, onChange, label, live = true }: Props) {
  const [open, setOpen] = useState(false);
  const now = Date.now();
  const change = (words: Pick<Source, 'from' | 'to'>) => {
    setOpen(false);
    onChange({ ...source, ...words });
  };
  useCommands([
    { id: `range.open.${label}`, title: `${label}: choose`, group: 'Time', keys: ['t'], run: () => setOpen(true) },
  ]);
  const title = rangeTitle(source, now);
  const endsNow = source.to === 'now';
  const span = () => {
    const { from, to } = resolveRange(source, Date.now());
    return spanWord(Math.round((to - from) / 1000) * 1000);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame and a legend
    <div class="range" role="group" aria-label={label}>
      <button
        type="button"
        class="range-step"
        aria-label={`${label}: earlier`}
        title="Earlier ([)"
        onClick={() => change(shiftRange(source, -1, Date.now()))}
      >
        <span aria-hidden="true">‹</span>
      </button>
      <Popover label={title} description={`${label}: ${title}`} open={open} onToggle={setOpen}>
        <RangeForm source={source} onChange={change} />
      </Popover>
      <button
        type="button"
        class="range-step"
        aria-label={`${label}: later`}
        title="Later (])"
        disabled={endsNow}
        onClick={() => change(shiftRange(source, 1, Date.now()))}
      >
        <span aria-hidden="true">›</span>
      </button>
      <button type="button" title="Twice as long" onClick={() => change(widenRange(source, Date.now()))}>
        Zoom out
      </button>
      {!endsNow && (
        <button
          type="button"
          title="The same length, up to now"
          onClick={() => change({ from: `now-${span()}`, to: 'now' })}
        >
          Now
        </button>
      )}
      {live && <LiveControls />}
    </div>
  );
}

function LiveControls() {
  const { refresh } = state.value;
  return (
    <span class="range-live">
      <button type="button" class="range-step" aria-label="Refresh" title="Refresh" onClick={refreshNow}>
        <span aria-hidden="true">↻</span>
      </button>
      <select
        aria-label="Live refresh"
        value={String(refresh)}
        onChange={(event) => {
          paused.value = false;
          amend({ refresh: Number(event.currentTarget.value) });
        }}
      >
        <option value="0">Live: off</option>
        {[...new Set([5, 15, 60, ...(refresh ? [refresh] : [])])]
          .sort((a, b) => a - b)
          .map((seconds) => (
            <option key={seconds} value={String(seconds)}>
              Live: {seconds} s
            </option>
          ))}
      </select>
      {refresh > 0 && (
        <button
          type="button"
          aria-pressed={paused.value}
          onClick={() => {
            paused.value = !paused.value;
          }}
        >
          {paused.value ? 'Paused' : 'Pause'}
        </button>
      )}
    </span>
  );
}

function RangeForm({ source, onChange }: { source: Source; onChange(words: Pick<Source, 'from' | 'to'>): void }) {
  const id = useId();
  const [from, setFrom] = useState(() => showTime(source.from));
  const [to, setTo] = useState(() => showTime(source.to));
  const [shown, setShown] = useState(false);
  useEffect(() => {
    setFrom(showTime(source.from));
    setTo(showTime(source.to));
  }, [source.from, source.to]);
  const check = checkRange(from, to, Date.now());
  const wrong = shown && 'error' in check ? check : undefined;
  return (
    <div class="range-form">
      <div class="range-presets">
        {presets.map(([word, title]) => (
          <button
            key={word}
            type="button"
            class="quiet"
            aria-pressed={source.from === word && source.to === 'now'}
            onClick={() => onChange({ from: word, to: 'now' })}
          >
            {title}
          </button>
        ))}
      </div>
      <form
        class="range-fields"
        onSubmit={(event) => {
          event.preventDefault();
          setShown(true);
          if ('words' in check) onChange(check.words);
        }}
      >
        <label for={`${id}-from`}>From</label>
        <input
          id={`${id}-from`}
          type="text"
          class="mono"
          value={from}
          aria-invalid={wrong?.field === 'from' ? true : undefined}
          aria-describedby={wrong ? `${id}-error` : `${id}-hint`}
          onInput={(event) => setFrom(event.currentTarget.value)}
        />
        <label for={`${id}-to`}>To</label>
        <input
          id={`${id}-to`}
          type="text"
          class="mono"
          value={to}
          aria-invalid={wrong?.field === 'to' ? true : undefined}
          aria-describedby={wrong ? `${id}-error` : `${id}-hint`}
          onInput={(event) => setTo(event.currentTarget.value)}
        />
        {wrong ? (
          <p id={`${id}-error`} class="range-error" role="alert">
            {wrong.error}
          </p>
        ) : (
          <p id={`${id}-hint`} class="muted">
            Local time, as 2026-11-15 14:30:00 or 14:30, or words such as now-90m
          </p>
        )}
        <button type="submit" class="primary">
          Apply
        </button>
      </form>
    </div>
  );
}
