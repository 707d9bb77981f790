// Two selections side by side: what they are, how they differ in all, and then in flame graph, table and tree.
import { useEffect, useState } from 'preact/hooks';
import { useAnswer } from '../../api/answer';
import { askJson } from '../../api/client';
import { comparisonParameters } from '../../api/parameters';
import { refreshCount } from '../../api/refresh';
import type { Diff } from '../../api/types';
import { FlamePane } from '../../flame/flame_pane';
import { useCommands } from '../../parts/commands/commands';
import { RangePicker } from '../../parts/range_picker';
import { RegionChip } from '../../parts/region_chip';
import { SelectorBar } from '../../parts/selector_bar';
import { Warnings } from '../../parts/warnings';
import { significantFunctions } from '../../state/selection';
import type { ChangeFilter, Pane, Scale, Source } from '../../state/state';
import { amend, go, state } from '../../state/store';
import { sideText } from '../../text/basis';
import { formatRelative, formatTime } from '../../text/format';
import { measureOf, plainMeasure } from '../../text/measure';
import { shortName } from '../../text/names';
import { clippedText, visibleText } from '../../text/safe';
import { ServerAnswers } from '../table/server_answers';
import { TablePane } from '../table/table_pane';
import { TreePane } from '../tree/tree_pane';
import './diff.css';
import { PresetBar, useFiles } from './preset_bar';
import { presetBaseline, presets } from './presets';
import { changeSentence, largestChanges, significanceSentence, warningsOf } from './summary';

// Functions that changed by more than chance: the largest are named, all others are pale in the flame graph.
const mostSignificant = 10_000;
function useSummary() {
  const now = state.value;
  const parameters = comparisonParameters(now);
  parameters.set('change', 'significant');
  parameters.set('rows', String(mostSignificant));
  const key = now.baseline ? `diff?${parameters}` : null;
  const answer = useAnswer<Diff>(key, (signal) => askJson<Diff>('diff', parameters, signal));
  useEffect(() => {
    significantFunctions.value = answer.data && now.group === 'function' ? namesOf(answer.data) : null;
    return () => {
      significantFunctions.value = null;
    };
  }, [answer.data, now.group]);
  return answer;
}

// Null where that cannot be told, or not all are here.
function namesOf(diff: Diff): Set<string> | null {
  if (!diff.samples_before || !diff.samples_after || diff.cut.rows > 0) return null;
  return new Set(diff.rows.map(({ name }) => name));
}

function swap() {
  const { source, baseline } = state.value;
  if (baseline) go({ source: baseline, baseline: source, zoom: [] });
}

function rangeText(side?: { from_ns: number; to_ns: number }): string {
  return side?.to_ns ? `${formatTime(side.from_ns / 1e6)} – ${formatTime(side.to_ns / 1e6)}` : '';
}

interface SideProps {
  title: string;
  source: Source;
  onChange(source: Source): void;
  value: string;
  basis: string; // what it rests on
  range: string;
  unit: string;
  type: string;
  fileName: string | undefined;
}

function Side({ title, source, onChange, value, basis, range, unit, type, fileName }: SideProps) {
  return (
    <section class="diff-side" aria-label={title}>
      <div class="diff-side-head">
        <h2>{title}</h2>
        <span class="diff-value">{value}</span>
        <button
          type="button"
          class="quiet"
          aria-label={`Open alone: ${title.toLowerCase()}`}
          onClick={() => go({ view: 'explore', source, zoom: [] })}
        >
          Open alone
        </button>
      </div>
      <SelectorBar source={source} onChange={onChange} label={`${title}: selector`} />
      <div class="row">
        {source.file ? (
          <span class="muted">{fileName ? `File ${visibleText(fileName)}` : 'An opened file'}</span>
        ) : (
          <RangePicker source={source} onChange={onChange} label={`${title}: range`} live={false} />
        )}
        <span class="muted diff-range">
          {basis}
          {basis && range && ' · '}
          {range}
        </span>
        <RegionChip source={source} unit={unit} type={type} onChange={onChange} />
      </div>
    </section>
  );
}

function Summary({ diff }: { diff: Diff }) {
  const { total_before: before, total_after: after } = diff;
  const measure = measureOf(diff);
  const tone = after > before ? 'diff-more' : after < before ? 'diff-less' : '';
  const largest = largestChanges(diff);
  return (
    <div class="diff-summary" role="status">
      <p>
        {diff.scale === 'normalized' ? (
          'Both sides are scaled to the same total: this shows the mix, not the growth. '
        ) : (
          <>
            <strong class={tone}>
              {[measure.change(after - before), measure.of, `(${formatRelative(before, after)})`]
                .filter(Boolean)
                .join(' ')}
            </strong>{' '}
            {changeSentence(diff, before, after, measure.of)}{' '}
          </>
        )}
        {significanceSentence(diff.rows.length + diff.cut.rows, diff, largest.length > 0)}{' '}
        {largest.map(({ row, text }, at) => (
          <span key={`${row.name} ${row.binary}`}>
            {at > 0 && ', '}
            <button type="button" class="quiet diff-named" onClick={() => go({ sandwich: row.name, pane: 'flame' })}>
              {clippedText(shortName(row.name), 60)}
            </button>{' '}
            {text}
          </span>
        ))}
        {largest.length > 0 && '.'}
      </p>
      <Warnings of={{ warnings: warningsOf(diff) }} />
    </div>
  );
}

function Choice<T extends string>(props: {
  label: string;
  options: [T, string][];
  value: T;
  onChoose(value: T): void;
}) {
  return (
    <fieldset class="diff-choice">
      <legend class="hidden-text">{props.label}</legend>
      {props.options.map(([value, title]) => (
        <button key={value} type="button" aria-pressed={value === props.value} onClick={() => props.onChoose(value)}>
          {title}
        </button>
      ))}
    </fieldset>
  );
}

const panes: [Pane, string][] = [
  ['flame', 'Flame graph'],
  ['table', 'Table'],
  ['tree', 'Call tree'],
  ['both', 'Both'],
];
const scales: [Scale, string][] = [
  ['rate', 'Rate per instance'],
  ['absolute', 'Totals'],
  ['normalized', 'Shares'],
];
const filters: [ChangeFilter, string][] = [
  ['all', 'All'],
  ['new', 'New'],
  ['removed', 'Removed'],
  ['changed', 'Changed'],
  ['significant', 'Significant'],
];

export function DiffView() {
  const now = state.value;
  const { source, baseline } = now;
  const [chosen, setChosen] = useState(false);
  const canChoose = source.query !== '' && source.file === '';
  // Live comparisons move along; between refreshes the words of a range mean one time.
  const at = Date.now();
  void refreshCount.value;
  useEffect(() => {
    if (baseline || !canChoose) return;
    setChosen(true);
    amend({ baseline: presetBaseline(presets[0], source, Date.now()) });
  }, [baseline === null, canChoose]);
  const summary = useSummary();
  useCommands([
    { id: 'diff.swap', title: 'Swap the sides', group: 'Compare', keys: ['w'], run: swap },
    {
      id: 'diff.scale',
      title: 'Compare rates, totals or shares',
      group: 'Compare',
      keys: ['a'],
      run: () => {
        const at = scales.findIndex(([scale]) => scale === state.value.scale);
        go({ scale: scales[(at + 1) % scales.length][0] });
      },
    },
  ]);
  const other = baseline ?? source;
  const diff = summary.data;
  const files = useFiles(source.file !== '' || other.file !== '');
  const nameOf = (side: Source) => files.find(({ id }) => id === side.file)?.name;
  const setBaseline = (next: Source, selection: Source = source) => {
    setChosen(false);
    go({ source: selection, baseline: next, zoom: [] });
  };
  const measure = diff && measureOf(diff);
  // By share both totals are one: then each side says its own.
  const sideValue = (total: number, own: number) => {
    if (!diff || !measure) return '';
    return diff.scale === 'normalized'
      ? plainMeasure(diff.unit).value(own)
      : [measure.value(total), measure.of].join(' ').trim();
  };
  return (
    <div class="diff">
      <h1 class="hidden-text">Compare</h1>
      <div class="diff-sides">
        <Side
          title="Baseline"
          source={other}
          onChange={setBaseline}
          value={sideValue(diff?.total_before ?? 0, diff?.baseline.total ?? 0)}
          basis={diff ? sideText(diff.baseline) : ''}
          range={rangeText(diff?.baseline)}
          unit={diff?.unit ?? ''}
          type={diff?.type ?? ''}
          fileName={nameOf(other)}
        />
        <button type="button" class="diff-swap" title="Swap the sides (W)" aria-label="Swap the sides" onClick={swap}>
          ⇄
        </button>
        <Side
          title="Selection"
          source={source}
          onChange={(next) => go({ source: next, zoom: [] })}
          value={sideValue(diff?.total_after ?? 0, diff?.total ?? 0)}
          basis={diff ? sideText(diff) : ''}
          range={rangeText(diff)}
          unit={diff?.unit ?? ''}
          type={diff?.type ?? ''}
          fileName={nameOf(source)}
        />
      </div>
      <div class="diff-with">
        <PresetBar source={source} baseline={baseline} at={at} files={files} onChoose={setBaseline} />
        {chosen && (
          <p class="diff-note" role="status">
            No baseline was chosen: this compares with the window just before.
          </p>
        )}
      </div>
      {diff && baseline && <Summary diff={diff} />}
      <div class="diff-tools">
        <Choice label="Show as" options={panes} value={now.pane} onChoose={(pane) => go({ pane })} />
        <Choice label="Compare by" options={scales} value={now.scale} onChoose={(scale) => go({ scale })} />
        {now.pane !== 'flame' && now.pane !== 'tree' && (
          <Choice label="Functions" options={filters} value={now.change} onChoose={(change) => go({ change })} />
        )}
      </div>
      {!baseline ? (
        <div class="notice">
          <h2>Nothing to compare yet</h2>
          <p>
            {source.file
              ? 'Open a second file, or give the baseline a selector.'
              : 'Enter a selector for a side, or choose a service.'}
          </p>
          <button type="button" onClick={() => go({ view: 'services' })}>
            Show services
          </button>
        </div>
      ) : (
        <ServerAnswers>
          <div class={now.pane === 'both' ? 'diff-panes diff-both' : 'diff-panes'}>
            {(now.pane === 'flame' || now.pane === 'both') && <FlamePane compare />}
            {(now.pane === 'table' || now.pane === 'both') && <TablePane compare />}
            {now.pane === 'tree' && <TreePane compare />}
          </div>
        </ServerAnswers>
      )}
    </div>
  );
}
