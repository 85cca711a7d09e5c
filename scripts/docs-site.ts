/** `npm run docs:build` and `npm run docs:dev`: the documentation as a site, after all links were checked. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { FILES, linkOnSite } from '../site/.vitepress/repository-links.ts';
import { findDeadLinks, linksOf } from './check/dead-links.ts';
import { listFiles, REPOSITORY_ROOT } from './check/source-files.ts';

const SITE = join(REPOSITORY_ROOT, 'site');
/** Pages of the site that are not in `docs`. */
const ROOT_PAGES = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];
const [task = 'build'] = process.argv.slice(2);

const dead = findDeadLinks(REPOSITORY_ROOT, listFiles('*.md'));
if (dead.length > 0) {
  console.error(`These links lead nowhere:\n${dead.map((link) => `  ${link}`).join('\n')}`);
  process.exit(1);
}
const pages = join(SITE, 'pages');
rmSync(pages, { recursive: true, force: true });
copyPages();
if (!existsSync(join(SITE, 'node_modules'))) run('npm', 'ci', '--no-audit', '--no-fund');
if (task === 'dev') serve();
else {
  run('npm', 'run', task);
  writeFolders(join(REPOSITORY_ROOT, 'build/site'));
  console.log('The site is in build/site.');
}

function copyPages(): void {
  cpSync(join(REPOSITORY_ROOT, 'docs'), pages, { recursive: true });
  for (const name of ROOT_PAGES) cpSync(join(REPOSITORY_ROOT, name), join(pages, name));
  for (const page of listFiles('docs/*.md', ...ROOT_PAGES)) copyLinkedFiles(page);
}

/** Copies files that are no pages, such as alerts.yml, to the place that links on the site lead to. */
function copyLinkedFiles(page: string): void {
  for (const link of linksOf(readFileSync(join(REPOSITORY_ROOT, page), 'utf8'))) {
    const place = linkOnSite(page.replace(/^docs\//, ''), link)?.split('#')[0];
    if (place?.startsWith(`/${FILES}/`) !== true || place.endsWith('.png')) continue;
    cpSync(join(REPOSITORY_ROOT, place.slice(FILES.length + 2)), join(pages, 'public', place));
  }
}

/** Addresses have no `.html`. Servers that don't add it find a folder instead, which leads to the page. */
function writeFolders(site: string): void {
  for (const page of readdirSync(site, { recursive: true, encoding: 'utf8' })) {
    if (!page.endsWith('.html') || /(?:^|\/)(?:index|404)\.html$/.test(page)) continue;
    const folder = join(site, page.replace(/\.html$/, ''));
    mkdirSync(folder, { recursive: true });
    const target = `../${basename(page)}`;
    writeFileSync(
      join(folder, 'index.html'),
      `<!doctype html><meta charset="utf-8"><title>Chainstead</title>
<script>location.replace(${JSON.stringify(target)} + location.hash)</script>
<noscript><meta http-equiv="refresh" content="0; url=${target}"></noscript><a href="${target}">Read on</a>
`,
    );
  }
}

/** The server shows copies, so each change of a page is copied. It reloads them itself. */
function serve(): void {
  const server = spawn('npm', ['run', 'dev'], { cwd: SITE, stdio: 'inherit' });
  server.on('exit', (status) => process.exit(status ?? 1));
  watch(join(REPOSITORY_ROOT, 'docs'), { recursive: true }, copyPages);
  for (const name of ROOT_PAGES) watch(join(REPOSITORY_ROOT, name), copyPages);
}

function run(command: string, ...args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: SITE, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
