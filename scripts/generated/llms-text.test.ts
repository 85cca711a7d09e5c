import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listFiles, REPOSITORY_ROOT } from '../check/source-files.ts';
import { firstSentence, renderLlmsText } from './llms-text.ts';

test.each([
  ['# A\n\nOne [link](x.md) here. Two.\n', 'One link here.'],
  ['---\nname: a\n---\n\n# A\n\nOne\nline more: two.\n', 'One line more.'],
  ['# A\n\n<!-- Generated. -->\n\nOf 1.5 MB. Two.\n', 'Of 1.5 MB.'],
  ['# A\n\n## B\n\nText.\n', null],
  ['# A\n\n| a |\n', null],
  ['no title', null],
])('the first sentence of %j is %j', (markdown, sentence) => {
  expect(firstSentence(markdown)).toBe(sentence);
});

test('every link of llms.txt leads to a page, and every page is listed once', () => {
  const links = [...renderLlmsText().matchAll(/^- \[.+?\]\((\/[^)]*)\)/gm)].map(([, link = '']) => link);
  const files = links.map((link) => `${link.slice(1)}${link.endsWith('/') ? 'index' : ''}.md`);
  const places = files.map((file) => (existsSync(join(REPOSITORY_ROOT, 'docs', file)) ? `docs/${file}` : file));
  expect(places.filter((place) => !existsSync(join(REPOSITORY_ROOT, place)))).toEqual([]);
  const pages = listFiles('docs/*.md').filter((path) => path !== 'docs/index.md');
  expect(places.toSorted()).toEqual([...pages, 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'].toSorted());
});
