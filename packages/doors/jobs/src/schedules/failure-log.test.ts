import { silentLogger } from '@chainstead/core';
import { expect, test, vi } from 'vitest';
import { createFailureLog } from './schedules.ts';

test('a failure that comes at every poll is told once, whatever numbers are in it', () => {
  const logger = silentLogger();
  const warn = vi.spyOn(logger, 'warn');
  const failures = createFailureLog('histories', logger);
  for (let poll = 1; poll <= 50; poll += 1)
    failures.report(new Error(`could not extend file "base/${poll}"`), 'Worker failed outside of a job');
  failures.report(new Error('too many connections'), 'Worker failed outside of a job');
  expect(warn.mock.calls.map(([fields, message]) => [fields, message])).toEqual([
    [expect.objectContaining({ queue: 'histories' }), 'Worker failed outside of a job'],
    [expect.objectContaining({ queue: 'histories' }), 'Worker failed outside of a job'],
  ]);
});
