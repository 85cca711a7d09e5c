import type { AptosStatus } from '@chainstead/aptos';
import type { UnknownHead } from '@chainstead/sync/ingest';
import { describe, expect, it } from 'vitest';
import { READY_LAG_VERSIONS, whyNotReady } from './aptos-readiness.ts';

const NOW = 1_700_000_000_000;

const status = (changes: Partial<AptosStatus> = {}): AptosStatus => ({
  network: 'mainnet',
  chain: 'aptos',
  historyStart: 0,
  head: 100_000,
  oldest: 0,
  checkpoint: 100_000,
  lag: 0,
  stop: null,
  stallReason: null,
  fullnodes: [],
  coverage: [],
  gaps: [],
  confirmedRoot: null,
  updatedAt: new Date(NOW - 1_000),
  ...changes,
});

const judge = (
  given: AptosStatus | undefined,
  endVersion: number | null = null,
  unknown?: UnknownHead,
): string | null => whyNotReady({ endVersion }, given, ['coins', 'holders'], unknown);

describe('readiness of Aptos', () => {
  it.each<[string, Partial<AptosStatus>, string | null]>([
    ['caught up', {}, null],
    ['behind within the lag', { lag: READY_LAG_VERSIONS }, null],
    ['behind', { lag: READY_LAG_VERSIONS + 1 }, 'is 10001 versions behind its head'],
    ['before the first version', { lag: null }, 'has not followed a version yet'],
    [
      'stopped',
      { stop: { code: 'ACCUMULATOR_ROOT_MISMATCH', message: '' } },
      'is stopped: ACCUMULATOR_ROOT_MISMATCH',
    ],
    ['followed without its pruned history', { stop: { code: 'VERSIONS_PRUNED', message: '' } }, null],
  ])('of a network that is %s', (_what, changes, reason) => {
    expect(judge(status(changes))).toBe(reason);
  });

  it('of a network whose head is unknown contains the reason', () => {
    const unknown = { since: new Date(NOW), reason: 'a (paused): HTTP 503', isSilent: false };
    expect(judge(status(), null, unknown)).toBe(
      'has an unknown head since 2023-11-14T22:13:20.000Z: a (paused): HTTP 503',
    );
  });

  it('of a network that was never ingested', () => {
    expect(judge(undefined)).toBe('was never ingested');
  });

  it('of a bounded network is the coverage of the dataset that lacks most, however old that is', () => {
    const covered = (to: number) =>
      status({
        updatedAt: new Date(0),
        coverage: [
          { dataset: 'coins', range: { from: 0, to: 50_000 } },
          { dataset: 'holders', range: { from: 0, to } },
        ],
      });
    expect(judge(covered(50_000), 50_000)).toBeNull();
    expect(judge(covered(40_000), 50_000)).toBeNull();
    expect(judge(covered(39_999), 50_000)).toBe('lacks 10001 versions up to END_VERSION');
  });
});
