import { expect } from 'vitest';
import type { LogsAnswer } from '../upstream-pool.ts';
import type { Received, Scripted, ScriptedNode } from './scripted-node.ts';

/** Calls are counted: on a busy machine one that is given up for its time would be made again, and its range halved. */
export const PATIENT = {
  attemptTimeoutMs: 30_000,
  heavyTimeoutMs: 30_000,
  deadlineMs: 60_000,
  startTimeoutMs: 30_000,
  startGraceMs: 30_000,
};
/** First calls as wide as what is asked for. */
export const WIDE = { ...PATIENT, logRangeStart: 100_000 };

/** A getLogs range as the node received it. */
export interface Asked {
  readonly from: number;
  readonly to: number;
  readonly size: number;
}

function askedRange(call: Received): Asked {
  const filter = call.params[0] as { fromBlock: string; toBlock: string };
  const from = Number(filter.fromBlock);
  const to = Number(filter.toBlock);
  return { from, to, size: to - from + 1 };
}

/** The ranges asked of a node, in order. */
export function ranges(of: ScriptedNode): Asked[] {
  return of.received.filter(({ method }) => method === 'eth_getLogs').map(askedRange);
}

/** Answers getLogs by what is asked for; undefined for the truth. */
export function onLogs(answer: (asked: Asked) => Scripted | undefined): ScriptedNode['script'] {
  return (call) => (call.method === 'eth_getLogs' ? answer(askedRange(call)) : undefined);
}

/** Each block of these chains has one log with its own number as the block. */
export function blockNumbers(answer: LogsAnswer): number[] {
  return answer.logs.map((log) => log.blockNumber);
}

/** All numbers of a range. */
export function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** One log of each block, and sources that follow each other. */
export function expectCovered(answer: LogsAnswer, from: number, to: number): void {
  expect(blockNumbers(answer)).toEqual(numbers(from, to));
  expect(answer.sources[0]?.range.from).toBe(from);
  expect(answer.sources.at(-1)?.range.to).toBe(to);
  answer.sources.forEach(({ range }, index) => {
    if (index > 0) expect(range.from).toBe((answer.sources[index - 1]?.range.to ?? 0) + 1);
  });
}
