import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sidebar } from '../../site/.vitepress/sidebar.ts';
import { findDeadLinks, headingAnchors } from './dead-links.ts';
import { listFiles, REPOSITORY_ROOT } from './source-files.ts';

const root = mkdtempSync(join(tmpdir(), 'chainstead-links-'));
afterAll(() => rmSync(root, { recursive: true }));

test('links without a file or a heading and those to their own page are found, those in code are not', () => {
  writeFileSync(join(root, 'a.md'), '# One\n\n## `x-signature` and <B>\n\n## One\n');
  writeFileSync(
    join(root, 'b.md'),
    '[1](a.md#one) [2](a.md#x-signature-and-b) [3](a.md#one-1) [4](a.md#two) [5](c.md) [6](https://x.example/#y) [8](b.md)\n```md\n[7](d.md)\n```\n',
  );
  expect(findDeadLinks(root, ['a.md', 'b.md'])).toEqual(['b.md -> a.md#two', 'b.md -> c.md', 'b.md -> b.md']);
});

test('headings in code have no anchor', () => {
  expect([...headingAnchors('# A b\n```sh\n# comment\n```\n')]).toEqual(['a-b']);
});

test('every link of the documentation leads to a file and a heading', () => {
  const pages = listFiles('*.md');
  expect(pages.length).toBeGreaterThan(60);
  expect(findDeadLinks(REPOSITORY_ROOT, pages)).toEqual([]);
});

test('the sidebar of the site lists every page once', () => {
  const listed = sidebar.flatMap(({ items }) =>
    items.map(({ link }) => `docs${link}${link.endsWith('/') ? 'index' : ''}.md`),
  );
  const pages = listFiles('docs/*.md').filter((path) => path !== 'docs/index.md');
  const ofRoot = ['CHANGELOG', 'CONTRIBUTING', 'SECURITY'].map((name) => `docs/${name}.md`);
  expect(listed.toSorted()).toEqual([...pages, ...ofRoot].toSorted());
});
