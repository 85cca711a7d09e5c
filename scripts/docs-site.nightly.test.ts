/** `npm run docs:build` writes every page. Needs the packages of `site`, whose lockfile is its own, but no network. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { listFiles, REPOSITORY_ROOT } from './check/source-files.ts';

test.skipIf(!existsSync(join(REPOSITORY_ROOT, 'site/node_modules')))('docs:build writes every page', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/docs-site.ts', 'build'], {
    cwd: REPOSITORY_ROOT,
  });
  expect(stdout).toContain('The site is in build/site.');
  expect(existsSync(join(REPOSITORY_ROOT, 'build/site/llms.txt'))).toBe(true);
  const written = listFiles('docs/*.md').map((page) => page.replace(/^docs\//, '').replace(/\.md$/, '.html'));
  expect(written.filter((page) => !existsSync(join(REPOSITORY_ROOT, 'build/site', page)))).toEqual([]);
});
