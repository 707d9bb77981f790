// The selection over time, told apart by a label: a chart for the eye, a list with buttons for everything else.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAnswer } from '../../api/answer';
import { askJson } from '../../api/client';
import { totalsParameters } from '../../api/parameters';
import type { Totals } from '../../api/types';
import { compare } from '../../parts/compare';
import { ErrorNotice } from '../../parts/notice';
import { rangeTitle } from '../../parts/range_words';
import { listLabels } from '../../parts/selector_lists';
import { toast } from '../../parts/toast';
import { withMatcher } from '../../state/selector';
import { go, goSource, state } from '../../state/store';
import { isDark } from '../../state/theme';
import { absolute, resolveRange } from '../../state/time';
import { formatCount, formatRate, formatTime, formatValue } from '../../text/format';
import { labelText } from '../../text/names';
import { visibleText } from '../../text/safe';
import type { Chart, ChartEvents } from './chart_engine';
import { seriesColor } from './series_colors';
import { type ChartData, chartData } from './stack';

const topSeries = 10;

export function SeriesPanel() {
  const { source, seriesBy, baseline } = state.value;
  const parameters = totalsParameters(state.value);
  const grouped = new URLSearchParams(parameters);
  if (seriesBy) {
    grouped.set('group_by', seriesBy);
    grouped.set('limit', String(topSeries));
  }
  const answer = useAnswer(source.query ? `totals ${grouped}` : null, async (signal) => {
    const [groups, whole] = await Promise.all([
      askJson<Totals>('totals', grouped, signal),
      seriesBy ? askJson<Totals>('totals', parameters, signal) : undefined,
    ]);
    return { groups, whole };
  });
  const [cursor, setCursor] = useState<number | null>(null);
  const totals = answer.data?.groups;
  const data = useMemo(
    () => answer.data && chartData(answer.data.groups, answer.data.whole, seriesBy),
    [answer.data, seriesBy],
  );
  const instant = totals?.temporality === 'instant';
  const format = (value: number) =>
    instant ? formatValue(value, totals?.unit ?? '') : formatRate(value, totals?.unit ?? '', totals?.type ?? '');

  const choose = (index: number, exclude: boolean) => {
    const series = data?.series[index];
    if (!series) return;
    if (series.rest) {
      toast(`The rest are ${formatCount(data.restCount)} smaller series. Choose one by its label in the selector.`);
      return;
    }
    if (!seriesBy) return;
    goSource({
      query: withMatcher(source.query, { name: seriesBy, operator: exclude ? '!=' : '=', value: series.value }),
    });
  };
  const onRange = (from: number, to: number, shift: boolean) => {
    const words = absolute({ from, to });
    if (!shift) return goSource(words);
    go({ baseline: { ...state.value.source, ...words } });
    toast('Baseline set. Compare with it, or drag without Shift to choose the other side.');
  };

  // A file without times of its own has one bucket: nothing to see over time.
  if (source.file && (!data || data.times.length < 2)) return null;
  return (
    <section class="explore-series" aria-label="Over time">
      <div class="row explore-series-head">
        <h2>{totals ? `${visibleText(totals.type)} over time` : 'Over time'}</h2>
        <GroupSelect />
        <span class="muted explore-cursor">
          {data && cursor !== null && formatTime(data.times[cursor])}
          {data && cursor !== null && !seriesBy && ` · ${valueText(data.series[0]?.values[cursor], format)}`}
        </span>
        {baseline && (
          <span class="explore-baseline row">
            <span class="explore-hatch" aria-hidden="true" />
            <span>
              Baseline: {baseline.query !== source.query && <code>{visibleText(baseline.query)}</code>}{' '}
              {rangeTitle(baseline, Date.now())}
            </span>
            <button type="button" class="primary" onClick={compare}>
              Compare
            </button>
            <button type="button" class="quiet" onClick={() => go({ baseline: null })}>
              Clear
            </button>
          </span>
        )}
      </div>
      {answer.error && !data && answer.error.kind !== 'bad' && <ErrorNotice error={answer.error} />}
      {data && data.series.length > 0 && (
        <div class={seriesBy ? 'explore-series-body' : ''}>
          <ChartBox data={data} format={format} events={{ onRange, onSeries: choose, onCursor: setCursor }} />
          {seriesBy && <Legend data={data} label={seriesBy} format={format} cursor={cursor} choose={choose} />}
        </div>
      )}
      {!data && !answer.error && (
        <div class="explore-chart explore-chart-empty muted">{answer.slow && 'Loading …'}</div>
      )}
      {data && <Summary data={data} label={seriesBy} format={format} />}
    </section>
  );
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? 'no data' : format(value);
}

function GroupSelect() {
  const { source, seriesBy } = state.value;
  const labels = useAnswer(
    source.query ? `labels ${source.from} ${source.to} ${source.file} ${source.query}` : null,
    () => listLabels(source, source.query),
  );
  const names = [...new Set([...(labels.data ?? []), ...(seriesBy ? [seriesBy] : [])])].filter(
    (name) => !name.startsWith('__') || name === seriesBy,
  );
  return (
    <label class="row">
      <span class="muted">by</span>
      <select value={seriesBy} onChange={(event) => go({ seriesBy: event.currentTarget.value })}>
        <option value="">nothing (the sum)</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {visibleText(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface BoxProps {
  data: ChartData;
  format(value: number): string;
  events: ChartEvents;
}

function ChartBox({ data, format, events }: BoxProps) {
  const { source, baseline } = state.value;
  const element = useRef<HTMLDivElement>(null);
  const engine = useRef<{ update(chart: Chart): void; destroy(): void }>(undefined);
  const latest = useRef(events);
  latest.current = events;
  const dark = isDark();
  const now = Date.now();
  const range = resolveRange(source, now);
  if (source.file && data.times.length > 0) {
    range.from = data.times[0];
    range.to = data.times[data.times.length - 1] + data.step;
  }
  const style = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const chart = (): Chart => ({
    ...range,
    data,
    format,
    baseline: baseline && !baseline.file ? resolveRange(baseline, now) : null,
    colors: {
      series: data.series.map((series, index) => seriesColor(index, series.rest, dark)),
      text: style('--text-2'),
      grid: style('--line'),
      mark: style('--text'),
    },
  });
  const wanted = useRef(chart);
  wanted.current = chart;
  useEffect(() => {
    let gone = false;
    import('./chart_engine').then(({ makeChart }) => {
      if (gone || !element.current) return;
      engine.current = makeChart(element.current, wanted.current(), {
        onRange: (...all) => latest.current.onRange(...all),
        onSeries: (...all) => latest.current.onSeries(...all),
        onCursor: (index) => latest.current.onCursor(index),
      });
    });
    return () => {
      gone = true;
      engine.current?.destroy();
    };
  }, []);
  useEffect(() => {
    engine.current?.update(chart());
  }, [data, dark, source, baseline]);
  return (
    <div
      class="explore-chart"
      ref={element}
      role="img"
      aria-label="Chart of the series. The list beside it and the summary below have the same data; choose the range above."
    />
  );
}

interface LegendProps {
  data: ChartData;
  label: string;
  format(value: number): string;
  cursor: number | null;
  choose(index: number, exclude: boolean): void;
}

function Legend({ data, label, format, cursor, choose }: LegendProps) {
  const dark = isDark();
  return (
    <ul class="explore-legend" aria-label={`Series by ${visibleText(label)}`}>
      {data.series.map((series, index) => {
        const name = series.rest
          ? `rest (${formatCount(data.restCount)})`
          : labelText(series.value) || `(no ${visibleText(label)})`;
        const value = cursor === null ? series.average : series.values[cursor];
        const swatch = { background: seriesColor(index, series.rest, dark) };
        return (
          <li key={`${series.rest} ${series.value}`}>
            <span class="explore-swatch" style={swatch} aria-hidden="true" />
            {!series.rest ? (
              <>
                <button
                  type="button"
                  class="quiet explore-legend-name"
                  title={`Only ${name} (Alt: all but it)`}
                  onClick={(event) => choose(index, event.altKey)}
                >
                  <span class="hidden-text">Only </span>
                  {name}
                </button>
                <button
                  type="button"
                  class="quiet explore-legend-not"
                  aria-label={`Exclude ${name}`}
                  title={`All but ${name}`}
                  onClick={() => choose(index, true)}
                >
                  ≠
                </button>
              </>
            ) : (
              <span class="explore-legend-name">{name}</span>
            )}
            <span class="number">{value === null ? '–' : format(value)}</span>
          </li>
        );
      })}
    </ul>
  );
}

// The chart in words and, on request, in numbers.
function Summary({ data, label, format }: { data: ChartData; label: string; format(value: number): string }) {
  const [open, setOpen] = useState(false);
  const largest = data.series.toSorted((a, b) => b.average - a.average)[0];
  if (!largest) return null;
  const name = (series: (typeof data.series)[number]) =>
    series.rest ? 'the rest' : label ? labelText(series.value) || `no ${label}` : 'all';
  const shown = data.series.length + (data.restCount > 0 ? data.restCount - 1 : 0);
  return (
    <details class="explore-summary" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="muted">
          {label
            ? `${formatCount(shown)} series by ${visibleText(label)}; largest ${name(largest)} with ${format(largest.average)} on average, `
            : `${format(largest.average)} on average, `}
          peak {format(largest.peak)} at {formatTime(data.times[largest.peakIndex]).slice(11)}
        </span>
      </summary>
      {open && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <section class="explore-numbers" tabIndex={0} aria-label="Values over time">
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {data.series.map((series) => (
                  <th key={`${series.rest} ${series.value}`} scope="col" class="number">
                    {name(series)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data.times.map((time, index) => (
                <tr key={time}>
                  <th scope="row">{formatTime(time)}</th>
                  {data.series.map((series) => {
                    const value = series.values[index];
                    return (
                      <td key={`${series.rest} ${series.value}`} class="number">
                        {value === null ? '–' : format(value)}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  );
}
