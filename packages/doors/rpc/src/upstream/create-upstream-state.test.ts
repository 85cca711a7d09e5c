import { createLogger, createMetricsRegistry, systemClock } from '@chainstead/core';
import { expect, test } from 'vitest';
import { type FaultHints, UpstreamFault } from '../errors.ts';
import { DEFAULT_LIMITS } from '../limits/call-limits.ts';
import { createPoolMetrics } from '../pool-metrics.ts';
import type { FaultKind } from '../upstream-pool.ts';
import { createUpstreamState } from './create-upstream-state.ts';

test('the reason of a state, and its log line, is the error that caused it, not the last one', () => {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger({
    level: 'info',
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  const state = createUpstreamState({
    ...{ name: 'a', chain: { key: 'eth', blockTimeMs: 12_000 }, clock: systemClock, logger },
    ...{ limits: DEFAULT_LIMITS, metrics: createPoolMetrics(createMetricsRegistry()) },
  });
  state.enable();
  const fault = (kind: FaultKind, text: string, reaction: FaultHints['reaction']): UpstreamFault =>
    new UpstreamFault({ upstream: 'a', method: 'eth_getLogs', kind, text, hints: { reaction } });
  for (let count = 0; count < DEFAULT_LIMITS.breakerFailures; count++)
    state.failed(fault('timeout', 'no answer within 15 s', 'timeout'));
  state.noted(fault('range-limit', 'query exceeds 500 blocks', 'range'));
  expect(state.status(null, null)).toMatchObject({ state: 'open-circuit', reason: 'no answer within 15 s' });
  state.answered('eth_blockNumber', 5);
  expect(state.status(null, null).state).not.toBe('open-circuit');
  expect(lines).toMatchObject([
    { msg: 'Upstream is in use' },
    { msg: 'Upstream circuit opened', last_error: 'no answer within 15 s' },
    { msg: 'Upstream circuit closed' },
  ]);
  expect(lines[2]).not.toHaveProperty('last_error');
});
