// Who sends profiles, how well that goes, and what is missing: a profiler should show its own health.
import type { ComponentChildren } from 'preact';
import { useAnswer } from '../../api/answer';
import { askJson } from '../../api/client';
import type { Loss } from '../../api/types';
import { ErrorNotice } from '../../parts/notice';
import { RangePicker } from '../../parts/range_picker';
import { goSource, state } from '../../state/store';
import { formatAgo, formatCount, formatValue } from '../../text/format';
import { visibleText } from '../../text/safe';
import { isSilent, reasonWords } from './advice';
import type { Agent, Agents, LocalAgent, Target, Targets } from './answers';
import { CoverageOf } from './coverage_of';
import { Meter } from './meter';
import './targets.css';

function Losses({ losses }: { losses: Loss[] }) {
  const real = losses.filter((loss) => loss.count > 0).sort((a, b) => b.count - a.count);
  if (real.length === 0) return <span class="muted">none</span>;
  return (
    <ul class="targets-losses">
      {real.map((loss) => (
        <li key={loss.reason}>
          {formatCount(loss.count)} <span class="muted">{visibleText(reasonWords(loss.reason))}</span>
        </li>
      ))}
    </ul>
  );
}

function Table({ label, headings, children }: { label: string; headings: string[]; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, also by key
    <section class="targets-scroll" aria-label={label} tabIndex={0}>
      <table class="targets-table">
        <thead>
          <tr>
            {headings.map((heading) => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

function rateText(hertz: number | undefined): string {
  return hertz ? `${Number(hertz.toFixed(1))} Hz` : '–';
}

function AgentRow({ agent, now }: { agent: Agent; now: number }) {
  const silent = isSilent(agent.last_ns, now);
  return (
    <tr>
      <th scope="row">
        {visibleText(agent.host) || <span class="muted">no host label</span>}
        {agent.agent && <div class="muted targets-small">{visibleText(agent.agent)}</div>}
      </th>
      <td>
        <span class={silent ? 'targets-silent' : 'targets-alive'}>{silent ? '○ silent' : '● sends'}</span>
        <div class="muted targets-small">{formatAgo(agent.last_ns / 1e6, now)}</div>
      </td>
      <td class="number">{rateText(agent.rate_hz)}</td>
      <td>
        <Meter share={agent.complete} label="Complete stacks" />
      </td>
      <td>
        <Meter share={agent.named} label="Named where time is spent" />
      </td>
      <td>
        <Losses losses={agent.losses} />
      </td>
      <td class="number">{formatCount(agent.services)}</td>
      <td class="muted">{agent.types.map(visibleText).join(', ')}</td>
      <td class="number">{formatCount(agent.profiles)}</td>
    </tr>
  );
}

function Figure({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="targets-figure">
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Local({ local }: { local: LocalAgent }) {
  const { rate_hz: rate, rate_configured_hz: wanted } = local;
  return (
    <section class="targets-card" aria-labelledby="targets-local">
      <h2 id="targets-local">The agent of this process</h2>
      <dl class="targets-figures">
        <Figure title="Sampling rate">
          {rateText(rate)}
          {rate && wanted && rate < wanted ? (
            <div class="targets-silent targets-small">of {rateText(wanted)}: lowered to keep its budget</div>
          ) : null}
        </Figure>
        {local.cpu_share !== undefined && (
          <Figure title="Own CPU">
            {(local.cpu_share * 100).toFixed(2)} % of a core
            {local.cpu_budget ? (
              <div class="muted targets-small">{(local.cpu_budget * 100).toFixed(0)} % are allowed</div>
            ) : null}
          </Figure>
        )}
        {local.memory_bytes !== undefined && (
          <Figure title="Memory of the process">{formatValue(local.memory_bytes, 'bytes')}</Figure>
        )}
        {local.processes !== undefined && <Figure title="Processes">{formatCount(local.processes)}</Figure>}
        {local.samples !== undefined && <Figure title="Samples">{formatCount(local.samples)}</Figure>}
        <Figure title="Losses">
          <Losses losses={local.losses ?? []} />
        </Figure>
        {local.troubles?.some(({ count }) => count > 0) && (
          <Figure title="Problems without loss">
            <Losses losses={local.troubles ?? []} />
          </Figure>
        )}
        {local.exporters?.map((exporter) => (
          <Figure key={exporter.name} title={`To ${exporter.name}`}>
            {formatCount(exporter.sent)} sent
            {exporter.queued > 0 && `, ${formatCount(exporter.queued)} waiting`}
            {exporter.failed > 0 && <span class="targets-silent">, {formatCount(exporter.failed)} failed</span>}
            {exporter.last_error && <div class="targets-silent targets-small">{visibleText(exporter.last_error)}</div>}
          </Figure>
        ))}
        {local.uptime_s !== undefined && (
          <Figure title="Uptime">{formatValue(local.uptime_s * 1e9, 'nanoseconds')}</Figure>
        )}
        {local.version && <Figure title="Version">{visibleText(local.version)}</Figure>}
      </dl>
      {local.problems?.map((problem) => (
        <p key={problem} class="targets-problem">
          {visibleText(problem)}
        </p>
      ))}
    </section>
  );
}

function AgentList() {
  const { from, to } = state.value.source;
  const parameters = new URLSearchParams({ from, to });
  const answer = useAnswer<Agents>(`agents?${parameters}`, (signal) => askJson<Agents>('agents', parameters, signal));
  const now = Date.now();
  if (answer.error && !answer.data) return <ErrorNotice error={answer.error} />;
  if (!answer.data) return <p class="muted">{answer.slow ? 'Counting …' : ''}</p>;
  const { agents, local, cut } = answer.data;
  return (
    <>
      {local && <Local local={local} />}
      <section>
        <h2>Hosts that sent profiles</h2>
        {agents.length === 0 ? (
          <div class="notice">
            <h2>Nobody sent profiles in this range</h2>
            <p>Start an agent on each host, or widen the range:</p>
            <pre>sudo vesta agent --server {location.origin}</pre>
          </div>
        ) : (
          <Table
            label="Hosts that sent profiles"
            headings={[
              'Host',
              'Last seen',
              'Rate',
              'Complete stacks',
              'Named code',
              'Losses',
              'Services',
              'Types',
              'Profiles',
            ]}
          >
            {agents.map((agent) => (
              <AgentRow key={`${agent.host} ${agent.agent}`} agent={agent} now={now} />
            ))}
          </Table>
        )}
        {cut.agents > 0 && <p class="muted">{formatCount(cut.agents)} more hosts are not shown.</p>}
      </section>
    </>
  );
}

function TargetRow({ target, now }: { target: Target; now: number }) {
  const isUp = target.health === 'up';
  return (
    <tr>
      <th scope="row">{visibleText(target.job)}</th>
      <td class="mono targets-url">{visibleText(target.url)}</td>
      <td>{visibleText(target.profile)}</td>
      <td>
        <span class={isUp ? 'targets-alive' : 'targets-silent'}>
          {isUp ? '● ' : '○ '}
          {visibleText(target.health)}
        </span>
        {target.last_error && <div class="targets-small">{visibleText(target.last_error)}</div>}
      </td>
      <td>{target.last_scrape_ns ? formatAgo(target.last_scrape_ns / 1e6, now) : 'never'}</td>
      <td class="number">{formatValue(target.last_duration_ns, 'nanoseconds')}</td>
      <td class="number">
        {formatCount(target.failures)} of {formatCount(target.scrapes)}
      </td>
    </tr>
  );
}

function Scraped() {
  const answer = useAnswer<Targets>('targets', (signal) => askJson<Targets>('targets', new URLSearchParams(), signal));
  const now = Date.now();
  const heading = <h2>Scrape targets</h2>;
  if (answer.error && !answer.data) {
    if (answer.error.kind === 'forbidden' || answer.error.kind === 'token') {
      return (
        <section>
          {heading}
          <p class="muted">
            Only a token with the scope <code>admin</code> may see these: addresses of other machines are in them.
            Everything else on this page is complete.
          </p>
        </section>
      );
    }
    return (
      <section>
        {heading}
        <ErrorNotice error={answer.error} />
      </section>
    );
  }
  if (!answer.data) return null;
  const { targets, problems } = answer.data;
  return (
    <section>
      {heading}
      {problems.map((problem) => (
        <p key={problem} class="targets-problem">
          {visibleText(problem)}
        </p>
      ))}
      {targets.length === 0 ? (
        <p class="muted">
          None. With <code>scrape</code> in its configuration the server fetches pprof from programs that serve it.
        </p>
      ) : (
        <Table
          label="Scrape targets"
          headings={['Job', 'Address', 'Profile', 'Health', 'Last scraped', 'Took', 'Failures']}
        >
          {targets.map((target) => (
            <TargetRow key={`${target.job} ${target.url} ${target.profile}`} target={target} now={now} />
          ))}
        </Table>
      )}
    </section>
  );
}

export function TargetsView() {
  const { source } = state.value;
  return (
    <div class="targets">
      <div class="targets-head">
        <h1>Targets</h1>
        <RangePicker source={source} onChange={goSource} label="Range" />
      </div>
      <AgentList />
      <CoverageOf />
      <Scraped />
    </div>
  );
}
