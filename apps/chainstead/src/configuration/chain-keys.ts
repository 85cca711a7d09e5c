/** The configuration keys of one chain: written with `_<CHAIN>` behind, as in `RPC_URLS_ETH`. */
import { environmentSuffix } from '@chainstead/chains';
import { z } from 'zod';
import { optional, withDefault } from './key-facts.ts';
import {
  backfillProof,
  chainIdText,
  decimalNumber,
  evmAddress,
  listOf,
  marketplaceDeployment,
  oneOf,
  pastTime,
  plainText,
  pollInterval,
  proofPolicy,
  startBlock,
  urlOf,
  wholeNumber,
} from './values.ts';

/** Keys that are written with `_<CHAIN>` behind, `<CHAIN>` being the chain's name in upper case with `_` for `-`. */
export const chainKeys = z.object({
  RPC_URLS: optional(listOf(urlOf('http:', 'https:', 'ws:', 'wss:')), {
    group: 'Chains',
    description: 'Upstream nodes; ws(s) ones only announce heads. A comma inside a URL is written %2C',
    allowed: 'a comma list of http(s):// and ws(s):// URLs, at least one of them http(s)',
    example: 'https://eth.example.com/v2/secret,wss://eth.example.com/v2/secret',
    whenAbsent: "the chain's public endpoints, which are slow and limited",
    isUrl: true,
  }),
  RPC_RATE: optional(decimalNumber(0.1, 100_000), {
    group: 'Chains',
    description: 'Requests a second that each upstream of the chain allows, to all processes of a start together',
    allowed: 'a number from 0.1 to 100000',
    example: '25',
    whenAbsent: 'no limit of its own; the upstreams tell by answering 429',
  }),
  RPC_CONCURRENCY: optional(wholeNumber(1, 1_000), {
    group: 'Chains',
    description: 'Requests in flight at once to each upstream of the chain, from all processes of a start together',
    allowed: 'a whole number from 1 to 1000',
    example: '32',
    whenAbsent: '24 from each role, and 64 that the gateway passes on',
  }),
  RPC_PRIVATE_URLS: optional(listOf(urlOf('http:', 'https:')), {
    group: 'Chains',
    description: 'Upstream nodes that get no calls and no transactions as long as the chain has one in RPC_URLS',
    allowed: 'a comma list of http(s):// URLs',
    example: 'https://relay.example.com',
    whenAbsent: 'none',
    isUrl: true,
  }),
  GATEWAY_INTEGRITY: withDefault(oneOf('none', 'strict'), {
    group: 'Gateway',
    description:
      'Whether blocks, receipts and transactions of the chain are checked against their hashes and roots before the gateway answers with them (strict, slower)',
    allowed: 'none or strict',
    example: 'strict',
    default: 'none',
  }),
  GATEWAY_LOG_RANGE_MAX: optional(wholeNumber(1, 1_000_000_000), {
    group: 'Gateway',
    description: 'GATEWAY_LOG_RANGE_MAX for one chain',
    allowed: 'a whole number from 1 to 1000000000',
    example: '2000',
    whenAbsent: 'GATEWAY_LOG_RANGE_MAX',
  }),
  CHAIN_ID: optional(chainIdText, {
    group: 'Chains',
    description: 'Adds a chain that Chainstead does not know (or overrides the id of one that it knows)',
    allowed: 'a positive number, decimal or hexadecimal',
    example: '31337',
    whenAbsent: 'the id of the known chain',
  }),
  NATIVE_SYMBOL: optional(plainText.max(32, 'is longer than 32 characters'), {
    group: 'Chains',
    description: "Symbol of the chain's native currency",
    allowed: '1 to 32 characters',
    example: 'ETH',
    whenAbsent: "the known chain's, or ETH",
  }),
  MARKETPLACES: optional(listOf(marketplaceDeployment), {
    group: 'Chains',
    description: 'NFT marketplaces at other addresses than the known ones, for development chains and forks',
    allowed: 'a comma list of protocol:address, such as seaport-1.6:0x…',
    example: 'seaport-1.6:0x0000000000000068f116a894984e2db1123eb395',
    whenAbsent: 'the known addresses',
  }),
  ETHER_FEED: optional(evmAddress, {
    group: 'Chains',
    description: 'Chainlink-like ETH/USD feed (8 decimals): an aggregator that emits AnswerUpdated, or its proxy',
    allowed: 'an address',
    example: '0x5f4ec3df9cbd43714fe2740f5e3616155c5b8419',
    whenAbsent: "the chain's known feed",
  }),
  WRAPPED_NATIVE: optional(evmAddress, {
    group: 'Chains',
    description:
      "The contract that wraps the chain's native currency by Deposit and Withdrawal, as WETH does. For a chain that Chainstead does not know; that of a known one can't be changed",
    allowed: 'an address, of a known chain its own',
    example: '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2',
    whenAbsent: "the known chain's, or none: then balances of that coin are read each time",
  }),
  START_BLOCK: optional(startBlock, {
    group: 'Chains',
    description: 'Where history begins',
    allowed: 'a block number, or head (where the chain stands at the first start)',
    example: '18000000',
    whenAbsent: 'head, or block 0 on a chain that Chainstead does not know and whose head is below 100000',
  }),
  END_BLOCK: optional(wholeNumber(0), {
    group: 'Chains',
    description: 'Where a bounded run ends',
    allowed: 'a block number',
    example: '18100000',
    whenAbsent: 'the head is followed',
  }),
  KEEP_BLOCKS: optional(wholeNumber(1), {
    group: 'Chains',
    description:
      'How many of the newest blocks keep their ERC-20 transfers, transactions, logs and internal transfers; those of older blocks are dropped and not read again. With KEEP_SINCE, what either wants is kept',
    allowed: 'a whole number above the reorganisation depth (REORG_DEPTH_MAX)',
    example: '1000000',
    whenAbsent: 'all blocks do, unless KEEP_SINCE is set',
  }),
  KEEP_SINCE: optional(pastTime, {
    group: 'Chains',
    description:
      'From when on ERC-20 transfers, transactions, logs and internal transfers are kept; those of older blocks are dropped and not read again',
    allowed: 'a date (UTC) or a time such as 2025-01-01T12:00:00Z, not in the future',
    example: '2025-01-01',
    whenAbsent: 'always, unless KEEP_BLOCKS is set',
  }),
  TRANSACTIONS: withDefault(oneOf('wallets', 'all', 'off'), {
    group: 'Chains',
    description:
      'Which transactions of the chain are indexed: those of wallets that somebody asks the API about (in new blocks at no further call; what they sent in older ones is looked for, which takes an archive node), those of every block, which history then is read block by block for, or none',
    allowed: 'wallets, all or off',
    example: 'all',
    default: 'wallets',
  }),
  LOGS: withDefault(oneOf('all', 'off'), {
    group: 'Chains',
    description:
      'Which logs of the chain are indexed as they are: those of every block, which history then is read block by block for, or only those of contracts that requests ask for',
    allowed: 'all or off',
    example: 'all',
    default: 'off',
  }),
  INTERNAL_TRANSFERS: withDefault(oneOf('all', 'off'), {
    group: 'Chains',
    description:
      'Whether coins that move inside transactions are indexed, of every block. Wants nodes that trace all blocks: the dearest call that there is. Blocks that none of them traces are tried again',
    allowed: 'all or off',
    example: 'all',
    default: 'off',
  }),
  BACKFILL_ORDER: withDefault(oneOf('newest-first', 'oldest-first'), {
    group: 'Chains',
    description: 'Which history is read first',
    allowed: 'newest-first or oldest-first',
    example: 'oldest-first',
    default: 'newest-first',
  }),
  CONFIRMATIONS: optional(wholeNumber(1, 1_000_000), {
    group: 'Chains',
    description: 'Blocks until a block counts as confirmed',
    allowed: 'a whole number from 1 to 1000000',
    example: '12',
    whenAbsent: "the known chain's, or 12",
  }),
  BLOCK_TIME_MS: optional(wholeNumber(1, 86_400_000), {
    group: 'Chains',
    description:
      'Milliseconds between two blocks; a chain without progress for ten of them (at least 30 s) counts as stalled',
    allowed: 'a whole number from 1 to 86400000',
    example: '2000',
    whenAbsent: "the known chain's, or 2000",
  }),
  REORG_DEPTH_MAX: optional(wholeNumber(1, 1_000_000), {
    group: 'Chains',
    description: 'Blocks that a reorganisation may replace; a deeper one stops the chain and waits for the operator',
    allowed: 'a whole number from 1 to 1000000',
    example: '128',
    whenAbsent: "the known chain's finality window, or 64",
  }),
  POLL_INTERVAL_MS: optional(pollInterval, {
    group: 'Chains',
    description: 'Milliseconds between polls for a new head',
    allowed: 'a whole number from 10 to 3600000',
    example: '2000',
    whenAbsent: "POLL_INTERVAL_MS, or the chain's own",
  }),
  PROOF: optional(proofPolicy, {
    group: 'Proof',
    description: 'PROOF for one chain',
    allowed: 'strict or record',
    example: 'record',
    whenAbsent: "PROOF, or the chain's own",
  }),
  BACKFILL_PROOF: optional(backfillProof, {
    group: 'Proof',
    description: 'BACKFILL_PROOF for one chain',
    allowed: 'none or receipts',
    example: 'receipts',
    whenAbsent: 'BACKFILL_PROOF',
  }),
});

export type ChainSettings = z.output<typeof chainKeys>;

/** A chain's name as it stands behind a key: `base-sepolia` → `BASE_SEPOLIA`. */
export function chainSuffix(chainName: string): string {
  return environmentSuffix({ key: chainName });
}
