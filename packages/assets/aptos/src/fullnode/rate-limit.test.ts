import { describe, expect, it } from 'vitest';
import { budgetWaitMs, refusalWaitMs } from './ledger-info.ts';

const NOW = Date.UTC(2026, 0, 1);
const NOW_SECONDS = NOW / 1_000;

describe('the wait of a refused call', () => {
  it.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': new Date(NOW + 7_000).toUTCString() }, 7_000],
    [{ 'retry-after': new Date(NOW - 7_000).toUTCString() }, 0],
    [{ 'retry-after': '9999999' }, 600_000],
    [{ 'retry-after': 'soon', 'x-ratelimit-reset': '4' }, 4_000],
    [{ 'x-ratelimit-reset': '4' }, 4_000],
    [{ 'ratelimit-reset': String(NOW_SECONDS + 9) }, 9_000],
    [{ 'x-ratelimit-reset': 'x' }, undefined],
    [{}, undefined],
  ])('of %j is %s ms', (headers, wait) => {
    expect(refusalWaitMs(headers, NOW)).toBe(wait);
  });
});

describe('the wait of an answered call', () => {
  it.each<[Record<string, string>, number | undefined]>([
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '4' }, 4_000],
    [{ 'ratelimit-remaining': '0', 'ratelimit-reset': String(NOW_SECONDS + 2) }, 2_000],
    [{ 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '4' }, undefined],
    [{ 'x-ratelimit-reset': '4' }, undefined],
    [{ 'x-ratelimit-remaining': '0' }, undefined],
  ])('of %j is %s ms', (headers, wait) => {
    expect(budgetWaitMs(headers, NOW)).toBe(wait);
  });
});
