import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type StaticAsset, staticAsset } from '@chainstead/http';

/** Script and style of all pages: from the packages as they were installed and from `files/`, nothing from elsewhere. */
export interface ConsoleAssets {
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
  /** Changes with the content, so that browsers may keep it for good. */
  address(name: string): string;
  /** Null: there is none of this name and content. */
  find(tag: string, name: string): StaticAsset | null;
}

/** Kept by browsers as long as they like: another content has another address. */
export const KEPT_FOREVER = 'public, max-age=31536000, immutable';

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

const OWN_FOLDER = fileURLToPath(new URL('./files/', import.meta.url));

/** What each file is made of, by its name in addresses. */
const FILES: Readonly<Record<string, () => readonly string[]>> = {
  'uplot.css': () => [inPackage('uplot', 'dist/uPlot.min.css')],
  'console.css': () => [join(OWN_FOLDER, 'console.css')],
  // As one: htmx starts as soon as it has run, and an extension that comes later finds nothing to do any more.
  'htmx.js': () => ['dist/htmx.min.js', 'dist/ext/hx-sse.min.js'].map((file) => inPackage('htmx.org', file)),
  'uplot.js': () => [inPackage('uplot', 'dist/uPlot.iife.min.js')],
  'locale.js': () => [join(OWN_FOLDER, 'locale.js')],
  'live.js': () => [join(OWN_FOLDER, 'live.js')],
  'plots.js': () => [join(OWN_FOLDER, 'plots.js')],
  'icon.svg': () => [join(OWN_FOLDER, 'icon.svg')],
};

export async function loadConsoleAssets(): Promise<ConsoleAssets> {
  const assets = new Map<string, StaticAsset>();
  for (const [name, places] of Object.entries(FILES)) {
    const parts = await Promise.all(places().map((place) => readFile(place, 'utf8')));
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'text/plain';
    assets.set(name, staticAsset(Buffer.from(parts.join('\n')), type));
  }
  const tagOf = (name: string): string => assets.get(name)?.etag.slice(1, 17) ?? '';
  const named = (ending: string): string[] => [...assets.keys()].filter((name) => name.endsWith(ending));
  return {
    styles: named('.css'),
    scripts: named('.js'),
    address: (name) => `/console/assets/${tagOf(name)}/${name}`,
    find: (tag, name) => (tag === tagOf(name) ? (assets.get(name) ?? null) : null),
  };
}

/** Packages may not say where they lie: from the module that they export, upwards to the folder of their name. */
function inPackage(name: string, file: string): string {
  let folder = dirname(createRequire(import.meta.url).resolve(name));
  while (!folder.endsWith(join('node_modules', name)) && folder !== dirname(folder)) folder = dirname(folder);
  return join(folder, file);
}
