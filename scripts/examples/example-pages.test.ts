import { expect, test } from 'vitest';
import { placeExamples } from './example-pages.ts';

const PAGE =
  '# Dogs\n\n| `GET /dogs` | dogs |\n| `GET /dogs/{id}` | a dog |\n\n## One dog\n\n`GET /dogs/{id}` (`getDog`).\n\n## Food\n';
const listed = { method: 'GET', path: '/dogs', operation: 'getDogs', summary: 'List dogs', text: 'LIST\n' };
const single = { method: 'GET', path: '/dogs/{id}', operation: 'getDog', summary: 'Get a dog', text: 'DOG\n' };

test('an example is at the end of the section that describes its operation, and is replaced there', () => {
  const { placed, unplaced } = placeExamples(new Map([['a.md', PAGE]]), [single, listed]);
  const text = placed.get('a.md') ?? '';
  expect(text.indexOf('LIST')).toBeLessThan(text.indexOf('## One dog'));
  expect(text.slice(text.indexOf('(`getDog`)'), text.indexOf('## Food'))).toContain('DOG');
  expect(unplaced).toEqual([]);
  expect(placeExamples(placed, [single, listed]).placed).toEqual(placed);
  expect(placeExamples(placed, []).placed.get('a.md')).toBe(PAGE);
});
