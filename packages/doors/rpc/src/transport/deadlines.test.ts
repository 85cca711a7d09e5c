import { expect, test, vi } from 'vitest';
import { createDeadlines, type Deadline } from './deadlines.ts';

function deadline(inMs: number, passed: () => void): Deadline {
  return { at: performance.now() + inMs, place: -1, passed };
}

test('what is not over in time is told once, and what was deleted or put off is not', async () => {
  const deadlines = createDeadlines();
  const reported: string[] = [];
  const all = ['a', 'b', 'c', 'd', 'e'].map((name) => deadline(20, () => reported.push(name)));
  for (const one of all) deadlines.add(one);
  const [a, , c, d] = all;
  if (a === undefined || c === undefined || d === undefined) throw new Error('five');
  deadlines.delete(a);
  deadlines.delete(a);
  deadlines.delete(c);
  d.at = Number.POSITIVE_INFINITY;
  const last = deadline(60, () => reported.push('last'));
  deadlines.add(last);
  await vi.waitFor(() => expect(reported).toContain('last'));
  expect(reported.toSorted()).toEqual(['b', 'e', 'last']);
  deadlines.delete(d);
});

test('one that passes may end others that have passed too', async () => {
  const deadlines = createDeadlines();
  const reported: string[] = [];
  const second = deadline(0, () => reported.push('second'));
  const first = deadline(0, () => {
    reported.push('first');
    deadlines.delete(second);
  });
  deadlines.add(first);
  deadlines.add(second);
  await vi.waitFor(() => expect(reported).toContain('first'));
  const third = deadline(0, () => reported.push('third'));
  deadlines.add(third);
  await vi.waitFor(() => expect(reported).toContain('third'));
  expect(reported).toEqual(['first', 'third']);
});
