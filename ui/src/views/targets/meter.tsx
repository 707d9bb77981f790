// A share as number and bar, with a word of warning when it is low.
export function Meter({ share, label }: { share: number | null | undefined; label: string }) {
  if (share === null || share === undefined) return <span class="muted">–</span>;
  const percent = share * 100;
  // 99.96 is not all of it.
  const text = percent >= 99.95 && percent < 100 ? '99.9' : percent.toFixed(percent >= 99.95 ? 0 : 1);
  const low = percent < 90;
  return (
    <span class={low ? 'targets-meter targets-low' : 'targets-meter'} title={`${label}: ${text} %`}>
      <span class="targets-track">
        <span class="targets-fill" style={{ width: `${Math.min(100, Math.max(0, percent)).toFixed(1)}%` }} />
      </span>
      <span class="targets-percent">
        {text} %{low && <span class="hidden-text"> (low)</span>}
      </span>
    </span>
  );
}
