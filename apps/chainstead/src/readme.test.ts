/** The first screen of README.md: its figures stand where they were measured, and the repository has one address. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const readme = read('README.md');

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
