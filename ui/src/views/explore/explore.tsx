// One selection, seen over time and as stacks.
import { useEffect } from 'preact/hooks';
import { useAnswer } from '../../api/answer';
import { useCoverage } from '../../api/coverage';
import { serverConfig } from '../../api/server_config';
import { compare, setBaseline } from '../../parts/compare';
import { EmptyNotice, ErrorNotice, Notice, Waiting } from '../../parts/notice';
import { PaneSwitch } from '../../parts/pane_switch';
import { RangePicker } from '../../parts/range_picker';
import { RegionChip } from '../../parts/region_chip';
import { SelectorBar } from '../../parts/selector_bar';
import { listTypes } from '../../parts/selector_lists';
import { type TypeEntry, typeEntries } from '../../parts/selector_suggest';
import { formatSelector, parseSelector, withType } from '../../state/selector';
import { amend, go, goSource, state } from '../../state/store';
import { formatCount } from '../../text/format';
import { visibleText } from '../../text/safe';
import { FileBar } from '../files/file_bar';
import { FirstRun } from '../first_run/first_run';
import { CoverageLine } from './coverage_line';
import { Panes } from './panes';
import { SampleFilters } from './sample_filters';
import { SeriesPanel } from './series_panel';
import './explore.css';

// Errors that every part of the page would say again: said once instead.
const ofAll = new Set(['bad', 'token', 'forbidden', 'nothing', 'gone']);

export function ExploreView() {
  const { source } = state.value;
  // Types of what the labels select; all of them where that says nothing.
  const labels = formatSelector({ ...parseSelector(source.query), type: '' });
  const types = useAnswer(`types ${source.from} ${source.to} ${source.file} ${labels}`, async () => {
    const matching = await listTypes(source, labels).catch(() => []);
    return typeEntries(matching.length > 0 ? matching : await listTypes(source));
  });
  const first = types.data?.[0]?.word;
  // Nothing chosen yet: the type that most people want.
  useEffect(() => {
    if (!source.query && first) amend({ source: { ...state.value.source, query: `${first}{}` } });
  }, [source.query, first]);

  const coverage = useCoverage(state.value);
  const failed = coverage.error && !coverage.data && ofAll.has(coverage.error.kind) ? coverage.error : undefined;
  const empty = coverage.data?.profiles === 0;
  const { trace, span, sampleLabels } = state.value;
  const filteredOut = Boolean(coverage.data && coverage.data.total === 0 && (trace || span || sampleLabels));
  // The field itself says where its error is.
  const shown = failed && failed.column === 0 ? failed : undefined;

  if (serverConfig.value.empty && !source.file) return <FirstRun />;
  return (
    <div class="explore">
      <h1 class="hidden-text">Explore</h1>
      {source.file && <FileBar />}
      <div class="explore-head">
        <SelectorBar source={source} onChange={(next) => go({ source: next, zoom: [] })} label="Selector" />
        {!source.file && <RangePicker source={source} onChange={(next) => go({ source: next })} label="Range" />}
      </div>
      <div class="row explore-second">
        <TypeSelect types={types.data ?? []} />
        <button type="button" title="Use this as the baseline of a comparison (b)" onClick={setBaseline}>
          Set as baseline
        </button>
        <button type="button" title="Compare with the baseline, or with the time before (Shift+C)" onClick={compare}>
          Compare
        </button>
        <SampleFilters />
        <RegionChip
          source={source}
          unit={coverage.data?.unit ?? ''}
          type={coverage.data?.type ?? ''}
          onChange={(next) => go({ source: next, zoom: [] })}
        />
      </div>
      {!failed && !empty && <SeriesPanel />}
      {shown && <ErrorNotice error={shown} />}
      {empty && <EmptyNotice source={source} />}
      {filteredOut && !empty && !failed && (
        <Notice
          title="No sample has this trace, span or label"
          action={
            <button
              type="button"
              class="primary"
              onClick={() => go({ trace: '', span: '', sampleLabels: '', zoom: [] })}
            >
              Clear these filters
            </button>
          }
        >
          {formatCount(coverage.data!.profiles)} profiles match the selector. Only profiles from programs that send
          trace context or labels with their samples have any.
        </Notice>
      )}
      {!failed && !empty && !filteredOut && source.query && (
        <>
          <div class="row explore-pane-head">
            <PaneSwitch />
            <CoverageLine answer={coverage} />
          </div>
          <Panes compare={false} />
        </>
      )}
      {!source.query && types.error && <ErrorNotice error={types.error} />}
      {!source.query &&
        !types.error &&
        (types.data?.length === 0 ? <EmptyNotice source={source} /> : <Waiting slow={types.slow} />)}
    </div>
  );
}

function TypeSelect({ types }: { types: TypeEntry[] }) {
  const { query } = state.value.source;
  const { type } = parseSelector(query);
  const known = types.some(({ word }) => word === type);
  return (
    <label class="row">
      <span class="muted">Type</span>
      <select
        class="explore-type"
        value={type}
        onChange={(event) => goSource({ query: withType(query, event.currentTarget.value) })}
      >
        {!known && <option value={type}>{visibleText(type) || 'any'}</option>}
        {types.map(({ word, detail }) => (
          <option key={word} value={word}>
            {visibleText(detail ? `${word} (${detail})` : word)}
          </option>
        ))}
      </select>
    </label>
  );
}
