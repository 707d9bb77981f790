// Says that a file is looked at and not the store, and leads back.
import { useAnswer } from '../../api/answer';
import { showDialog } from '../../parts/dialogs';
import { go, state } from '../../state/store';
import { visibleText } from '../../text/safe';
import { listFiles } from './files';
import './files.css';

export function FileBar() {
  const { source } = state.value;
  const list = useAnswer(`files ${source.file}`, listFiles);
  const file = list.data?.find(({ id }) => id === source.file);
  return (
    <div class="row files-bar">
      <span>
        File <strong>{file ? visibleText(file.name) : source.file}</strong>
        {file && <span class="muted"> · {file.format}</span>}
      </span>
      <button type="button" onClick={() => showDialog('files')}>
        Other files
      </button>
      <button
        type="button"
        onClick={() =>
          go({
            source: { query: '', from: source.from, to: source.to, file: '' },
            zoom: [],
            steps: [],
            view: 'services',
          })
        }
      >
        Back to the services
      </button>
    </div>
  );
}
