// The row that the cursor is on, in full: names are longer than columns.
import type { FrameName } from '../../api/types';
import { visibleText } from '../../text/safe';
import { placeOf } from './table_model';

export function Details({ frame }: { frame?: FrameName }) {
  return (
    <div class="table-details">
      {frame ? (
        <>
          <span class="table-details-name">{visibleText(frame.name)}</span>
          {frame.file && <span class="muted">{visibleText(placeOf(frame))}</span>}
          {frame.binary && <span class="muted">{visibleText(frame.binary)}</span>}
          {frame.kind && <span class="muted">{frame.kind}</span>}
        </>
      ) : (
        <span class="muted">Choose a row to see its whole name. Double click or S shows its callers and callees.</span>
      )}
    </div>
  );
}
