/** `npm run docs:build`, and the site on a server that only sends files. Needs the packages of `site`, whose lockfile is its own, but no network. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { searchOptions } from '../site/.vitepress/search-options.ts';
import { listFiles, REPOSITORY_ROOT } from './check/source-files.ts';

const SITE = join(REPOSITORY_ROOT, 'build/site');
const CHROMIUM = '/usr/bin/chromium';

/** The part of `minisearch` that the site calls. */
interface MiniSearch {
  loadJSON(json: string, options: object): { search(query: string): { readonly id: string }[] };
}

describe.skipIf(!existsSync(join(REPOSITORY_ROOT, 'site/node_modules')))('docs:build', () => {
  let output = '';
  beforeAll(async () => {
    const build = ['scripts/docs-site.ts', 'build'];
    ({ stdout: output } = await promisify(execFile)(process.execPath, build, { cwd: REPOSITORY_ROOT }));
  });

  test('writes every page', () => {
    expect(output).toContain('The site is in build/site.');
    expect(existsSync(join(SITE, 'llms.txt'))).toBe(true);
    const written = listFiles('docs/*.md').map((page) => page.replace(/^docs\//, '').replace(/\.md$/, '.html'));
    expect(written.filter((page) => !existsSync(join(SITE, page)))).toEqual([]);
  });

  test.each([
    ['graphql', '/api/graphql'],
    ['factory', '/concepts/contracts#factories'],
    ['add a chain', '/operate/history#add-a-chain'],
    ['remove a chain', '/operate/history#remove-a-chain'],
    ['port', '/reference/settings#port'],
    ['back up', '/operate/backup'],
    ['backup', '/operate/backup'],
    ['why is price null', '/operate/troubleshooting#why-is-a-price-null'],
    ['price null', '/operate/troubleshooting#why-is-a-price-null'],
    ['reorg', '/concepts/reorgs-and-finality'],
  ])('finds the page that helps with "%s" first', async (query, page) => {
    const chunks = join(SITE, 'assets/chunks');
    const name = readdirSync(chunks).find((file) => file.startsWith('@localSearchIndexroot')) ?? '';
    const { default: index }: { default: string } = await import(join(chunks, name));
    const library: MiniSearch = createRequire(join(REPOSITORY_ROOT, 'site/package.json'))('minisearch');
    const fields = ['title', 'titles', 'text'];
    const found = library.loadJSON(index, { fields, storeFields: fields, searchOptions }).search(query);
    expect(found[0]?.id).toMatch(new RegExp(`^${page}`));
  });

  test.skipIf(!existsSync(CHROMIUM))('works on a server of files, with diagrams', async () => {
    const address = await serveFiles();
    const browser = await chromium.launch({
      executablePath: CHROMIUM,
      chromiumSandbox: process.getuid?.() !== 0,
    });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const titleAt = async (path: string): Promise<string | null> => {
      await page.goto(`${address}${path}`);
      return page.locator('h1').textContent();
    };
    expect(await titleAt('/migrate')).toContain('Migrate from Moralis');
    expect(await titleAt('/api/graphql')).toContain('GraphQL');
    expect(await titleAt('/concepts/overview')).toContain('How a block becomes a response');
    await page.locator('pre.mermaid svg').waitFor();
    const alerts = await fetch(`${address}/files/docs/prometheus/alerts.yml`);
    expect(await alerts.text()).toContain('ChainsteadProcessAway');
    const edit = page.getByRole('link', { name: 'Edit this page' });
    expect(await edit.getAttribute('href')).toMatch(/\/edit\/main\/docs\/concepts\/overview\.md$/);
  });
});

/** As a plain static server: files, folders by their index.html, and nothing else. @returns the address */
async function serveFiles(): Promise<string> {
  const types: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname);
    const file = join(SITE, path);
    if (!existsSync(file)) return response.writeHead(404).end();
    const isFolder = statSync(file).isDirectory();
    if (isFolder && !path.endsWith('/')) return response.writeHead(301, { location: `${path}/` }).end();
    const place = isFolder ? join(file, 'index.html') : file;
    const type = types[place.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
    return response.writeHead(200, { 'content-type': type }).end(await readFile(place));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const bound = server.address();
  return `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}`;
}
