import { expect, test } from 'vitest';
import { placeExamples } from './example-pages.ts';
import { renderJson } from './example-text.ts';

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

test('an operation that no page names is reported', () => {
  expect(placeExamples(new Map([['a.md', '`GET /dogs/{id}`\n']]), [listed]).unplaced).toEqual(['getDogs']);
});

test('long lists and texts are cut with a mark, and short members share lines', () => {
  const value = { id: 1, name: 'a'.repeat(70), empty: [], dogs: [{ id: 2, owner: 'x'.repeat(30) }, 'b', 'c'] };
  expect(renderJson(value)).toBe(
    `{\n  "id": 1, "name": "${'a'.repeat(18)}…", "empty": [],\n  "dogs": [ { "id": 2, "owner": "${'x'.repeat(30)}" }, … ]\n}`,
  );
});

test('lines with their names and commas have at most 76 characters, and JSON in texts is cut', () => {
  const counts = { from: '1'.repeat(30), to: '2'.repeat(11) };
  const lines = renderJson({ counts, n: counts, text: `{"a": "${'b'.repeat(60)}"}` }).split('\n');
  expect(lines).toContain(`  "n": { "from": "${'1'.repeat(30)}", "to": "${'2'.repeat(11)}" },`);
  expect(lines).toContain('  "counts": {');
  expect(lines.at(-2)).toBe(`  "text": "{\\"a\\": \\"${'b'.repeat(11)}…"`);
});
