// Says of services without data that their counters came once: what is stored is the difference to the next reading.
import { formatAgo, formatCount } from '../../text/format';
import { labelText } from '../../text/names';
import { visibleText } from '../../text/safe';
import type { Baseline } from './rows';

const shown = 10;

export function Baselines({ baselines }: { baselines: Baseline[] }) {
  if (baselines.length === 0) return null;
  const now = Date.now();
  return (
    <section class="services-baselines" aria-label="Baselines">
      {baselines.slice(0, shown).map((one) => (
        <p key={`${one.service_name} ${one.profile}`}>
          <strong>{labelText(one.service_name) || '(no name)'}</strong>: {formatCount(one.count)} first{' '}
          {visibleText(one.profile)} {one.count === 1 ? 'reading' : 'readings'} kept as a baseline, not stored; the next
          one is stored as a difference <span class="muted">({formatAgo(one.last_ns / 1e6, now)})</span>
        </p>
      ))}
      {baselines.length > shown && <p class="muted">{formatCount(baselines.length - shown)} more</p>}
    </section>
  );
}
