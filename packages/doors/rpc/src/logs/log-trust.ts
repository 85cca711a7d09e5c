import { type BlockRange, type Log, toQuantity } from '@chainstead/core';
import { blockCall, checkIdentity } from '../blocks/fetch-blocks.ts';
import { parseHeader } from '../formats/parse-block.ts';
import type { Upstream } from '../upstream/upstream.ts';

export interface LogTrust {
  readonly misnumbers: Set<string>;
  /** `[]` of a lagging node would look like an empty range. @throws UpstreamFault */
  requireServed(upstream: Upstream, range: BlockRange, logs: readonly Log[], signal?: AbortSignal): Promise<void>;
  /** Without timestamps unless this upstream's proved right. */
  timestamps(upstream: Upstream, logs: readonly Log[], signal?: AbortSignal): Promise<readonly Log[]>;
}

/** Nodes of one load balancer may differ by this many blocks. */
const MARGIN = 16;

export function createLogTrust(): LogTrust {
  const rightTimestamps = new Map<string, boolean>();

  return {
    misnumbers: new Set(),
    async requireServed(upstream, range, logs, signal) {
      const { served } = upstream.state;
      if (served !== null && range.to <= served - MARGIN) return;
      const call = blockCall(range.to);
      const json = await upstream.call(call.method, call.params, { signal });
      if (json === null)
        throw upstream.fault(
          'missing-block',
          'eth_getLogs',
          `has no block ${range.to}, for which it answered logs`,
        );
      const header = parseHeader(json);
      checkIdentity(header, range.to);
      upstream.state.setServed(range.to);
      const last = logs.at(-1);
      if (last?.blockNumber !== range.to || last.blockHash === header.hash) return;
      const text = `logs of block ${toQuantity(range.to)} are of another branch`;
      throw upstream.fault('log-block-hash-mismatch', 'eth_getLogs', text);
    },

    async timestamps(upstream, logs, signal) {
      const first = logs[0];
      if (first === undefined) return logs;
      const { capabilities } = upstream.state;
      if (first.blockTimestamp === null) {
        capabilities.logTimestamps ??= false;
        return logs;
      }
      let isRight = rightTimestamps.get(upstream.name);
      if (isRight === undefined) {
        const call = blockCall(first.blockNumber);
        const header = parseHeader(await upstream.call(call.method, call.params, { signal }));
        isRight = header.timestamp === first.blockTimestamp;
        rightTimestamps.set(upstream.name, isRight);
        capabilities.logTimestamps = isRight;
      }
      return isRight ? logs : logs.map((log) => ({ ...log, blockTimestamp: null }));
    },
  };
}
