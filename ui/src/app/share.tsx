// The Share menu: links, the same question on the command line, and files.
import { useRef } from 'preact/hooks';
import { askJson } from '../api/client';
import { comparisonParameters } from '../api/parameters';
import type { Diff, Top } from '../api/types';
import { copyText } from '../parts/clipboard';
import type { Command } from '../parts/commands/commands';
import { type MenuGroup, showMenu } from '../parts/menu';
import { state } from '../state/store';
import { formatState } from '../state/url';
import { writtenFormats } from '../text/formats.gen';
import { download, failed, saveBlob } from './download';
import { csv, exportName, exportParameters, frozenState, topParameters, vestaCommand } from './share_text';

const here = () => location.origin + location.pathname;
const server = () => (location.origin + location.pathname).replace(/\/[^/]*$/, '');

export function copyFrozenLink() {
  const link = here() + formatState(frozenState(state.value, Date.now()));
  copyText(link, 'Link copied with fixed times: it keeps showing this data.');
}

function copyRelativeLink() {
  copyText(here() + formatState(state.value), 'Link copied with relative times.');
}

function copyCommand() {
  copyText(vestaCommand(frozenState(state.value, Date.now()), server()), 'Command copied');
}

async function saveCsv() {
  const current = state.value;
  const name = exportName(current, 'csv', Date.now());
  try {
    if (current.view === 'diff' && current.baseline) {
      const parameters = comparisonParameters(current);
      parameters.set('rows', '0');
      const { rows } = await askJson<Diff>('diff', parameters);
      const columns = ['name', 'file', 'line', 'binary', 'flat_before', 'flat_after', 'cum_before', 'cum_after'];
      saveBlob(new Blob([csv(columns, rows)], { type: 'text/csv' }), name);
    } else {
      const { rows } = await askJson<Top>('top', topParameters(current));
      const columns = ['name', 'file', 'line', 'binary', 'flat', 'cum'];
      saveBlob(new Blob([csv(columns, rows)], { type: 'text/csv' }), name);
    }
  } catch (error) {
    failed(name, error);
  }
}

async function savePng() {
  const name = exportName(state.value, 'png', Date.now());
  try {
    const { exportPng } = await import('../flame/export_png');
    const blob = await exportPng();
    if (blob) saveBlob(blob, name);
    else failed(name, 'no flame graph is shown');
  } catch (error) {
    failed(name, error);
  }
}

function saveExport(format: string, extension: string) {
  download('export', exportParameters(state.value, format), exportName(state.value, extension, Date.now()));
}

const hasSelection = () => state.value.source.query !== '' && state.value.view !== 'services';
const hasGraph = () => (state.value.view === 'explore' || state.value.view === 'diff') && hasSelection();

export function shareCommands(): Command[] {
  const group = 'Share';
  return [
    { id: 'share.link', title: 'Copy link', group, keys: ['y'], run: copyFrozenLink },
    { id: 'share.relative', title: 'Copy link with relative times', group, keys: ['Shift+Y'], run: copyRelativeLink },
    { id: 'share.command', title: 'Copy as vesta command', group, run: copyCommand, enabled: hasSelection },
    ...writtenFormats.map(({ format, title, extension }) => ({
      id: `export.${format}`,
      title: `Export ${title}`,
      group,
      run: () => saveExport(format, extension),
      enabled: hasSelection,
    })),
    { id: 'export.png', title: 'Export PNG of the flame graph', group, run: savePng, enabled: hasGraph },
    { id: 'export.csv', title: 'Export CSV of all functions', group, run: saveCsv, enabled: hasSelection },
  ];
}

function shareGroups(): MenuGroup[] {
  const selection = hasSelection();
  return [
    {
      title: 'Link',
      items: [
        { title: 'Copy link with fixed times', key: 'y', run: copyFrozenLink },
        { title: 'Copy link with relative times', key: 'Shift+Y', run: copyRelativeLink },
      ],
    },
    {
      title: 'Terminal',
      items: [{ title: 'Copy as vesta command', run: copyCommand, disabled: !selection }],
    },
    {
      title: state.value.view === 'diff' ? 'Export the current side' : 'Export',
      items: [
        ...writtenFormats.map(({ format, title, extension }) => ({
          title,
          run: () => saveExport(format, extension),
          disabled: !selection,
        })),
        { title: 'PNG of the flame graph', run: savePng, disabled: !hasGraph() },
        { title: 'CSV of all functions', run: saveCsv, disabled: !selection },
      ],
    },
  ];
}

export function ShareButton() {
  const button = useRef<HTMLButtonElement>(null);
  return (
    <button
      ref={button}
      type="button"
      aria-haspopup="menu"
      onClick={() => {
        const { left, bottom } = button.current!.getBoundingClientRect();
        showMenu({ x: left, y: bottom + 4, label: 'Share', groups: shareGroups(), restore: button.current! });
      }}
    >
      Share
    </button>
  );
}
