// What is below in one line: how much it is on average, what that rests on, and how far to trust it (named frames,
// complete stacks, what was lost on the way).
import type { Answer } from '../../api/answer';
import type { Coverage } from '../../api/types';
import { averageOf, countsText, coveredText, instancesText } from '../../text/basis';
import { formatCount, formatShare, formatValue } from '../../text/format';
import { visibleText } from '../../text/safe';
import { explainLoss } from './losses';

const percent = (share: number) => formatShare(share, 1);

export function CoverageLine({ answer }: { answer: Answer<Coverage> }) {
  const coverage = answer.data;
  if (!coverage || coverage.profiles === 0) return null;
  const lost = coverage.losses.reduce((sum, loss) => sum + loss.count, 0);
  const { instances: running, covered_ns, from_ns, to_ns, total: sum, unit } = coverage;
  const total = formatValue(sum, unit);
  const average = averageOf(coverage);
  const covered = coveredText(covered_ns, to_ns - from_ns);
  const instances = instancesText(running);
  const isSum = coverage.temporality === 'cumulative';
  const poor = coverage.named < 0.9 || coverage.complete < 0.9;
  return (
    <details class="explore-coverage">
      <summary>
        <strong>{average ?? total}</strong>
        <span class="muted">
          {average && ' on average'}
          {covered && ` over ${covered}`}
          {' · '}
          {instances && `${instances} · `}
          {countsText(coverage)}
          {coverage.services > 1 && ` of ${formatCount(coverage.services)} services`} ·{' '}
        </span>
        <span class={poor ? 'explore-poor' : 'muted'}>
          {poor && 'Check: '}
          {percent(coverage.named)} named, {percent(coverage.complete)} complete stacks
        </span>
        <span class="muted"> · {lost > 0 ? `${formatCount(lost)} lost` : 'nothing lost'}</span>
      </summary>
      <div class="explore-coverage-more">
        <p class="muted">
          {total}
          {isSum && ' in all'}. Averages are of the time that has data.
          {instances && ' Instances: programs that ran at once, on average.'} Named: share of the weight whose innermost
          frame has a function name ({percent(coverage.named_frames)} of all frames have one). Complete: share of the
          weight in stacks that were followed to their end.
        </p>
        {coverage.losses.length > 0 && (
          <table>
            <thead>
              <tr>
                <th scope="col">Lost</th>
                <th scope="col" class="number">
                  Count
                </th>
                <th scope="col">What it means</th>
              </tr>
            </thead>
            <tbody>
              {coverage.losses.map((loss) => (
                <tr key={loss.reason}>
                  <td>{visibleText(loss.reason)}</td>
                  <td class="number">{formatCount(loss.count)}</td>
                  <td class="muted">{explainLoss(loss.reason)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {coverage.unnamed_binaries.length > 0 && (
          <>
            <p>Binaries without names (their debug files would give them):</p>
            <ul>
              {coverage.unnamed_binaries.slice(0, 8).map((one) => (
                <li key={one.binary + one.build_id}>
                  <code>{visibleText(one.binary) || '(unknown)'}</code>{' '}
                  <span class="muted">
                    {one.build_id && `build id ${visibleText(one.build_id)}, `}
                    {formatShare(one.weight, coverage.total)}
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </details>
  );
}
