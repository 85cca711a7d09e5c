/** `npm run docs:build` and `npm run docs:dev`: the documentation as a site, after all links were checked. */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { findDeadLinks } from './check/dead-links.ts';
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
  console.log('The site is in build/site.');
}

function copyPages(): void {
  cpSync(join(REPOSITORY_ROOT, 'docs'), pages, { recursive: true });
  for (const name of ROOT_PAGES) cpSync(join(REPOSITORY_ROOT, name), join(pages, name));
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
