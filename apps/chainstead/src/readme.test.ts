/** The first screen of README.md: its figures stand where they were measured, and the repository has one address. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const readme = read('README.md');

it('fits one page', () => {
  expect(readme.split('\n').length).toBeLessThanOrEqual(121);
});

it.each([
  ['growth', 'docs/internals/benchmarks.md', ['509']],
  ['growth', 'docs/operate/sizing-and-cost.md', ['509 bytes', '$116', '$100 per TB']],
  ['backfill-ponder', 'docs/internals/benchmarks.md', ['10.8', '6.9', 'Ponder 1.0.0']],
  ['history', 'docs/internals/benchmarks.md', ['11 times', '25 calls']],
])('shows figures of %s as in %s', (benchmark, page, figures) => {
  const row = readme.split('\n').find((line) => line.includes(`--only ${benchmark}\``)) ?? '';
  const missing = figures.filter((figure) => !row.includes(figure) || !read(page).includes(figure));
  expect(missing, `write the measured figures of ${page} into README.md and this test`).toEqual([]);
});

it('names the address of the repository that package.json has, as all pages and the site do', () => {
  const shape = z.object({ repository: z.object({ url: z.string() }) });
  const { url } = shape.parse(JSON.parse(read('package.json'))).repository;
  const address = /^git\+(https:.*)\.git$/.exec(url)?.[1] ?? '';
  expect(readme).toContain(`git clone ${address}\n`);
  const files = execFileSync('git', ['ls-files', '-z', '*.md', 'docs', 'site'], { cwd: ROOT, encoding: 'utf8' });
  const text = files
    .split('\0')
    .filter((path) => /\.(?:md|ts|json|yml|txt)$/.test(path))
    .map(read)
    .join('\n');
  const named = [...text.matchAll(/https:\/\/github\.com\/[\w-]+\/chainstead(?![\w-])/g)].map(([found]) => found);
  expect(named.length).toBeGreaterThan(1);
  expect(new Set(named)).toEqual(new Set([address]));
});
