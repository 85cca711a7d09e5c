import { parseBigQuantity, parseQuantity } from '@chainstead/core';
import { type UpstreamPool, UpstreamsExhaustedError } from '@chainstead/rpc';
import type { Subject, SubjectKind } from '../coverage/subject.ts';

const METHODS = ['eth_getCode', 'eth_getTransactionCount', 'eth_getBalance'] as const;

/** A contract is known by its code alone. */
const METHODS_OF: Partial<Record<SubjectKind, readonly (typeof METHODS)[number][]>> = {
  wallet: METHODS,
  trader: METHODS,
  contract: ['eth_getCode'],
  emitter: ['eth_getCode'],
};

export function activityCalls({ kind }: Subject): number {
  return METHODS_OF[kind]?.length ?? 0;
}

/**
 * No code at the head and, for a wallet, no transaction sent and no native tokens. Such a wallet may
 * have received tokens, and such a contract may be destroyed: only a scan of logs makes their lists complete.
 */
export async function isInactive(
  pool: Pick<UpstreamPool, 'request'>,
  { kind, address }: Subject,
  signal: AbortSignal,
): Promise<boolean> {
  const methods = METHODS_OF[kind];
  if (methods === undefined) return false;
  try {
    const [code, sent = '0x0', balance = '0x0'] = await Promise.all(
      methods.map(async (method) => (await pool.request(method, [address, 'latest'], { signal })).value),
    );
    return code === '0x' && parseQuantity(sent) === 0 && parseBigQuantity(balance) === 0n;
  } catch (error) {
    // A chain of files alone has no node, and its logs cost none.
    if (error instanceof UpstreamsExhaustedError) return false;
    throw error;
  }
}
