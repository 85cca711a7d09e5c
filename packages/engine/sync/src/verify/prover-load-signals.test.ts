import type { UpstreamStatus } from '@chainstead/rpc';
import { describe, expect, it } from 'vitest';
import { createProverLoadSignals } from './prover-pace.ts';

interface Span {
  readonly made: number;
  readonly refused?: number;
  readonly latencyMs?: number;
}

/** Returns the signals after each span. */
function signsAfter(spans: readonly Span[], { behind = false } = {}) {
  let [made, refused, latency] = [1_000, 100, 20];
  const pool = { status: () => [statusOf(made, refused, latency)] };
  const signs = createProverLoadSignals({ pool, isBehind: () => behind });
  return spans.map((span) => {
    made += span.made;
    refused += span.refused ?? 0;
    latency = span.latencyMs ?? 20;
    return signs();
  });
}

function statusOf(requests: number, refused: number, p50: number): UpstreamStatus {
  return {
    name: 'node',
    state: 'healthy',
    reason: null,
    score: 1,
    head: 1,
    headAt: null,
    latencyMs: { p50, p95: p50 },
    requests,
    learnedRate: null,
    faults: { 'rate-limited': refused },
    capabilities: {
      blockReceipts: null,
      batch: null,
      traces: null,
      logRangeMax: null,
      logTimestamps: null,
    },
    lastError: null,
  };
}

describe('the signs of a span', () => {
  it.each([
    [{ made: 16 }, false],
    [{ made: 16, refused: 1 }, false],
    [{ made: 16, refused: 2 }, true],
    [{ made: 200, refused: 10 }, false],
    [{ made: 200, refused: 11 }, true],
  ])('%j: refused %j', (span, refused) => {
    expect(signsAfter([span])).toMatchObject([{ refused }]);
  });

  it('are of this span alone', () => {
    expect(signsAfter([{ made: 20, refused: 9 }, { made: 20 }])).toMatchObject([
      { refused: true },
      { refused: false },
    ]);
  });

  it('tell a crowd by a follower that is behind, and by answers that take much longer than they did', () => {
    expect(signsAfter([{ made: 9 }])).toMatchObject([{ crowded: false }]);
    expect(signsAfter([{ made: 9 }], { behind: true })).toMatchObject([{ crowded: true }]);
    const slower = [{ made: 9 }, { made: 9, latencyMs: 200 }, { made: 9, latencyMs: 230 }];
    expect(signsAfter(slower).map(({ crowded }) => crowded)).toEqual([false, false, true]);
  });
});
