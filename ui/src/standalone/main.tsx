// The entry of the exported page. src/formats/flamegraph puts the profile beside it.
import { render } from 'preact';
import { startKeys } from '../parts/commands/key_handler';
import { keepFocus } from '../parts/keep_focus';
import { defaultState } from '../state/state';
import { keepInHash } from '../state/store';
import { startTheme } from '../state/theme';
import '../style/base.css';
import { localAnswers } from './local_answers';
import { Page } from './page';
import { copyNames } from './page_commands';
import { readProfile } from './read_profile';

performance.mark('vesta:start');
const text = (id: string) => document.getElementById(id)?.textContent ?? '';

function start() {
  const app = document.getElementById('app')!;
  startTheme();
  try {
    const tree = readProfile(text('profile'));
    const { baseline, inverted, flip } = tree.header as typeof tree.header & { inverted?: boolean; flip?: boolean };
    const source = { ...defaultState.source, file: 'page' };
    keepInHash({
      ...defaultState,
      view: baseline ? 'diff' : 'explore',
      source,
      baseline: baseline ? source : null,
      scale: 'absolute',
      inverted: inverted === true,
      flip: flip === true,
    });
    startKeys();
    keepFocus();
    copyNames();
    const about = document.querySelector('meta[name=description]')?.getAttribute('content') ?? '';
    render(<Page title={document.title} subtitle={about} compare={baseline} answers={localAnswers(tree)} />, app);
  } catch (error) {
    app.textContent = `This profile cannot be shown: ${error instanceof Error ? error.message : error}`;
  }
}

start();
