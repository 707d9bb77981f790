// The one menu that can be open: a context menu, or that of a button. Whoever wants one says where and with what;
// menu_host.tsx shows it.
import { signal } from '@preact/signals';

export interface MenuItem {
  title: string;
  key?: string; // the same by keyboard, shown beside it
  disabled?: boolean;
  checked?: boolean;
  run(): void;
}
export interface MenuGroup {
  title?: string;
  items: MenuItem[];
}
export interface OpenMenu {
  x: number; // in the window
  y: number;
  label: string; // what the menu is of, for screen readers
  groups: MenuGroup[];
  restore?: HTMLElement; // gets the focus back
}

export const openMenu = signal<OpenMenu | null>(null);

export function showMenu(menu: OpenMenu) {
  openMenu.value = { restore: (document.activeElement as HTMLElement) ?? undefined, ...menu };
}
export function closeMenu() {
  const restore = openMenu.value?.restore;
  openMenu.value = null;
  restore?.focus();
}
