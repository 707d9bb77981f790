// The line that says all about the bar under the pointer. Its texts are bound to a signal: they change in the same frame as
// the pointer moves, without rendering anything.
import { computed, type ReadonlySignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Info } from '../engine/info';

const slots = 7;

export function DetailsLine({ info }: { info: ReadonlySignal<Info | null> }) {
  const texts = useMemo(
    () => ({
      title: computed(() => info.value?.title ?? ''),
      place: computed(() => [info.value?.place, info.value?.binary].filter(Boolean).join('  ·  ')),
      names: Array.from({ length: slots }, (_, i) => computed(() => info.value?.numbers[i]?.[0] ?? '')),
      values: Array.from({ length: slots }, (_, i) => computed(() => info.value?.numbers[i]?.[1] ?? '')),
    }),
    [info],
  );
  return (
    <div class="flame-details">
      <div class="flame-details-name">{texts.title}</div>
      <div class="flame-details-rest">
        {texts.values.map((value, i) => (
          <span key={i} class="flame-number">
            <span class="muted">{texts.names[i]}</span> <b>{value}</b>
          </span>
        ))}
        <span class="flame-details-place muted">{texts.place}</span>
      </div>
    </div>
  );
}
