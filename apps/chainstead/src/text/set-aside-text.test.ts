import { expect, test } from 'vitest';
import { renderSetAside, setAsideJson } from './text-table.ts';

const WORK = { name: 'token 1 0xaa 7', crashes: 3, crashedAt: new Date('2026-01-02T03:04:05Z'), reason: null };

test('quarantined work is shown with crashes and time; without any, nothing is shown', () => {
  expect(renderSetAside([WORK])).toEqual([
    'quarantined\n    token 1 0xaa 7: ended the process 3 times, last at 2026-01-02T03:04:05.000Z\n',
  ]);
  expect(setAsideJson([WORK])).toEqual([
    { work: 'token 1 0xaa 7', crashes: 3, crashed_at: '2026-01-02T03:04:05.000Z' },
  ]);
  const unread = { ...WORK, name: 'block eth 7 streams unread', crashes: 0, reason: 'The block is too large' };
  expect(renderSetAside([unread])).toEqual([
    'quarantined\n    block eth 7 streams unread: The block is too large\n',
  ]);
  expect(setAsideJson([unread])).toMatchObject([{ reason: 'The block is too large' }]);
  expect(renderSetAside([])).toEqual([]);
});
