import { render } from 'preact';
import { startRefreshing } from './api/refresh';
import { App } from './app/app';
import { keepFocus } from './app/keep_focus';
import { startKeys } from './app/key_handler';
import { startTheme } from './app/theme';
import './style/base.css';
import { startDropping } from './views/files/drop';

startTheme();
startRefreshing();
startKeys();
keepFocus();
startDropping();
render(<App />, document.getElementById('app')!);
