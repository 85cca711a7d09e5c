import { createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inFirstRow, numbered, showMoment, utcText } from './statement.ts';

let scratch: ScratchDatabase;

beforeAll(async () => {
  scratch = await createScratchDatabase();
});
afterAll(() => scratch.drop());

describe('a moment', () => {
  test.each(['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.6Z', '2026-01-02T03:04:05.678901Z'])(
    'of %s is shown as a Date shows it, in whatever zone the session is',
    async (moment) => {
      const [row] = await scratch.database.query<{ text: string }>(
        `SELECT ${utcText('moment')} AS text FROM (SELECT $1::timestamptz AS moment, set_config('TimeZone', 'Asia/Kolkata', true)) AS given`,
        [moment],
      );
      expect(showMoment(row?.text ?? '')).toBe(new Date(moment).toISOString());
    },
  );
});

describe('what is the same for all of a page', () => {
  const page = (rows: string) =>
    scratch.database.query(
      `SELECT page.number, ${inFirstRow("'same'")} AS shared FROM (SELECT 1) AS one LEFT JOIN (${numbered(rows, ['number > 1'])}) AS page ON true ORDER BY page.number`,
    );

  test('stands in its first row alone', async () => {
    expect(await page('SELECT * FROM generate_series(1, 3) AS number')).toEqual([
      { number: 2, shared: 'same' },
      { number: 3, shared: null },
    ]);
  });

  test('stands in one row without place where the page has none', async () => {
    expect(await page('SELECT 1 AS number')).toEqual([{ number: null, shared: 'same' }]);
  });
});
