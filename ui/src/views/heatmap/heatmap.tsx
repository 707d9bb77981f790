// Where in time and rate profiles are, or where in each second samples are. A region becomes a flame graph, two regions
// a comparison.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAnswer } from '../../api/answer';
import { askJson } from '../../api/client';
import { useCoverage } from '../../api/coverage';
import { sampleParameters, sourceParameters } from '../../api/parameters';
import { ErrorNotice } from '../../parts/notice';
import { RangePicker } from '../../parts/range_picker';
import { SearchBox } from '../../parts/search_box';
import { SelectorBar } from '../../parts/selector_bar';
import { Warnings } from '../../parts/warnings';
import type { HeatmapKind, State } from '../../state/state';
import { go, goSource, state } from '../../state/store';
import { isDark } from '../../state/theme';
import { resolveRange } from '../../state/time';
import { countsText } from '../../text/basis';
import { formatCount, formatShare, formatValue } from '../../text/format';
import { matchOf, serverExpression } from '../../text/match';
import { columnSeconds, type Heatmap, type Region, regionSource } from './geometry';
import './heatmap.css';
import { HeatmapCanvas } from './heatmap_canvas';
import { colorAt, css, dark, legendSteps, light, strength } from './palette';
import { regionText } from './readout';

const mostColumns = 300;
const valueRows = 40;
const offsetRows = 50;

function question(now: State): URLSearchParams {
  const parameters = sampleParameters(now, sourceParameters(now.source));
  const range = resolveRange(now.source, Date.now());
  parameters.set('kind', now.heatmap);
  parameters.set('rows', String(now.heatmap === 'value' ? valueRows : offsetRows));
  if (!now.source.file) parameters.set('step', `${columnSeconds(range.to - range.from, mostColumns)}s`);
  const expression = matchOf(now.search).error ? '' : serverExpression(now.search);
  if (expression) parameters.set('match', expression);
  return parameters;
}

function Legend({ map }: { map: Heatmap }) {
  const palette = isDark() ? dark : light;
  const most = map.cells.reduce((largest, cell) => Math.max(largest, cell[2]), 0);
  if (most === 0) return null;
  const steps = [...new Set(legendSteps(most))];
  const text = (value: number) => (map.cells_are === 'weight' ? formatValue(value, map.unit) : formatCount(value));
  return (
    <ul class="heatmap-legend" aria-label={map.cells_are === 'weight' ? 'Weight in a cell' : 'Profiles in a cell'}>
      {steps.map((value) => (
        <li key={value}>
          <span class="heatmap-swatch" style={{ backgroundColor: css(colorAt(palette, strength(value, most))) }} />
          {text(value)}
        </li>
      ))}
      {map.matched && (
        <li>
          <span class="heatmap-swatch heatmap-lit" style={{ backgroundColor: css(palette.lit) }} />
          found by the search
        </li>
      )}
    </ul>
  );
}

// Old agents and most files keep no time for each sample; some clients do not say how long a profile took.
function NoTimes({ map }: { map: Heatmap }) {
  if (map.left_out === 0) return null;
  if (map.cells.length > 0) {
    const share = formatShare(map.left_out, map.left_out + map.cell_total);
    return (
      <p class="heatmap-note">
        {share} of the weight {map.kind === 'offset' ? 'has no time' : 'is of profiles without a duration'} and is not
        in this map.
      </p>
    );
  }
  if (map.kind !== 'offset') return null;
  return (
    <div class="notice">
      <h2>These samples have no timestamps</h2>
      <p>
        Without a time for each sample there are no offsets to show. The server keeps times of what it receives from now
        on when its configuration has <code>server.keep_timestamps: true</code>; files often have sums only.
      </p>
      <button type="button" onClick={() => go({ heatmap: 'value' })}>
        Show time by value
      </button>
    </div>
  );
}

interface Chosen {
  first: Region | null;
  second: Region | null;
}

function Actions({ map, chosen, onClear }: { map: Heatmap; chosen: Chosen; onClear(): void }) {
  const { first, second } = chosen;
  const { source } = state.value;
  return (
    <div class="heatmap-actions">
      <div class="heatmap-chosen">
        <span class="heatmap-key" aria-hidden="true" />
        <span>{first ? `Region: ${regionText(map, first)}` : 'Drag over cells to choose a region.'}</span>
        {first && (
          <button
            type="button"
            class="primary"
            onClick={() => go({ view: 'explore', source: regionSource(map, first, source), zoom: [] })}
          >
            Flame graph of this
          </button>
        )}
      </div>
      {first && (
        <div class="heatmap-chosen">
          <span class="heatmap-key heatmap-second" aria-hidden="true" />
          <span>
            {second ? `Baseline: ${regionText(map, second)}` : 'Drag with Shift for a second region to compare with.'}
          </span>
          {second && (
            <button
              type="button"
              onClick={() =>
                go({
                  view: 'diff',
                  source: regionSource(map, first, source),
                  baseline: regionSource(map, second, source),
                  zoom: [],
                })
              }
            >
              Compare
            </button>
          )}
          <button type="button" class="quiet" onClick={onClear}>
            Clear
          </button>
        </div>
      )}
    </div>
  );
}

const kinds: [HeatmapKind, string][] = [
  ['value', 'Time × value'],
  ['offset', 'Time × offset'],
];

export function HeatmapView() {
  const now = state.value;
  const [chosen, setChosen] = useState<Chosen>({ first: null, second: null });
  const [toSecond, setToSecond] = useState(false);
  const parameters = question(now);
  const coverage = useCoverage(now);
  const key = now.source.query || now.source.file ? `heatmap?${parameters}` : null;
  const answer = useAnswer<Heatmap>(key, (signal) => askJson<Heatmap>('heatmap', parameters, signal));
  // A region is of the map that it was drawn on: live refresh waits until it is gone.
  const held = useRef<Heatmap | undefined>(undefined);
  if (!chosen.first || answer.data?.kind !== held.current?.kind) held.current = answer.data;
  const map = held.current;
  useEffect(() => {
    setChosen({ first: null, second: null });
    setToSecond(false);
  }, [now.heatmap, now.source, now.search]);
  const open = () => {
    if (map && chosen.first) go({ view: 'explore', source: regionSource(map, chosen.first, now.source), zoom: [] });
  };
  return (
    <div class="heatmap">
      <h1 class="hidden-text">Heatmap</h1>
      <div class="heatmap-source">
        <SelectorBar source={now.source} onChange={goSource} label="Selector" />
        <RangePicker source={now.source} onChange={goSource} label="Range" />
      </div>
      <div class="heatmap-tools">
        <fieldset class="heatmap-kinds">
          <legend class="hidden-text">Kind of heat map</legend>
          {kinds.map(([kind, title]) => (
            <button key={kind} type="button" aria-pressed={now.heatmap === kind} onClick={() => go({ heatmap: kind })}>
              {title}
            </button>
          ))}
        </fieldset>
        <SearchBox label="Highlight cells with stacks that have" />
        {answer.slow && <span class="muted">loading</span>}
        {coverage.data && <span class="muted">{countsText(coverage.data)}</span>}
        {map && <Legend map={map} />}
      </div>
      {!key && (
        <div class="notice">
          <h2>Nothing chosen yet</h2>
          <p>Say in the selector what to look at, or choose a service.</p>
          <button type="button" onClick={() => go({ view: 'services' })}>
            Show services
          </button>
        </div>
      )}
      {answer.error && !map && <ErrorNotice error={answer.error} />}
      {map && map.cells.length === 0 && (map.kind === 'value' || map.left_out === 0) && (
        <div class="notice">
          <h2>No profiles in this range</h2>
          <button type="button" onClick={() => goSource({ from: 'now-1d', to: 'now' })}>
            Show the last day
          </button>
        </div>
      )}
      {map && map.cells.length > 0 && (
        <>
          <Warnings of={coverage.data} />
          <HeatmapCanvas
            map={map}
            first={chosen.first}
            second={chosen.second}
            toSecond={toSecond && chosen.first !== null}
            onSelect={(region, second) =>
              setChosen((before) =>
                second && before.first ? { ...before, second: region } : { first: region, second: before.second },
              )
            }
            onOpen={open}
          />
          <Actions map={map} chosen={chosen} onClear={() => setChosen({ first: null, second: null })} />
          <p id="heatmap-help" class="heatmap-help muted">
            Arrows move, with Ctrl by ten; Shift extends a region, Space chooses a cell, Enter opens its flame graph.{' '}
            {chosen.first && (
              <label>
                <input
                  type="checkbox"
                  checked={toSecond}
                  onChange={(event) => setToSecond(event.currentTarget.checked)}
                />{' '}
                Next region is the baseline
              </label>
            )}
          </p>
        </>
      )}
      {map && <NoTimes map={map} />}
    </div>
  );
}
