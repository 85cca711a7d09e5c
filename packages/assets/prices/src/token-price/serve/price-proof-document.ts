import { z } from '@hono/zod-openapi';

/** Verifiers refuse any other form. */
export const PROOF_VERSION = 1;
export const PROOF_FORMAT = 'chainstead-price-proof';

/** Blocks with receipts in a proof, newest first. */
export const RECEIPT_BLOCKS_MAX = 256;
export const LINKED_BLOCKS_MAX = 256;

/**
 * Why a fact has no proof.
 *
 * - `contract-call`: a contract returned it.
 * - `too-many-blocks`: its log is in older blocks than the newest ones with logs.
 * - `no-proof-from-node`: no node returned the receipts.
 * - `header-not-verifiable`: the block's hash has another encoding.
 * - `no-address-rule`: the address does not follow from tokens.
 * - `unknown-feed`: the chain's feeds lack the aggregator.
 * - `assumed`, `pool`: sources of an anchor.
 * - `setting`: it is configured.
 * - `all-events`: it follows from all events of the pool.
 * - `absence`: something is missing.
 */
const UNPROVEN_REASONS = [
  'contract-call',
  'too-many-blocks',
  'no-proof-from-node',
  'header-not-verifiable',
  'no-address-rule',
  'unknown-feed',
  'assumed',
  'pool',
  'setting',
  'all-events',
  'absence',
] as const;

export type UnprovenPriceReason = (typeof UNPROVEN_REASONS)[number];

const hash = (description: string) =>
  z
    .string()
    .regex(/^0x[0-9a-f]{64}$/)
    .openapi({ description });
/** Characters: a leaf has all logs of a transaction. */
const NODE_LENGTH_MAX = 16 * 1024 * 1024;
const STATE_NODE_LENGTH_MAX = 16_384;
const PLACES_MAX = 100_000;
const STATE_NODES_MAX = 64;
const TICK_MAX = 887_272;

const bytes = (description: string) =>
  z
    .string()
    .max(NODE_LENGTH_MAX, { abort: true })
    // A repeated group would overflow the stack for long texts.
    .regex(/^0x[0-9a-f]*$/)
    .refine((value) => value.length % 2 === 0)
    .openapi({ description });
const index = (description: string) => z.int().min(0).openapi({ description });

const receiptSchema = z
  .object({
    block_hash: hash('Block of the receipt'),
    index: index('Position of the receipt in the trie'),
    nodes: z
      .array(bytes('RLP of a node'))
      .max(16)
      .openapi({ description: 'Nodes from the receipts root to the receipt' }),
  })
  .openapi('ProvenReceipt', { description: 'A receipt and its proof' });

const logShape = { receipt: index('Position in `receipts`'), log: index('Position of the log in the receipt') };
const logSchema = z.object(logShape).openapi('ProvenLog', { description: 'A log of a proven receipt' });
const feedLogSchema = z
  .object(logShape)
  .nullable()
  .openapi('ProvenFeedLog', { description: 'The `AnswerUpdated` log. null: not proven' });

const startSchema = z
  .object({
    block: z
      .string()
      .regex(/^\d{1,15}$/)
      .openapi({ description: 'Block at whose end the state is as explained' }),
    tick: z
      .int()
      .min(-TICK_MAX)
      .max(TICK_MAX)
      .nullable()
      .openapi({ description: 'Tick of that state. null: not a concentrated pool' }),
    reason: z.enum(UNPROVEN_REASONS).openapi({ description: 'Why the states until there have no proof' }),
  })
  .nullable()
  .openapi('UnprovenStart', { description: 'Newest state without a proof. null: all states are proven' });

const poolSchema = z
  .object({
    pair_address: z.string().openapi({ description: 'Address of the pool' }),
    start: startSchema,
    logs: z.array(logSchema).max(PLACES_MAX).openapi({ description: 'Logs that set the states, oldest first' }),
  })
  .openapi('ProvenPool', { description: 'Logs of a pool that counts' });

const feedSchema = z
  .object({
    token_address: z.string().openapi({ description: 'Anchor' }),
    heartbeat_seconds: index('Age above which a value of the feed does not count'),
    proof: feedLogSchema,
    reason: z.enum(UNPROVEN_REASONS).nullable().openapi({ description: 'Why it has no proof. null: it has one' }),
  })
  .openapi('ProvenFeed', { description: 'Value of the feed of an anchor that counts' });

const hex = (description: string) =>
  z
    .string()
    .max(STATE_NODE_LENGTH_MAX, { abort: true })
    .regex(/^0x[0-9a-f]*$/i)
    .openapi({ description });

/** `eth_getProof` for one slot (EIP-1186). */
export const accountProofSchema = z
  .object({
    address: hex('Account'),
    balance: hex('Wei'),
    nonce: hex('Nonce'),
    codeHash: hex('Hash of the code'),
    storageHash: hex('Root of the storage'),
    accountProof: z
      .array(hex('RLP of a node'))
      .max(STATE_NODES_MAX)
      .openapi({ description: 'Nodes from the state root to the account' }),
    storageProof: z
      .array(
        z
          .object({
            key: hex('Slot'),
            value: hex('Value'),
            proof: z
              .array(hex('RLP of a node'))
              .max(STATE_NODES_MAX)
              .openapi({ description: 'Nodes from the storage root to the slot' }),
          })
          .openapi('StorageSlotProof', { description: 'Proof of a slot' }),
      )
      .max(1)
      .openapi({ description: 'Proof of the slot' }),
  })
  .openapi('AccountProof', { description: 'Response of eth_getProof' });

const balanceSchema = z
  .object({
    pair_address: z.string().openapi({ description: 'Address of the pool' }),
    token_address: z.string().openapi({ description: 'Token of the balance' }),
    layout: z
      .enum(['solidity', 'vyper', 'solady'])
      .openapi({ description: 'How the slot of an account follows' }),
    slot: z
      .string()
      .regex(/^\d{1,78}$/)
      .openapi({ description: 'Slot of the mapping of balances, in decimal digits' }),
    proof: accountProofSchema,
  })
  .openapi('ProvenBalance', { description: 'Storage proof of the balance of a pool at the end of the block' });

const unprovenSchema = z
  .object({
    fact: z.string().openapi({ description: 'The fact' }),
    reason: z.enum(UNPROVEN_REASONS).openapi({ description: 'Why it has no proof' }),
  })
  .openapi('UnprovenFact', { description: 'A fact that decides with others, and has no proof' });

export const priceProofSchema = z
  .object({
    format: z.literal(PROOF_FORMAT).openapi({ description: 'Always chainstead-price-proof' }),
    version: z.literal(PROOF_VERSION).openapi({ description: 'Version of the form' }),
    chain_id: z
      .string()
      .regex(/^\d{1,16}$/)
      .openapi({ description: 'Chain ID in decimal digits' }),
    block_hash: hash('Hash of the block of the price'),
    headers: z.array(bytes('RLP of a header')).max(PLACES_MAX).openapi({
      description:
        'Headers of all blocks below, oldest first. Those near the block of the price are linked by parent hashes',
    }),
    receipts: z.array(receiptSchema).max(PLACES_MAX).openapi({ description: 'Receipts with the logs below' }),
    pools: z
      .array(poolSchema)
      .max(PLACES_MAX)
      .openapi({ description: 'Evidence of pools that count: those of the token, then those of its hops' }),
    feeds: z.array(feedSchema).max(PLACES_MAX).openapi({ description: 'Evidence of anchors that count' }),
    balances: z
      .array(balanceSchema)
      .max(PLACES_MAX)
      .openapi({ description: 'Storage proofs of balances of concentrated pools' }),
    unproven: z.array(unprovenSchema).max(PLACES_MAX).openapi({ description: 'Facts without a proof' }),
    digest: hash('keccak-256 of the response without this member: detects accidental changes'),
  })
  .openapi('PriceProof', { description: 'Evidence for `chainstead verify-price`. Only with proof=true' });

export type PriceProof = z.infer<typeof priceProofSchema>;
export type UnprovenFact = PriceProof['unproven'][number];
