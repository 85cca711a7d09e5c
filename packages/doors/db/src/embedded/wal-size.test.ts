import { expect, test } from 'vitest';
import { walMegabytes } from './postmaster.ts';

const GIGABYTE = 1024 ** 3;

test.each([
  ['a large disk', 1_000 * GIGABYTE, 4_096],
  ['just enough for the most', 80 * GIGABYTE, 4_096],
  ['a middling disk', 40 * GIGABYTE, 2_048],
  ['a small disk', 5 * GIGABYTE, 1_024],
  ['a full disk', 0, 1_024],
])('%s gives the log a twentieth, within its bounds', (_, free, megabytes) => {
  expect(walMegabytes(free)).toBe(megabytes);
});
