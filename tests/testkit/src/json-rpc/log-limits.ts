import type { BlockRange } from '@chainstead/core';
import type { RpcReply } from './json-rpc-reply.ts';

/** Whose words are used to refuse a range (chain-facts sections 6.2 and 6.3). */
export type LogLimitStyle =
  | 'infura'
  | 'alchemy'
  | 'alchemy-free'
  | 'reth'
  | 'geth'
  | 'erigon'
  | 'besu'
  | 'nitro'
  | 'coreth'
  | 'ethermint'
  | 'zksync'
  | 'quicknode'
  | 'drpc'
  | 'thirdweb'
  | 'response-size';

/** What one eth_getLogs may ask for. */
export interface LogLimit {
  readonly style: LogLimitStyle;
  /** Blocks in a range, both ends counted. */
  readonly maxRange?: number;
  readonly maxResults?: number;
}

interface Wording {
  /** Said to a range of too many blocks. */
  readonly range: (range: BlockRange, limit: number) => RpcReply;
  /** Said to too many results; `fitting` is the longest range from the same start that would have been answered. */
  readonly results: (range: BlockRange, limit: number, fitting: BlockRange) => RpcReply;
}

/** Refusal of a range of more blocks than the limit allows, or null. */
export function refuseRange(limit: LogLimit, range: BlockRange): RpcReply | null {
  const blocks = range.to - range.from + 1;
  if (limit.maxRange === undefined || blocks <= limit.maxRange) return null;
  return WORDINGS[limit.style].range(range, limit.maxRange);
}

/** Refusal of more results than the limit allows. A range of one block is refused too: the caller must find another way. */
export function refuseResults(
  limit: LogLimit,
  range: BlockRange,
  maxResults: number,
  fittingTo: number,
): RpcReply {
  return WORDINGS[limit.style].results(range, maxResults, {
    from: range.from,
    to: Math.max(range.from, fittingTo),
  });
}

const hex = (block: number): string => `0x${block.toString(16)}`;
const hexRange = (range: BlockRange): string => `[${hex(range.from)}, ${hex(range.to)}]`;
const grouped = (blocks: number): string => blocks.toLocaleString('en-US');
const size = (range: BlockRange): number => range.to - range.from + 1;

function refusal(code: number, message: string, httpStatus?: number): RpcReply {
  return httpStatus === undefined ? { error: { code, message } } : { error: { code, message }, httpStatus };
}

const WORDINGS: Readonly<Record<LogLimitStyle, Wording>> = {
  infura: {
    range: (range, limit) => refusal(-32602, `range ${size(range)} exceeds limit of ${limit}`),
    results: (_range, limit, fitting) =>
      refusal(
        -32005,
        `query returned more than ${limit} results. Try with this block range ${hexRange(fitting)}.`,
      ),
  },
  alchemy: {
    range: (range, limit) =>
      refusal(
        -32600,
        `You can make eth_getLogs requests with up to a ${limit} block range. Based on your parameters, this block range should work: ${hexRange({ from: range.from, to: range.from + limit - 1 })}`,
        400,
      ),
    results: (_range, limit, fitting) =>
      refusal(
        -32602,
        `Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of ${limit} logs in the response. Based on your parameters and the response size limit, this block range should work: ${hexRange(fitting)}`,
      ),
  },
  'alchemy-free': {
    range: (range, limit) =>
      refusal(
        -32600,
        `Under the Free tier plan, you can make eth_getLogs requests with up to a ${limit} block range. Based on your parameters, this block range should work: ${hexRange({ from: range.from, to: range.from + limit - 1 })}. Upgrade to PAYG for expanded block range.`,
        400,
      ),
    results: (_range, _limit, fitting) =>
      refusal(-32602, `Log response size exceeded. this block range should work: ${hexRange(fitting)}`),
  },
  reth: {
    range: (_range, limit) => refusal(-32602, `query exceeds max block range ${limit}`),
    results: (_range, limit, fitting) =>
      refusal(-32602, `query exceeds max results ${limit}, retry with the range ${fitting.from}-${fitting.to}`),
  },
  geth: {
    range: (_range, limit) => refusal(-32000, `exceed maximum block range: ${limit}`),
    results: () => refusal(-32003, 'response too large'),
  },
  erigon: {
    range: (_range, limit) => refusal(-32000, `exceed maximum block range: ${limit}`),
    results: (_range, limit) => refusal(-32000, `query returns too many logs, narrow your filter: ${limit}`),
  },
  besu: {
    range: () => refusal(-32005, 'Requested range exceeds maximum RPC range limit'),
    results: () => refusal(-32603, 'Timeout expired'),
  },
  nitro: {
    range: () => refusal(-32000, 'Block range is too large'),
    results: (_range, limit) => refusal(-32000, `logs matched by query exceeds limit of ${limit}`),
  },
  coreth: {
    range: (range, limit) =>
      refusal(
        -32000,
        `requested too many blocks from ${range.from} to ${range.to}, maximum is set to ${limit + 1}`,
      ),
    results: () => refusal(-32000, 'response too large'),
  },
  ethermint: {
    range: (_range, limit) => refusal(-32000, `maximum [from, to] blocks distance: ${limit}`),
    results: (_range, limit) => refusal(-32000, `query returned more than ${limit} results`),
  },
  zksync: {
    range: (_range, limit) => refusal(-32602, `block range too large, maximum ${limit}`),
    results: (_range, limit, fitting) =>
      refusal(
        -32602,
        `Query returned more than ${limit} results. Try with this block range ${hexRange(fitting)}.`,
      ),
  },
  quicknode: {
    range: (_range, limit) => refusal(-32614, `eth_getLogs is limited to a ${grouped(limit)} range`, 413),
    results: () => refusal(-32000, 'backend response too large'),
  },
  drpc: {
    range: (_range, limit) => refusal(35, `ranges over ${limit} blocks are not supported on freetier`, 400),
    results: () => refusal(30, 'Request timeout on the free tier, please upgrade your tier to the paid one', 408),
  },
  thirdweb: {
    range: (_range, limit) => refusal(-32005, `Maximum allowed number of requested blocks is ${limit}`),
    results: (_range, _limit, fitting) =>
      refusal(-32005, `Log response size exceeded. this block range should work: ${hexRange(fitting)}`),
  },
  'response-size': {
    range: () => refusal(-32000, 'Block range is too large'),
    results: () => ({
      error: { code: -32008, message: 'Response is too big', data: 'Exceeded max limit of 167772160' },
    }),
  },
};
