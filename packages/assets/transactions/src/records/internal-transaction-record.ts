import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { InternalTransaction } from '@chainstead/sync/datasets';
import { z } from 'zod';
import { address } from './transaction-record.ts';

const digits = z.string().regex(/^\d+$/);

export const internalTransactionRecordSchema = z.object({
  type: z.string(),
  from: address,
  to: address,
  /** Wei. */
  value: digits,
  gas: digits,
  gasUsed: digits,
  input: z.string(),
  output: z.string(),
  error: z.string().nullable(),
  /** It succeeded, but one of its callers failed. */
  isReverted: z.boolean(),
});

export type InternalTransactionRecord = z.infer<typeof internalTransactionRecordSchema>;

/** go-ethereum omits these calls, others don't. */
const PRECOMPILE_MAX = 0x11n;
const NO_GAS = '0';
const CREATING: ReadonlySet<string> = new Set(['CREATE', 'CREATE2']);

/** In execution order, callers first, without free calls of precompiles, as of any tracer. */
export function internalTransactionRecords(calls: readonly InternalTransaction[]): InternalTransactionRecord[] {
  return calls.flatMap((call, index) => {
    if (call.traceAddress.length === 0 || isFreePrecompile(call)) return [];
    const { type, from, error } = call;
    return {
      ...{ type, from, to: call.to ?? createdBy(call, calls[index + 1]), value: call.value.toString() },
      gas: call.gas?.toString() ?? NO_GAS,
      gasUsed: call.gasUsed?.toString() ?? NO_GAS,
      input: call.input.toLowerCase(),
      output: call.output.toLowerCase(),
      error,
      isReverted: call.isReverted && error === null,
    };
  });
}

function isFreePrecompile({ to, value, type }: InternalTransaction): boolean {
  if (to === null || value > 0n || CREATING.has(type)) return false;
  const number = BigInt(to);
  return number >= 1n && number <= PRECOMPILE_MAX;
}

/** A failed creation ran at the address if it made a call; else the zero address. */
function createdBy(creation: InternalTransaction, next: InternalTransaction | undefined): Address {
  const isItsOwn = next !== undefined && next.traceAddress.length === creation.traceAddress.length + 1;
  return isItsOwn && next.transactionHash === creation.transactionHash ? next.from : ZERO_ADDRESS;
}
