// A source file with what each line costs. Where the server does not have the text, the lines that cost something.
import { useEffect, useMemo } from 'preact/hooks';
import { useAnswer } from '../../api/answer';
import { askJson } from '../../api/client';
import { reportParameters } from '../../api/parameters';
import type { Top } from '../../api/types';
import { copyText } from '../../parts/clipboard';
import { useCommands } from '../../parts/commands/commands';
import { ErrorNotice } from '../../parts/notice';
import { Bar } from '../../parts/table/bar';
import type { Column } from '../../parts/table/columns';
import { Grid, rowHeight } from '../../parts/table/grid';
import { allRows } from '../../parts/table/sort';
import { Warnings } from '../../parts/warnings';
import type { State } from '../../state/state';
import { amend, go, linkTo, state } from '../../state/store';
import { countsText } from '../../text/basis';
import { formatShare, formatValue } from '../../text/format';
import { visibleText } from '../../text/safe';
import { type Left, languageOf, lexLine, type Token } from './lexer';
import './source.css';
import {
  editorLink,
  hotPlaces,
  nextHot,
  type SourceAnswer,
  type SourceLine,
  selfWithoutLine,
  sourceLines,
} from './source_model';

// Beyond this, colours cost more than they are worth.
const mostLexed = 20_000;
const characterWidth = 7.6;

function question(now: State): URLSearchParams {
  const parameters = reportParameters({ ...now, group: 'function' });
  parameters.set('source_file', now.sourceFile);
  return parameters;
}

function lexed(lines: readonly SourceLine[], file: string): Token[][] {
  if (lines.length > mostLexed) return [];
  const language = languageOf(file);
  let left: Left = null;
  return lines.map(({ text }) => {
    const result = lexLine(text ?? '', language, left);
    left = result.left;
    return result.tokens;
  });
}

function columnsOf(lines: readonly SourceLine[], unit: string, hot: ReadonlySet<number>, tokens: Token[][]): Column[] {
  const most = (value: (line: SourceLine) => number) => lines.reduce((max, line) => Math.max(max, value(line)), 1);
  const mostSelf = most((line) => line.self);
  const mostTotal = most((line) => line.total);
  const longest = lines.reduce((max, line) => Math.max(max, line.text?.length ?? 0), 0);
  const weight = (value: number, largest: number) =>
    value === 0 ? '' : <Bar text={formatValue(value, unit)} part={value / largest} />;
  const columns: Column[] = [
    { id: 'self', title: 'Self', width: 92, end: true, cell: (row) => weight(lines[row].self, mostSelf) },
    { id: 'total', title: 'Total', width: 92, end: true, cell: (row) => weight(lines[row].total, mostTotal) },
    {
      id: 'line',
      title: 'Line',
      width: 76,
      end: true,
      cell: (row) => (
        <span class="source-number">
          {hot.has(row) && (
            <>
              <span class="source-hot" aria-hidden="true">
                ▶
              </span>
              <span class="hidden-text">hot line </span>
            </>
          )}
          {lines[row].line}
        </span>
      ),
    },
  ];
  if (lines.some((line) => line.text !== undefined)) {
    columns.push({
      id: 'text',
      title: 'Source',
      width: Math.min(2400, Math.max(360, Math.round(longest * characterWidth))),
      grow: true,
      cell: (row) => (
        <code class="source-text">
          {tokens[row]
            ? tokens[row].map((token, i) => (
                <span key={i} class={token.kind === 'text' ? undefined : `source-${token.kind}`}>
                  {visibleText(token.text.replaceAll('\t', '    '))}
                </span>
              ))
            : visibleText((lines[row].text ?? '').replaceAll('\t', '    '))}
        </code>
      ),
    });
  } else {
    columns.push({ id: 'text', title: '', width: 20, grow: true, cell: () => '' });
  }
  return columns;
}

function Unreachable({ answer }: { answer: SourceAnswer }) {
  const folder = answer.file.slice(0, answer.file.lastIndexOf('/')) || '/build/app';
  return (
    <details class="source-missing" open>
      <summary>The text of this file is not here{answer.reason ? `: ${visibleText(answer.reason)}` : ''}</summary>
      <p>
        Below are its lines that cost something. To see the text, tell the server in which folder the sources are, and
        which prefix of recorded paths stands for it:
      </p>
      <pre>
        {`server:\n  sources:\n    - prefix: ${visibleText(folder)}\n      folder: /srv/src/${visibleText(folder.slice(folder.lastIndexOf('/') + 1))}`}
      </pre>
    </details>
  );
}

function File({ answer }: { answer: SourceAnswer }) {
  const now = state.value;
  const lines = useMemo(() => sourceLines(answer), [answer]);
  const hot = useMemo(() => hotPlaces(lines), [lines]);
  const columns = useMemo(
    () => columnsOf(lines, answer.unit, new Set(hot), lexed(lines, answer.file)),
    [lines, hot, answer],
  );
  const rows = useMemo(() => allRows(lines.length), [lines]);
  const asked = lines.findIndex((line) => line.line === now.sourceLine);
  const cursor = asked >= 0 ? asked : -1;
  const config = useAnswer<{ editor_link?: string }>('config', (signal) =>
    askJson('config', new URLSearchParams(), signal),
  );
  const at = (place: number) => {
    if (lines[place]) amend({ sourceLine: lines[place].line });
  };
  const jump = (step: 1 | -1) => at(nextHot(hot, cursor, step));
  // The first look goes to where it hurts most.
  useEffect(() => {
    if (now.sourceLine === 0 && hot.length > 0) {
      at(hot.reduce((best, place) => (lines[place].self > lines[best].self ? place : best), hot[0]));
    }
  }, [lines]);
  const place = `${answer.file}${now.sourceLine ? `:${now.sourceLine}` : ''}`;
  const copy = () => copyText(place, 'File and line copied');
  const editor = editorLink(config.data?.editor_link ?? '', answer.file, now.sourceLine || 1);
  useCommands([
    { id: 'source.next', title: 'Next hot line', group: 'Source', keys: ['n'], run: () => jump(1) },
    { id: 'source.previous', title: 'Previous hot line', group: 'Source', keys: ['Shift+N'], run: () => jump(-1) },
    { id: 'source.copy', title: 'Copy file and line', group: 'Source', run: copy },
  ]);
  const lost = selfWithoutLine(answer);
  const self = answer.weights.reduce((sum, weight) => sum + weight.self, 0);
  return (
    <>
      <div class="source-tools">
        <button type="button" onClick={() => jump(-1)} disabled={hot.length === 0} title="Shift+N">
          Previous hot line
        </button>
        <button type="button" onClick={() => jump(1)} disabled={hot.length === 0} title="N">
          Next hot line
        </button>
        <button type="button" onClick={copy}>
          Copy file:line
        </button>
        {editor && <a href={editor}>Open in the editor</a>}
        <span class="muted source-sum">
          {formatValue(self, answer.unit)} self in this file, {formatShare(self, answer.total)} of all
          {lost > 0 && `; ${formatValue(lost, answer.unit)} of it on unknown lines`} · {countsText(answer)}
        </span>
      </div>
      <Warnings of={answer} />
      {!answer.reachable && <Unreachable answer={answer} />}
      <div class="source-grid" style={{ maxHeight: `${lines.length * rowHeight + 34}px` }}>
        <Grid
          label={`Lines of ${visibleText(answer.file)}`}
          columns={columns}
          rows={rows}
          cursor={cursor}
          onCursor={at}
          selected={(row) => row === cursor}
          rowClass={(row) => (hot.includes(row) ? 'source-hot-row' : '')}
          onKey={(event) => {
            if (event.key !== 'n' && event.key !== 'N') return false;
            jump(event.key === 'n' ? 1 : -1);
            return true;
          }}
          empty="No line of this file is in the selection."
        />
      </div>
    </>
  );
}

// Without a file: those where most time goes.
function Choice() {
  const now = state.value;
  const parameters = reportParameters({ ...now, group: 'file' });
  parameters.set('rows', '50');
  const answer = useAnswer<Top>(now.source.query || now.source.file ? `top?${parameters}` : null, (signal) =>
    askJson<Top>('top', parameters, signal),
  );
  const files = answer.data?.rows.filter((row) => row.file) ?? [];
  return (
    <div class="notice">
      <h2>Which file?</h2>
      {answer.error && <p>{answer.error.message}</p>}
      {files.length === 0 ? (
        <p>
          {answer.data
            ? 'No function of this selection has a source file: its binaries have no line information.'
            : 'Choose a function in the flame graph or the table, and its source from its menu.'}
        </p>
      ) : (
        <ul class="source-files">
          {files.map((row) => (
            <li key={row.file}>
              <a
                href={linkTo({ sourceFile: row.file, sourceLine: 0 })}
                onClick={(event) => {
                  if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                  event.preventDefault();
                  go({ sourceFile: row.file, sourceLine: 0 });
                }}
              >
                {visibleText(row.file)}
              </a>{' '}
              <span class="muted">{formatShare(row.flat, answer.data!.total)}</span>
            </li>
          ))}
        </ul>
      )}
      <button type="button" onClick={() => go({ view: 'explore' })}>
        Back to the flame graph
      </button>
    </div>
  );
}

export function SourceView() {
  const now = state.value;
  const parameters = question(now);
  const answer = useAnswer<SourceAnswer>(now.sourceFile ? `source?${parameters}` : null, (signal) =>
    askJson<SourceAnswer>('source', parameters, signal),
  );
  return (
    <div class="source">
      <div class="source-head">
        <h1>{now.sourceFile ? visibleText(now.sourceFile) : 'Source'}</h1>
        {answer.slow && <span class="muted">loading</span>}
        {now.sourceFile && (
          <button type="button" class="quiet" onClick={() => go({ sourceFile: '', sourceLine: 0 })}>
            Other files
          </button>
        )}
      </div>
      {!now.sourceFile && <Choice />}
      {answer.error && !answer.data && <ErrorNotice error={answer.error} />}
      {now.sourceFile && answer.data && <File answer={answer.data} />}
    </div>
  );
}
