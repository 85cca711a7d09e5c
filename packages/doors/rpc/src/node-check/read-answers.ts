import {
  type BlockHeader,
  InvalidPrimitiveError,
  isQuantity,
  parseBigQuantity,
  toQuantity,
} from '@chainstead/core';
import { parseHeader } from '../formats/parse-block.ts';
import { MalformedAnswerError } from '../formats/parse-log.ts';
import type { NodeProbe, ProbeAnswer } from './node-probe.ts';

export interface ProbedBlock {
  readonly header: BlockHeader;
  readonly transactions: number;
}

/** Null: none; otherwise why it is unknown. @throws RequestAbortedError */
export async function probeBlock(
  probe: NodeProbe,
  at: number | string,
): Promise<ProbedBlock | null | { readonly problem: string }> {
  const tag = typeof at === 'number' ? toQuantity(at) : at;
  return blockOf(await probe.ask('eth_getBlockByNumber', [tag, false]));
}

export function blockOf(answer: ProbeAnswer): ProbedBlock | null | { readonly problem: string } {
  if (!answer.ok) return { problem: answer.text };
  if (answer.result === null) return null;
  try {
    const header = parseHeader(answer.result);
    const { result } = answer;
    const list = typeof result === 'object' && 'transactions' in result ? result.transactions : [];
    return { header, transactions: Array.isArray(list) ? list.length : 0 };
  } catch (error) {
    if (error instanceof MalformedAnswerError || error instanceof InvalidPrimitiveError)
      return { problem: `no block: ${error.message}` };
    throw error;
  }
}

export function isBlock(probed: ProbedBlock | null | { readonly problem: string }): probed is ProbedBlock {
  return probed !== null && 'header' in probed;
}

export function quantityOf(answer: ProbeAnswer): number | null {
  if (!answer.ok || !isQuantity(answer.result)) return null;
  const value = Number(parseBigQuantity(answer.result));
  return Number.isSafeInteger(value) ? value : null;
}

export async function largestThatWorks(
  { works, fails, steps }: { readonly works: number; readonly fails: number; readonly steps: number },
  tries: (value: number) => Promise<boolean>,
): Promise<number> {
  let [low, high] = [works, fails];
  for (let step = 0; step < steps && high - low > Math.max(1, low / 10); step++) {
    const middle = Math.min(high - 1, Math.max(low + 1, Math.round(Math.sqrt(Math.max(1, low) * high))));
    if (await tries(middle)) low = middle;
    else high = middle;
  }
  return low;
}
