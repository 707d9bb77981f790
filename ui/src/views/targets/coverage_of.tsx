// How much of one service's profiles has names and ends, which binaries spoil it, and what to do about each.
import { useAnswer } from '../../api/answer';
import { askJson } from '../../api/client';
import { sourceParameters } from '../../api/parameters';
import type { Coverage } from '../../api/types';
import { ErrorNotice } from '../../parts/notice';
import { labelValue, parseSelector, withMatcher, withType } from '../../state/selector';
import { go, state } from '../../state/store';
import { formatCount, formatShare } from '../../text/format';
import { labelText } from '../../text/names';
import { mainType } from '../../text/profile_types';
import { visibleText } from '../../text/safe';
import { markAdvice, namesAdvice, reasonWords } from './advice';
import { Meter } from './meter';

function chooseService(name: string) {
  const { source } = state.value;
  const typed = parseSelector(source.query).type ? source.query : withType(source.query, mainType.word);
  const query = withMatcher(typed, { name: 'service_name', operator: '=', value: name });
  go({ source: { ...source, query, file: '' } });
}

function ServiceChoice() {
  const { source } = state.value;
  const { from, to } = source;
  const parameters = new URLSearchParams({ from, to, limit: '1000' });
  const answer = useAnswer<{ values: string[] }>(`values/service_name?${parameters}`, (signal) =>
    askJson('values/service_name', parameters, signal),
  );
  const current = labelValue(source.query, 'service_name');
  const values = answer.data?.values ?? [];
  const all = current && !values.includes(current) ? [current, ...values] : values;
  return (
    <label class="targets-choice">
      <span class="muted">Service</span>
      <select
        value={current}
        onChange={(event) => {
          if (event.currentTarget.value) chooseService(event.currentTarget.value);
        }}
      >
        <option value="">choose one …</option>
        {all.map((name) => (
          <option key={name} value={name}>
            {labelText(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Report({ coverage }: { coverage: Coverage }) {
  const { total } = coverage;
  return (
    <>
      <dl class="targets-figures">
        <div class="targets-figure">
          <dt>Complete stacks</dt>
          <dd>
            <Meter share={coverage.complete} label="Complete stacks" />
          </dd>
        </div>
        <div class="targets-figure">
          <dt>Named where time is spent</dt>
          <dd>
            <Meter share={coverage.named} label="Named innermost frames" />
          </dd>
        </div>
        <div class="targets-figure">
          <dt>Named frames in all</dt>
          <dd>
            <Meter share={coverage.named_frames} label="Named frames" />
          </dd>
        </div>
        {coverage.losses
          .filter((loss) => loss.count > 0)
          .map((loss) => (
            <div class="targets-figure" key={loss.reason}>
              <dt>Lost: {visibleText(reasonWords(loss.reason))}</dt>
              <dd>{formatCount(loss.count)}</dd>
            </div>
          ))}
      </dl>
      {coverage.unnamed_binaries.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, also by key
        <section class="targets-scroll" aria-label="Binaries without names" tabIndex={0}>
          <table class="targets-table">
            <thead>
              <tr>
                <th scope="col">Binary without names</th>
                <th scope="col" title="Share of the weight of stacks that go through it">
                  In stacks
                </th>
                <th scope="col">Build id</th>
                <th scope="col">What to do</th>
              </tr>
            </thead>
            <tbody>
              {coverage.unnamed_binaries.map(({ binary, build_id: buildId, weight }) => (
                <tr key={`${binary} ${buildId}`}>
                  <th scope="row" class="mono targets-url">
                    {visibleText(binary) || '(no file)'}
                  </th>
                  <td class="number">{formatShare(Math.min(weight, total), total)}</td>
                  <td class="mono muted" title={visibleText(buildId)}>
                    {visibleText(buildId.slice(0, 12)) || '–'}
                  </td>
                  <td class="targets-advice">{visibleText(namesAdvice(binary, buildId))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {coverage.marks.map(({ name, weight }) => (
        <p key={name} class="targets-mark">
          <code>{visibleText(name)}</code> {formatShare(weight, total)} <span class="muted">{markAdvice(name)}</span>
        </p>
      ))}
    </>
  );
}

export function CoverageOf() {
  const { source } = state.value;
  const service = labelValue(source.query, 'service_name');
  const parameters = sourceParameters({ ...source, file: '' });
  const answer = useAnswer<Coverage>(service ? `coverage?${parameters}` : null, (signal) =>
    askJson<Coverage>('coverage', parameters, signal),
  );
  return (
    <section class="targets-card" aria-labelledby="targets-coverage">
      <div class="targets-head">
        <h2 id="targets-coverage">Coverage</h2>
        <ServiceChoice />
        {service && <code class="muted">{visibleText(source.query)}</code>}
      </div>
      {!service && <p class="muted">Choose a service to see which of its code has no names, and why.</p>}
      {answer.error && !answer.data && <ErrorNotice error={answer.error} />}
      {service && answer.data && <Report coverage={answer.data} />}
    </section>
  );
}
