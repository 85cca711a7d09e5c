import { hash } from 'node:crypto';
import type { Chain } from '@chainstead/chains';
import { createMetricsRegistry, type Hash, type Log, parseHash, silentLogger } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { createUpstreamPool } from '@chainstead/rpc/pool';

const SECONDS_PER_BLOCK = 12;
const FIRST_TIMESTAMP = 1_700_000_000;
/** Blocks above those that are indexed, so that they are final. */
const BLOCKS_ABOVE = 10_000;

/**
 * A pool of no nodes, which nothing is sent to: of all that a backfill of filtered logs asks, it knows the answers.
 * @param blocks of the chain
 * @param logsOf a block; called when they are read
 */
export function createGeneratedPool(
  chain: Chain,
  blocks: number,
  logsOf: (block: number) => readonly Log[],
): UpstreamPool {
  const upstreams = [{ url: 'http://127.0.0.1:9' }];
  const pool = createUpstreamPool({ chain, upstreams, logger: silentLogger(), metrics: createMetricsRegistry() });
  const number = blocks + BLOCKS_ABOVE;
  const head = {
    number,
    hash: placeOf(number).blockHash,
    parentHash: placeOf(number - 1).blockHash,
    timestamp: placeOf(number).blockTimestamp,
  };
  return {
    ...pool,
    getHead: async () => ({ value: head, upstream: 'generated' }),
    getFinalized: async () => number,
    getLogs: async ({ range }) => {
      const logs: Log[] = [];
      for (let block = range.from; block <= range.to; block++) logs.push(...logsOf(block));
      return { logs, sources: [{ range, upstream: 'generated' }], calls: 1 };
    },
  };
}

/** What every log of a generated block says of it. */
export function placeOf(
  block: number,
): Pick<Log, 'blockNumber' | 'blockHash'> & { readonly blockTimestamp: number } {
  return {
    blockNumber: block,
    blockHash: sha256(`block ${block}`),
    blockTimestamp: FIRST_TIMESTAMP + block * SECONDS_PER_BLOCK,
  };
}

/** 32 bytes that follow from a name. */
export function sha256(name: string): Hash {
  return parseHash(`0x${hash('sha256', name)}`);
}
