import { render } from 'preact';
import { startRefreshing } from './api/refresh';
import { App } from './app/app';
import { startKeys } from './app/key_handler';
import { startTheme } from './app/theme';
import './style/base.css';
import { startDropping } from './views/files/drop';

startTheme();
startRefreshing();
startKeys();
startDropping();
render(<App />, document.getElementById('app')!);
