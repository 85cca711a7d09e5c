import { environmentSuffix } from '@chainstead/chains/environment-suffix';
import { EXCHANGE_FAMILIES } from '@chainstead/markets/custom-exchanges';
import { z } from 'zod';
import { historySource } from './history-source.ts';
import { keysOf } from './key-facts.ts';
import {
  backfillProof,
  chainIdText,
  customExchange,
  decimalNumber,
  evmAddress,
  httpUrls,
  listOf,
  marketplaceDeployment,
  oneOf,
  pastTime,
  plainText,
  proofPolicy,
  startBlock,
  tokenFeeds,
  urlOf,
  wholeNumber,
} from './values.ts';

const chains = keysOf('Chains');
const gateway = keysOf('Gateway');
const verification = keysOf('Verification');

/** With suffix `_<CHAIN>`: the name in upper case, `_` for `-`. */
export const chainKeys = z.object({
  RPC_URLS: chains.optional(listOf(urlOf('http:', 'https:', 'ws:', 'wss:')), {
    description: 'Upstream nodes. WebSocket URLs only announce new heads. Write a comma inside a URL as %2C',
    allowed: 'a comma list of http(s):// and ws(s):// URLs, at least one http(s)',
    example: 'https://eth.example.com/v2/secret,wss://eth.example.com/v2/secret',
    whenAbsent:
      "no node if HISTORY has era folders only; otherwise the chain's public endpoints, which are slow and rate-limited",
    isUrl: true,
  }),
  HISTORY: chains.optional(listOf(historySource), {
    description:
      'Sources of old blocks, in order of preference, which are read before nodes: an SQD Portal, a HyperSync, or a folder of era files. Their blocks are proven, so they need no trust. A key stands before the host: https://KEY@host',
    allowed: 'a comma list of portal:URL, hypersync:URL and era:FOLDER',
    example: 'portal:https://portal.sqd.dev/datasets/ethereum-mainnet,era:/var/lib/era',
    whenAbsent: 'nodes only',
    isUrl: true,
  }),
  RPC_RATE: chains.optional(decimalNumber(0.1, 100_000), {
    description: 'Requests per second to each upstream of the chain, shared by all processes of one start',
    example: '25',
    whenAbsent: 'no fixed limit; upstreams signal their limit with HTTP 429',
  }),
  RPC_CONCURRENCY: chains.optional(wholeNumber(1, 1_000), {
    description: 'Concurrent requests to each upstream of the chain, shared by all processes of one start',
    example: '32',
    whenAbsent: '24 per role, and 64 for gateway requests',
  }),
  RPC_PRIVATE_URLS: chains.optional(httpUrls, {
    description: 'Upstream nodes that get calls and transactions only if the chain has no upstream in RPC_URLS',
    allowed: 'a comma list of http(s):// URLs',
    example: 'https://relay.example.com',
    whenAbsent: 'none',
    isUrl: true,
  }),
  GATEWAY_INTEGRITY: gateway.withDefault(oneOf('none', 'strict'), {
    description:
      'Checks of gateway responses. strict (slower): blocks, receipts and transactions are checked against their hashes and roots',
    example: 'strict',
    default: 'none',
  }),
  CHAIN_ID: chains.optional(chainIdText, {
    description: 'Chain ID. Adds a chain that Chainstead does not know, or overrides the ID of a known chain',
    allowed: 'a positive number, decimal or hexadecimal',
    example: '31337',
    whenAbsent: 'the ID of the known chain',
  }),
  NATIVE_SYMBOL: chains.optional(plainText.max(32, 'is longer than 32 characters'), {
    description: 'Symbol of the native token',
    allowed: '1 to 32 characters',
    example: 'ETH',
    whenAbsent: "the known chain's symbol, or ETH",
  }),
  MARKETPLACES: chains.optional(listOf(marketplaceDeployment), {
    description: 'Additional NFT marketplace contracts, for development chains and forks',
    allowed: 'a comma list of protocol:address, such as seaport-1.6:0x…',
    example: 'seaport-1.6:0x0000000000000068f116a894984e2db1123eb395',
    whenAbsent: 'only the known addresses',
  }),
  EXCHANGES: chains.optional(listOf(customExchange), {
    description:
      'Additional decentralized exchanges, for development chains and forks: the family, the factory (or the contract that holds all pools), and optionally the hash of the init code of its pools',
    allowed: `a comma list of family:address or family:address:hash. Families: ${EXCHANGE_FAMILIES.join(', ')}`,
    example: 'v2:0x5fbdb2315678afecb367f032d93f642f64180aa3',
    whenAbsent: 'only the known exchanges',
  }),
  ETHER_FEED: chains.optional(evmAddress, {
    description:
      'ETH/USD price feed with 8 decimals and a Chainlink interface: an aggregator that emits AnswerUpdated, or its proxy',
    example: '0x5f4ec3df9cbd43714fe2740f5e3616155c5b8419',
    whenAbsent: "the chain's known feed",
  }),
  DOLLAR_TOKENS: chains.optional(listOf(evmAddress), {
    description:
      'Additional tokens that are worth a US dollar, or the price of their feed in FEEDS. Pools are priced with them',
    allowed: 'a comma list of addresses',
    example: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    whenAbsent: 'only the known dollar tokens',
  }),
  TRUSTED_HOOKS: chains.optional(listOf(evmAddress), {
    description:
      'Hooks that may change amounts, whose pools are counted nevertheless (Uniswap v4 and PancakeSwap Infinity). Stored pools follow a change at the next start',
    allowed: 'a comma list of addresses',
    example: '0x0010d0d5db05933fa0d9f7038d365e1541a41888',
    whenAbsent: 'pools whose hook may change amounts are not counted',
  }),
  FEEDS: chains.optional(tokenFeeds, {
    description:
      'Additional USD price feeds: the token (or native), an aggregator or its proxy with a Chainlink interface, and optionally the decimals and the heartbeat in seconds. Pools are priced with these tokens. A feed replaces the known feed of its token. For ether, use ETHER_FEED',
    allowed: 'a comma list of token:feed, token:feed:decimals or token:feed:decimals:heartbeat',
    example: 'native:0x0567f2323251f0aab15c8dfb1967e4e8a7d42aee:8:3600',
    whenAbsent: 'only the known feeds. Decimals default to 8, the heartbeat to 90000 (25 hours)',
  }),
  WRAPPED_NATIVE: chains.optional(evmAddress, {
    description:
      'Contract of the wrapped native token, with Deposit and Withdrawal events like WETH. For known chains, the contract is fixed',
    allowed: 'an address; for a known chain, only its own contract',
    example: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
    whenAbsent:
      "the known chain's contract, or none; without it, balances of the wrapped native token are read on each request",
  }),
  START_BLOCK: chains.optional(startBlock, {
    description: 'First block to index',
    allowed: 'a block number, or head (the head at the first start)',
    example: '18000000',
    whenAbsent: 'head, or block 0 if Chainstead does not know the chain and its head is below 100000',
  }),
  END_BLOCK: chains.optional(wholeNumber(0), {
    description: 'Last block to index',
    allowed: 'a block number',
    example: '18100000',
    whenAbsent: 'no end; the head is followed',
  }),
  RETENTION_BLOCKS: chains.optional(wholeNumber(1), {
    description:
      'Number of newest blocks whose ERC-20 transfers, transactions, logs, internal transfers, swaps and contract events are retained. Rows of older blocks are deleted and not fetched again. With RETENTION_FROM_DATE, a block is retained if either setting includes it',
    allowed: 'a whole number above the reorg depth (REORG_DEPTH_MAX)',
    example: '1000000',
    whenAbsent: 'all blocks, unless RETENTION_FROM_DATE is set',
  }),
  RETENTION_FROM_DATE: chains.optional(pastTime, {
    description:
      'Date from which ERC-20 transfers, transactions, logs, internal transfers, swaps and contract events are retained. Rows of older blocks are deleted and not fetched again',
    allowed: 'a date (UTC) or a time such as 2025-01-01T12:00:00Z, not in the future',
    example: '2025-01-01',
    whenAbsent: 'all blocks, unless RETENTION_BLOCKS is set',
  }),
  TRANSACTIONS: chains.withDefault(oneOf('wallets', 'all', 'off'), {
    description:
      'Transactions to index. wallets: those of wallets requested through the API. New blocks need no extra calls, older transactions need an archive node. all: those of every block. A backfill then reads every block. off: none',
    allowed: 'wallets, all or off',
    example: 'all',
    default: 'wallets',
  }),
  LOGS: chains.withDefault(oneOf('all', 'off'), {
    description:
      'Event logs to index. all: the logs of every block; a backfill then reads every block. off: only the logs of contracts requested through the API',
    example: 'all',
    default: 'off',
  }),
  INTERNAL_TRANSFERS: chains.withDefault(oneOf('all', 'off'), {
    description:
      'Whether native token transfers inside transactions are indexed for every block. Needs nodes that trace all blocks, the most expensive RPC call. Blocks that no node traces are retried',
    example: 'all',
    default: 'off',
  }),
  SWAPS: chains.withDefault(oneOf('all', 'off'), {
    description:
      'Whether swaps and liquidity changes of decentralized exchanges are indexed. all: prices, candles and profits follow from them. New blocks need no extra calls; a backfill reads every block. off: routes that need swaps return 400',
    example: 'off',
    default: 'all',
  }),
  BACKFILL_ORDER: chains.withDefault(oneOf('newest-first', 'oldest-first'), {
    description: 'Order in which historical blocks are indexed',
    example: 'oldest-first',
    default: 'newest-first',
  }),
  CONFIRMATIONS: chains.optional(wholeNumber(1, 1_000_000), {
    description: 'Number of blocks until a block counts as confirmed',
    example: '12',
    whenAbsent: "the known chain's value, or 12",
  }),
  BLOCK_TIME_MS: chains.optional(wholeNumber(1, 86_400_000), {
    description:
      'Milliseconds between two blocks. A chain counts as stalled after ten block times (at least 30 s) without progress',
    example: '2000',
    whenAbsent: "the known chain's value, or 2000",
  }),
  REORG_DEPTH_MAX: chains.optional(wholeNumber(1, 1_000_000), {
    description:
      'Maximum number of blocks that a reorg may replace. A deeper reorg stops the chain until you approve it',
    example: '128',
    whenAbsent: "the known chain's finality window, or 64",
  }),
  VERIFICATION: verification.optional(proofPolicy, {
    description: 'VERIFICATION for one chain',
    example: 'record',
    whenAbsent: 'VERIFICATION, or the default of the chain',
  }),
  BACKFILL_PROOF: verification.optional(backfillProof, {
    description: 'BACKFILL_PROOF for one chain',
    example: 'receipts',
    whenAbsent: 'BACKFILL_PROOF',
  }),
});

export type ChainSettings = z.output<typeof chainKeys>;

export function chainSuffix(chainName: string): string {
  return environmentSuffix({ key: chainName });
}
