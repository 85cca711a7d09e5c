import { expect, test } from 'vitest';
import { processLives } from './postmaster.ts';

test.each([
  ['this process', process.pid, true],
  ['no process', 0, false],
  // Signals to -1 go to every process.
  ['nobody', -1, false],
])('%s lives or not', (_who, pid, lives) => {
  expect(processLives(pid)).toBe(lives);
});
