import { expect, test } from 'vitest';
import { DatabaseUnavailableError, failureLevel } from './database-outage.ts';

const outage = new DatabaseUnavailableError("can't be reached", null, new Error('connect ECONNREFUSED'));

test.each([
  ['an outage', outage, 'debug'],
  ['what an outage caused', new Error('No history', { cause: new Error('No rows', { cause: outage }) }), 'debug'],
  ['any other error', new Error('No rows', { cause: new Error('connect ECONNREFUSED') }), 'warn'],
  ['what is no error', 'No rows', 'warn'],
])('%s is told at its level', (_what, error, level) => {
  expect(failureLevel(error)).toBe(level);
});
