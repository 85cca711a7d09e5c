import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Reaction } from '../errors.ts';
import { classifyError, ERROR_RULES, findBlockLimit, findSuggestedRange } from './error-rules.ts';

interface Captured {
  readonly from: string;
  readonly code?: number;
  readonly http?: number;
  readonly text: string;
  readonly method?: string;
  readonly reaction: Reaction;
  readonly blocks?: number;
  readonly results?: number;
  readonly range?: { from: number; to: number };
}

/** Messages as received, one or more per provider and client. */
// biome-ignore format: a table reads best with one row a line
const CAPTURED: readonly Captured[] = [
  // Structural caps.
  { from: 'Alchemy free', code: -32600, http: 400, text: 'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x64, 0x6d]. Upgrade to PAYG for expanded block range.', reaction: 'range', blocks: 10, range: { from: 100, to: 109 } },
  { from: 'Alchemy paid', code: -32600, text: 'You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x0, 0x1f3]', reaction: 'range', blocks: 500, range: { from: 0, to: 499 } },
  { from: 'QuickNode', code: -32614, http: 413, text: 'eth_getLogs is limited to a 10,000 range', reaction: 'range', blocks: 10_000 },
  { from: 'QuickNode (filter)', code: -32614, text: 'eth_getLogs and eth_newFilter are limited to a 10,000 blocks range', reaction: 'range', blocks: 10_000 },
  { from: 'QuickNode trial', code: -32614, text: 'eth_getLogs is limited to a 5 range', reaction: 'range', blocks: 5 },
  { from: 'BlockPI', code: -32602, text: 'eth_getLogs is limited to 1024 block range. Please check the parameter requirements at https://docs.blockpi.io/', reaction: 'range', blocks: 1024 },
  { from: '1RPC', code: -32000, text: 'eth_getLogs is limited to a 1000 blocks range', reaction: 'range', blocks: 1000 },
  { from: 'Infura 2026', code: -32602, text: 'range 1000000 exceeds limit of 10000', reaction: 'range', blocks: 10_000 },
  { from: 'dRPC free', code: 35, http: 400, text: 'ranges over 10000 blocks are not supported on freetier', reaction: 'range', blocks: 10_000 },
  { from: 'dRPC free 2026', code: 35, text: 'ranges over 10000 blocks are not supported on free plan', reaction: 'range', blocks: 10_000 },
  { from: 'Chainstack', code: -32602, text: 'Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits#evm-range-limits', reaction: 'range', blocks: 100 },
  { from: 'Cloudflare', code: -32047, text: 'Invalid eth_getLogs request. "fromBlock"-"toBlock" range too large. Max range: 800', reaction: 'range', blocks: 799 },
  { from: 'publicnode', code: -32701, text: 'exceed maximum block range: 50000', reaction: 'range', blocks: 50_000 },
  { from: 'bsc, bor', code: -32000, text: 'exceed maximum block range: 5000', reaction: 'range', blocks: 5_000 },
  { from: 'thirdweb', code: -32005, text: 'Maximum allowed number of requested blocks is 1000', reaction: 'range', blocks: 1_000 },
  { from: 'Blast API', http: 400, text: 'requested range exceeds the range allowed for your plan (5000 > 3000)', reaction: 'range', blocks: 3_000 },
  { from: 'Coinbase', code: -32005, text: 'please limit the query to at most 1,000 blocks', reaction: 'range', blocks: 999 },
  { from: 'Merkle', code: -32603, text: 'eth_getLogs range is too large, max is 1k blocks', reaction: 'range', blocks: 1_000 },
  { from: 'Tatum', text: 'Requested range is over limit of 100', reaction: 'range', blocks: 100 },
  { from: 'Ankr', code: -32062, text: 'Block range is too large', reaction: 'range' },
  { from: 'Ankr (older)', code: -32600, text: 'block range is too wide', reaction: 'range' },
  { from: 'reth', code: -32602, text: 'query exceeds max block range 100000', reaction: 'range', blocks: 100_000 },
  { from: 'HyperEVM', code: -32602, text: 'query exceeds max block range 50', reaction: 'range', blocks: 50 },
  { from: 'besu', code: -32005, text: 'Requested range exceeds maximum RPC range limit', reaction: 'range' },
  { from: 'Avalanche', code: -32000, text: 'requested too many blocks from 1 to 5000, maximum is set to 2048', reaction: 'range', blocks: 2047 },
  { from: 'Frontier', code: -32603, text: 'block range is too wide (maximum 1024)', reaction: 'range', blocks: 1024 },
  { from: 'Ethermint', code: -32000, text: 'maximum [from, to] blocks distance: 10000', reaction: 'range', blocks: 10_000 },
  { from: 'Sei', code: -32000, text: 'block range too large (5000), maximum allowed is 2000 blocks', reaction: 'range', blocks: 2_000 },
  { from: 'Monad', code: -32602, text: 'block range too large', reaction: 'range', blocks: 1_000 },
  { from: 'Ronin', code: -32000, text: 'requested block range 801 exceeds the limit of 200', reaction: 'range', blocks: 200 },
  { from: 'eRPC', code: -32012, text: 'block range exceeded max allowed range', reaction: 'range' },
  { from: 'proxyd', code: -32000, text: 'Block range is too large', reaction: 'range' },

  { from: 'anvil', code: -32603, text: 'EVM error InvalidFEOpcode', reaction: 'call', method: 'eth_call' },
  { from: 'anvil', code: -32603, text: 'EVM error OutOfGas', reaction: 'call', method: 'eth_call' },

  // Old states.
  { from: 'Chainstack', code: -32002, text: 'Archive, Debug and Trace requests are not available on your current plan.', reaction: 'missing-data' },

  // Results, bytes.
  { from: 'Alchemy', code: -32602, text: 'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x0, 0xd043b8]', reaction: 'density', results: 10_000, range: { from: 0, to: 0xd043b8 } },
  { from: 'Infura', code: -32005, text: 'query returned more than 10000 results. Try with this block range [0x64, 0xc8].', reaction: 'density', results: 10_000, range: { from: 100, to: 200 } },
  { from: 'zkSync', code: -32602, text: 'Query returned more than 10000 results. Try with this block range [0x1, 0x2].', reaction: 'density', results: 10_000, range: { from: 1, to: 2 } },
  { from: 'reth', code: -32602, text: 'query exceeds max results 20000, retry with the range 24000000-24000021', reaction: 'density', results: 20_000, range: { from: 24_000_000, to: 24_000_021 } },
  { from: 'reth size', code: -32008, text: 'Response is too big (Exceeded max limit of 167772160)', reaction: 'density' },
  { from: 'Erigon 3.5', code: -32000, text: 'query returns too many logs, narrow your filter: 20000', reaction: 'density', results: 20_000 },
  { from: 'Nitro', code: -32000, text: 'logs matched by query exceeds limit of 10000', reaction: 'density', results: 10_000 },
  { from: 'LlamaRPC', code: -32602, text: 'query exceeds max results 20000', reaction: 'density', results: 20_000 },
  { from: '1RPC size', code: -32000, text: 'response size should not greater than 10000000 bytes', reaction: 'density' },
  { from: 'Monad size', code: -32603, text: 'response exceeds size limit', reaction: 'density' },
  { from: 'proxyd size', code: -32000, text: 'backend response too large', reaction: 'density' },
  { from: 'HyperRPC', text: 'query would return more than 50000 logs', reaction: 'density', results: 50_000 },
  { from: 'an unknown proxy', code: -32000, text: 'the filter covers too many blocks, sorry', reaction: 'density' },

  // Throttles never shrink.
  { from: 'Infura', code: -32005, text: 'project ID request rate exceeded', reaction: 'throttled' },
  { from: 'Infura daily', code: -32005, text: 'daily request count exceeded, request rate limited', reaction: 'out-of-budget' },
  { from: 'Alchemy in HTTP 200', code: 429, text: 'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.', reaction: 'throttled' },
  { from: 'QuickNode', code: -32007, text: '50/second request limit reached - reduce calls per second or upgrade your account at quicknode.com', reaction: 'throttled' },
  { from: 'Base', code: -32007, text: '50/second rate limit', reaction: 'throttled' },
  { from: 'Flow gateway', code: -32000, text: 'limit of requests per second reached', reaction: 'throttled' },
  { from: 'HTTP 429 without text', http: 429, text: '', reaction: 'throttled' },
  { from: 'Sei busy', code: -32000, text: 'server too busy', reaction: 'throttled' },
  { from: 'Sei rate', code: -32000, text: 'log query rate limit exceeded', reaction: 'throttled' },
  { from: 'Cloudflare in front of LlamaRPC', http: 403, text: 'error code: 1015', reaction: 'throttled' },
  { from: 'BSC dataseed, not getLogs', code: -32005, text: 'limit exceeded', method: 'eth_call', reaction: 'throttled' },
  { from: 'BSC dataseed, getLogs', code: -32005, text: 'limit exceeded', reaction: 'unsupported' },

  // Money and keys.
  { from: 'Alchemy capacity', code: 429, http: 429, text: 'Monthly capacity limit exceeded. Visit https://dashboard.alchemy.com/settings/billing to upgrade', reaction: 'out-of-budget' },
  { from: 'HTTP 402', http: 402, text: 'Payment Required', reaction: 'out-of-budget' },
  { from: 'Alchemy key', http: 401, text: 'Must be authenticated!', reaction: 'misconfigured' },
  { from: 'HTTP 403', http: 403, text: 'Forbidden', reaction: 'misconfigured' },
  { from: 'Ankr key', code: -32052, text: 'API key is not allowed to access method', reaction: 'misconfigured' },
  { from: 'dRPC key', code: 4, text: 'token is invalid', reaction: 'misconfigured' },
  { from: 'publicnode archive', code: -32602, http: 403, text: 'Archive requests require a personal token. Get one at https://www.allnodes.com/publicnode', reaction: 'missing-data' },
  { from: 'publicnode no address', code: -32701, text: 'Please specify an address in your request or, to remove restrictions, order a dedicated full node here', reaction: 'unsupported' },

  // Beyond the head, and missing.
  { from: 'geth 1.17', code: -32602, text: 'block range extends beyond current head block', reaction: 'beyond-head' },
  { from: 'reth', code: -32602, text: 'block range extends beyond current head block: requested 25000010, head 25000000', reaction: 'beyond-head' },
  { from: 'Erigon syncing', code: -32000, text: 'requested block range [1, 9] is beyond latest executed block 5 (node is still syncing)', reaction: 'beyond-head' },
  { from: 'Avalanche', code: -32000, text: 'requested from block 10 after last accepted block 5', reaction: 'beyond-head' },
  { from: 'Sei', code: -32000, text: 'requested toBlock 10 is after latest available block 5', reaction: 'beyond-head' },
  { from: 'geth pruned', code: 4444, text: 'pruned history unavailable', reaction: 'missing-data' },
  { from: 'reth pruned', code: 4444, text: 'pruned history unavailable: requested 5, earliest available 15537394', reaction: 'missing-data' },
  { from: 'Erigon pruned', code: -32000, text: 'old data not available due to pruning: requested block 5, history is available from block 10', reaction: 'missing-data' },
  { from: 'geth unknown block', code: -32000, text: 'unknown block', reaction: 'missing-data' },
  { from: 'reth proofs', code: -32602, text: 'distance to target block exceeds maximum proof window', method: 'eth_getProof', reaction: 'missing-data' },
  { from: 'Erigon proofs', code: -32000, text: 'requested block is too old, block must be within 100000 blocks of the head block number (currently 22237523)', method: 'eth_getProof', reaction: 'missing-data' },
  { from: 'geth state', code: -32000, text: 'missing trie node 0xab (path ) state 0xab is not available', method: 'eth_call', reaction: 'missing-data' },
  { from: 'zkSync', code: -32602, text: "Block with such an ID doesn't exist yet", reaction: 'missing-data' },
  { from: 'Nethermind', code: -39001, text: 'Unknown block', reaction: 'missing-data' },
  { from: 'HyperEVM ahead', code: -32000, text: 'invalid block height', reaction: 'missing-data' },
  { from: 'op-geth', code: -32000, text: 'no historical rpc is available for this historical (pre-bedrock) execution request', reaction: 'missing-data' },
  { from: 'no finalized block yet', code: -39001, text: 'finalized block not found', method: 'eth_getBlockByNumber', reaction: 'missing-data' },

  // Time.
  { from: 'geth', code: -32002, text: 'request timed out', reaction: 'timeout' },
  { from: 'Infura', code: -32005, text: 'query timeout exceeded', reaction: 'timeout' },
  { from: 'dRPC', code: 30, text: 'Request timeout on the free tier, please upgrade your tier to the paid one', reaction: 'timeout' },
  { from: 'besu', code: -32603, text: 'Timeout expired', reaction: 'timeout' },
  { from: 'HTTP 504', http: 504, text: 'upstream request timeout', reaction: 'timeout' },
  { from: 'Base, oversized getLogs', code: -32011, http: 503, text: 'no backend is currently healthy to serve traffic', reaction: 'timeout' },

  // Methods.
  { from: 'geth', code: -32601, text: 'the method eth_getBlockReceipts does not exist/is not available', method: 'eth_getBlockReceipts', reaction: 'unsupported' },
  { from: 'besu', code: -32604, text: 'Method not enabled', method: 'trace_block', reaction: 'unsupported' },
  { from: 'dRPC', code: 35, text: 'method is not available on freetier', method: 'trace_block', reaction: 'unsupported' },
  { from: 'Monad', code: -32601, text: 'Method not supported', method: 'eth_getProof', reaction: 'unsupported' },
  { from: 'HTTP 405', http: 405, text: 'Method Not Allowed', method: 'eth_call', reaction: 'unsupported' },

  // Batches.
  { from: 'geth', code: -32600, text: 'batch too large', method: 'eth_getBlockByNumber', reaction: 'batch-size' },
  { from: 'geth answer', code: -32003, text: 'response too large', method: 'eth_getBlockByNumber', reaction: 'batch-size' },
  { from: 'reth receipts', code: -32008, text: 'Response is too big (Exceeded max limit of 167772160)', method: 'eth_getBlockReceipts', reaction: 'batch-size' },
  { from: 'a proxy', code: -32000, text: 'response size exceeded 10485760 bytes', method: 'eth_getTransactionReceipt', reaction: 'batch-size' },
  { from: 'besu', code: -32005, text: 'Number of requests exceeds max batch size', method: 'eth_getBlockByNumber', reaction: 'batch-size' },
  { from: 'dRPC free', code: 31, http: 500, text: 'Batch of more than 3 requests are not allowed on free plan', method: 'eth_getBlockByNumber', reaction: 'batch-size' },

  // Errors of the call itself.
  { from: 'revert', code: 3, text: 'execution reverted: Unauthorized', method: 'eth_call', reaction: 'call' },
  { from: 'revert with throttle words', code: -32000, text: 'execution reverted: rate limit exceeded', method: 'eth_call', reaction: 'call' },
  { from: 'nonce', code: -32000, text: 'nonce too low', method: 'eth_sendRawTransaction', reaction: 'call' },
  { from: 'known', code: -32000, text: 'already known', method: 'eth_sendRawTransaction', reaction: 'call' },
  { from: 'Monad pool', code: -32603, text: 'An existing transaction had higher priority', method: 'eth_sendRawTransaction', reaction: 'call' },
  { from: 'OP sequencer', code: -32000, text: 'sender is over rate limit', method: 'eth_sendRawTransaction', reaction: 'call' },
  { from: 'geth', code: -32602, text: 'invalid argument 0: hex string without 0x prefix', method: 'eth_call', reaction: 'caller' },
  { from: 'geth from above to', code: -32602, text: 'invalid block range params', reaction: 'caller' },
  { from: 'geth addresses', code: -32000, text: 'exceed max addresses or topics per search position', reaction: 'caller' },

  // Anything else.
  { from: 'any', code: -32603, text: 'Internal error', method: 'eth_call', reaction: 'transient' },
  { from: 'dRPC', http: 500, text: 'Temporary internal error. Please retry', method: 'eth_call', reaction: 'transient' },
  { from: 'dRPC route', code: 1, text: "Can't route your request to suitable provider", reaction: 'transient' },
];

describe('captured error answers', () => {
  test.each(CAPTURED)(
    '$from: $text',
    ({ code, http, text, method = 'eth_getLogs', reaction, blocks, results, range }) => {
      const meaning = classifyError({
        method,
        text,
        ...(code === undefined ? {} : { rpcCode: code }),
        ...(http === undefined ? {} : { httpStatus: http }),
      });
      expect(meaning.reaction).toBe(reaction);
      expect(meaning.limitBlocks).toBe(blocks);
      expect(meaning.limitResults).toBe(results);
      expect(meaning.suggestedRange).toEqual(range);
    },
  );

  test('hold at least forty rules and every reaction', () => {
    expect(ERROR_RULES.length).toBeGreaterThanOrEqual(40);
    const reactions = new Set<Reaction>(CAPTURED.map((captured) => captured.reaction));
    expect(ERROR_RULES.map((rule) => rule.reaction).filter((reaction) => !reactions.has(reaction))).toEqual([]);
  });
});

test('a failure is counted as what it was: an HTTP status without JSON-RPC error, or an RPC error', () => {
  expect(classifyError({ method: 'eth_call', text: 'Bad Gateway', httpStatus: 502 }).kind).toBe('http-status');
  expect(classifyError({ method: 'eth_call', text: 'Internal error', rpcCode: -32603 }).kind).toBe('rpc-error');
});

test('numbers with thousands separators and thousands suffixes are read', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999_999 }), (limit) => {
      expect(findBlockLimit(`eth_getLogs is limited to a ${limit.toLocaleString('en-US')} range`)).toBe(limit);
      expect(findBlockLimit(`exceed maximum block range: ${limit}`)).toBe(limit);
    }),
  );
  expect(findBlockLimit('up to a 2K block range')).toBe(2_000);
  expect(findBlockLimit('no number here')).toBeUndefined();
});

test('a suggested range that is no range is not taken', () => {
  expect(findSuggestedRange('Try with this block range [0xc8, 0x64].')).toBeUndefined();
  expect(findSuggestedRange('retry with the range 7-7')).toEqual({ from: 7, to: 7 });
});
