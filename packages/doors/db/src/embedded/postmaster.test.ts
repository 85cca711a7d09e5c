import { expect, test } from 'vitest';
import { processLives } from './postmaster.ts';

test.each([
  ['this process', process.pid, true],
  ['no process', 0, false],
  // A signal to -1 would go to every process.
  ['nobody', -1, false],
])('%s lives or not', (_who, pid, lives) => {
  expect(processLives(pid)).toBe(lives);
});
