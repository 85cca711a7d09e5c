import { expect, it } from 'vitest';
import { createClosing } from './api.ts';

it('runs its steps once, the last one first', async () => {
  const ran: number[] = [];
  const closing = createClosing();
  for (const step of [1, 2, 3]) closing.defer(() => ran.push(step));
  await closing.close();
  await closing.close();
  expect(ran).toEqual([3, 2, 1]);
});

it('runs the other steps after a failed one, and throws its error', async () => {
  const ran: number[] = [];
  const failed = new Error('a step failed');
  const closing = createClosing();
  closing.defer(() => ran.push(1));
  closing.defer(() => Promise.reject(failed));
  await expect(closing.close()).rejects.toBe(failed);
  expect(ran).toEqual([1]);
});

it('throws the errors of several steps together', async () => {
  const closing = createClosing();
  const errors = [new Error('first'), new Error('second')];
  for (const error of errors) closing.defer(() => Promise.reject(error));
  await expect(closing.close()).rejects.toMatchObject({ errors: errors.toReversed() });
});
