import { parseBigQuantity, parseQuantity } from '@chainstead/core';
import { type UpstreamPool, UpstreamsExhaustedError } from '@chainstead/rpc';
import type { Subject } from '../coverage/subject.ts';

const METHODS = ['eth_getTransactionCount', 'eth_getBalance', 'eth_getCode'] as const;

export const ACTIVITY_CALLS = METHODS.length;

/**
 * No transaction sent, no native tokens and no code at the head. Such a wallet may have received
 * tokens: only a scan of its logs makes its lists complete.
 */
export async function isInactive(
  pool: Pick<UpstreamPool, 'request'>,
  { kind, address }: Subject,
  signal: AbortSignal,
): Promise<boolean> {
  if (kind !== 'wallet' && kind !== 'trader') return false;
  try {
    const [sent, balance, code] = await Promise.all(
      METHODS.map(async (method) => (await pool.request(method, [address, 'latest'], { signal })).value),
    );
    return parseQuantity(sent) === 0 && parseBigQuantity(balance) === 0n && code === '0x';
  } catch (error) {
    // A chain of files alone has no node, and its logs cost none.
    if (error instanceof UpstreamsExhaustedError) return false;
    throw error;
  }
}
