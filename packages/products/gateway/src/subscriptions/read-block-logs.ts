import { errorText, type Hash, type Hex, type Log, type Logger } from '@chainstead/core';
import { type ForwardingPool, parseLogs } from '@chainstead/rpc';

const METHOD = 'eth_getLogs';
const EMPTY_BLOOM = /^0x0*$/;

export interface LoggedBlock {
  readonly number: number;
  readonly hash: Hash;
  readonly logsBloom: Hex | null;
}

/**
 * By eth_getLogs; by receipts if refused, or if the bloom contradicts (nodes that still index).
 * @returns null if no upstream has the block @throws UpstreamsExhaustedError
 */
export async function readBlockLogs(
  pool: Pick<ForwardingPool, 'request' | 'getWholeBlock'>,
  block: LoggedBlock,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<readonly Log[] | null> {
  try {
    const { value } = await pool.request(METHOD, [{ blockHash: block.hash }], { minBlock: block.number, signal });
    const logs = parseLogs(value);
    if (isPlausible(logs, block)) return logs;
  } catch (error) {
    if (signal.aborted) throw error;
    logger.debug({ block_number: block.number, error: errorText(error) }, 'Logs of a block not read by its hash');
  }
  const whole = await pool.getWholeBlock(block.hash, { signal });
  return whole === null ? null : whole.value.receipts.flatMap(({ logs }) => logs);
}

/** Whether they may be complete, by bloom and hash. */
export function isPlausible(logs: readonly Log[], { hash, logsBloom }: LoggedBlock): boolean {
  if (logs.length === 0) return logsBloom === null || EMPTY_BLOOM.test(logsBloom);
  return logs.every(({ blockHash }) => blockHash === hash);
}
