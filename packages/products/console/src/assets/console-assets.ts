import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type StaticAsset, staticAsset } from '@chainstead/http/server';

export interface ConsoleAssets {
  /** Changes with the content, for permanent caching. */
  address(name: string): string;
  find(tag: string, name: string): StaticAsset | null;
}

export const KEPT_FOREVER = 'public, max-age=31536000, immutable';

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

const SCRIPT_SEAM = '\n;\n';
const OWN_FOLDER = fileURLToPath(new URL('./files/', import.meta.url));

const FILES: Readonly<Record<string, () => readonly string[]>> = {
  'console.css': () => [inPackage('uplot', 'dist/uPlot.min.css'), join(OWN_FOLDER, 'console.css')],
  'console.js': () => [
    // htmx starts once it has run, and a later extension has no effect.
    ...['dist/htmx.min.js', 'dist/ext/hx-sse.min.js'].map((file) => inPackage('htmx.org', file)),
    ...[
      'sign-in.js',
      'menu.js',
      'suggestions.js',
      'locale.js',
      'live.js',
      'plot-clock.js',
      'candles.js',
      'plots.js',
    ].map((file) => join(OWN_FOLDER, file)),
  ],
  'uplot.js': () => [inPackage('uplot', 'dist/uPlot.iife.min.js')],
  'icon.svg': () => [join(OWN_FOLDER, 'icon.svg')],
};

export async function loadConsoleAssets(): Promise<ConsoleAssets> {
  const assets = new Map<string, StaticAsset>();
  for (const [name, places] of Object.entries(FILES)) {
    const parts = await Promise.all(places().map((place) => readFile(place, 'utf8')));
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'text/plain';
    const seam = name.endsWith('.js') ? SCRIPT_SEAM : '\n';
    assets.set(name, staticAsset(Buffer.from(parts.join(seam)), type));
  }
  const tagOf = (name: string): string => assets.get(name)?.etag.slice(1, 17) ?? '';
  return {
    address: (name) => `/console/assets/${tagOf(name)}/${name}`,
    find: (tag, name) => (tag === tagOf(name) ? (assets.get(name) ?? null) : null),
  };
}

/** Packages may not export their location: looks upwards from the exported module. */
function inPackage(name: string, file: string): string {
  let folder = dirname(createRequire(import.meta.url).resolve(name));
  while (!folder.endsWith(join('node_modules', name)) && folder !== dirname(folder)) folder = dirname(folder);
  return join(folder, file);
}
