import { html } from 'hono/html';
import type { ConsoleAssets } from '../assets/console-assets.ts';
import { changeForm } from './form.ts';
import { type Html, NOTHING, shown } from './html.ts';

export type MenuGroup = 'RPC' | 'Data' | 'Access';

export interface MenuEntry {
  readonly path: string;
  readonly title: string;
  readonly group?: MenuGroup | undefined;
}

export interface PageFacts {
  readonly title: string;
  readonly body: Html;
  readonly path: string;
  readonly menu: readonly MenuEntry[];
  readonly assets: ConsoleAssets;
  readonly version: string;
  readonly documentationUrl?: string | null;
  /** Null: not signed in. */
  readonly viewer: { readonly keyName: string; readonly token: string } | null;
}

const HTMX_CONFIG = JSON.stringify({
  includeIndicatorCSS: false,
  includeIndicatorStyles: false,
  allowEval: false,
  history: false,
  // What is opened in a live part stays open.
  morphIgnore: ['data-htmx-powered', 'open'],
});

export function page(facts: PageFacts): Html {
  const { title, body, assets, viewer, documentationUrl = null } = facts;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="htmx-config" content="${HTMX_CONFIG}">
<title>${title} · Chainstead</title>
<link rel="icon" href="${assets.address('icon.svg')}">
<link rel="stylesheet" href="${assets.address('console.css')}">
<script defer src="${assets.address('console.js')}" data-plots="${assets.address('uplot.js')}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top"><a class="brand" href="/console">Chainstead</a>${viewer !== null && navigation(facts, viewer)}</header>
<main id="main" tabindex="-1">${body}</main>
<footer>Chainstead ${facts.version} · <a href="/docs">API</a>${documentationUrl !== null && html` · <a href="${documentationUrl}">Documentation</a>`}</footer>
</body>
</html>`;
}

function navigation({ menu, path }: PageFacts, viewer: NonNullable<PageFacts['viewer']>): Html {
  const entries = [...Map.groupBy(menu, ({ group, title }) => group ?? title)].map(([name, ofGroup]) => {
    const views = ofGroup.map((entry) => entryView(entry, path));
    if (ofGroup[0]?.group === undefined) return views;
    const current = ofGroup.some((entry) => isCurrent(entry.path, path)) ? html`aria-current="true"` : NOTHING;
    return html`<li><details name="menu"><summary ${current}>${name}</summary><ul>${views}</ul></details></li>`;
  });
  const leave = html`<span class="who">${shown(viewer.keyName, 40)}</span> <button class="quiet">Sign out</button>`;
  // On narrow screens the menu is a popover; on others its style shows it always.
  return html`<button class="quiet menu" popovertarget="menu">Menu</button>
<div id="menu" popover><nav aria-label="Console"><ul>${entries}</ul></nav>${changeForm('/console/sign-out', viewer.token, {}, leave)}</div>
<form method="get" action="/console/look-up" role="search" class="search">
<input type="search" name="q" maxlength="200" aria-label="Look up" placeholder="Address, symbol, hash" autocomplete="off" spellcheck="false" list="suggestions" data-suggestions="/console/look-up/suggestions.json"><datalist id="suggestions"></datalist><button class="quiet">Look up</button></form>`;
}

function entryView(entry: MenuEntry, path: string): Html {
  return html`<li><a href="/console${entry.path}" ${isCurrent(entry.path, path) ? html`aria-current="page"` : NOTHING}>${entry.title}</a></li>`;
}

function isCurrent(entry: string, path: string): boolean {
  return entry === '' ? path === '' : path === entry || path.startsWith(`${entry}/`);
}
