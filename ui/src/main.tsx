import { render } from 'preact';
import { startRefreshing } from './api/refresh';
import { App } from './app/app';
import { startKeys } from './parts/commands/key_handler';
import { keepFocus } from './parts/keep_focus';
import { startTheme } from './state/theme';
import './style/base.css';
import { startDropping } from './views/files/drop';

startTheme();
startRefreshing();
startKeys();
keepFocus();
startDropping();
render(<App />, document.getElementById('app')!);
