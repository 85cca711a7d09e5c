import { expect } from 'vitest';
import type { LogsAnswer } from '../upstream-pool.ts';
import type { Received, Scripted, ScriptedNode } from './scripted-node.ts';

/** Tests count calls. On a slow machine, a timeout would repeat a call and halve its range. */
export const PATIENT = {
  attemptTimeoutMs: 30_000,
  heavyTimeoutMs: 30_000,
  deadlineMs: 60_000,
  startTimeoutMs: 30_000,
  startGraceMs: 30_000,
};
/** First calls are as wide as the requested range. */
export const WIDE = { ...PATIENT, logRangeStart: 100_000 };

/** A getLogs range as the node received it. */
export interface Requested {
  readonly from: number;
  readonly to: number;
  readonly size: number;
}

function requestedRange(call: Received): Requested {
  const filter = call.params[0] as { fromBlock: string; toBlock: string };
  const from = Number(filter.fromBlock);
  const to = Number(filter.toBlock);
  return { from, to, size: to - from + 1 };
}

/** Returns the ranges that the node received, in order. */
export function ranges(of: ScriptedNode): Requested[] {
  return of.received.filter(({ method }) => method === 'eth_getLogs').map(requestedRange);
}

/** Scripts getLogs responses by range; undefined for the true response. */
export function onLogs(answer: (requested: Requested) => Scripted | undefined): ScriptedNode['script'] {
  return (call) => (call.method === 'eth_getLogs' ? answer(requestedRange(call)) : undefined);
}

/** Returns the block numbers of the logs. Each block of these chains has one log. */
export function blockNumbers(answer: LogsAnswer): number[] {
  return answer.logs.map((log) => log.blockNumber);
}

/** Returns all numbers of a range. */
export function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** Expects one log of each block, and consecutive sources. */
export function expectCovered(answer: LogsAnswer, from: number, to: number): void {
  expect(blockNumbers(answer)).toEqual(numbers(from, to));
  expect(answer.sources[0]?.range.from).toBe(from);
  expect(answer.sources.at(-1)?.range.to).toBe(to);
  answer.sources.forEach(({ range }, index) => {
    if (index > 0) expect(range.from).toBe((answer.sources[index - 1]?.range.to ?? 0) + 1);
  });
}
