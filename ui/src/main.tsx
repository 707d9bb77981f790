import { render } from 'preact';
import { startRefreshing } from './api/refresh';
import { App } from './app/app';
import { startTheme } from './app/theme';
import './style/base.css';

startTheme();
startRefreshing();
render(<App />, document.getElementById('app')!);
