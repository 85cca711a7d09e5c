import type { Address, Hash, Hex } from '@chainstead/core';
import type { StateKind } from '@chainstead/node-reads';
import { z } from 'zod';
import { accountProofSchema } from '../token-price/serve/price-proof-document.ts';

export interface EvidenceQuestion {
  readonly blocks: readonly {
    readonly number: number;
    readonly hash: Hash;
    readonly logs: readonly LogOfBlock[];
  }[];
  /** All headers from block `first` to the one of this hash; null: none. */
  readonly link: { readonly first: number; readonly last: number; readonly hash: Hash } | null;
  readonly state: {
    readonly number: number;
    readonly hash: Hash;
    readonly balances: readonly BalanceOfPool[];
  } | null;
}

/** `balance`: base units, decimal digits. */
export type BalanceOfPool = { readonly pool: Address; readonly token: Address; readonly balance: string };

export type LogOfBlock = { readonly transactionIndex: number; readonly logIndex: number };

export interface BlockEvidence {
  readonly hash: Hash;
  /** Why there is no proof; null: there is one. */
  readonly reason: 'no-proof-from-node' | 'header-not-verifiable' | null;
  /** RLP. */
  readonly header: Hex;
  readonly receipts: readonly { readonly index: number; readonly nodes: readonly Hex[] }[];
  readonly logs: readonly { readonly index: number; readonly log: number }[];
}

export interface PriceEvidence {
  readonly blocks: readonly BlockEvidence[];
  /** RLP, oldest first. None: the headers don't link, or have another encoding. */
  readonly headers: readonly Hex[];
  readonly balances: readonly (StorageProof | null)[];
}

export type StorageProof = Readonly<z.infer<typeof storageProofSchema>>;

const hash = z.custom<Hash>((value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value));
const bytes = z.custom<Hex>((value) => typeof value === 'string' && /^0x([0-9a-f]{2})*$/.test(value));
const place = z.int().min(0);
const address = z.custom<Address>((value) => typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value));
const logSchema = z.object({ transactionIndex: place, logIndex: place });
const balanceSchema = z.object({ pool: address, token: address, balance: z.string() });
const storageProofSchema = z.object({
  layout: z.enum(['solidity', 'vyper', 'solady']),
  slot: z.string(),
  proof: accountProofSchema,
});

const CALLS_PER_BLOCK = 2;
const CALLS_PER_BALANCE = 3;

/** The headers of a hash never change. */
export const PRICE_EVIDENCE: StateKind<EvidenceQuestion, PriceEvidence> = {
  name: 'price-evidence',
  question: z.object({
    blocks: z.array(z.object({ number: place, hash, logs: z.array(logSchema) })),
    link: z.object({ first: place, last: place, hash }).nullable(),
    state: z.object({ number: place, hash, balances: z.array(balanceSchema) }).nullable(),
  }),
  answer: z.object({
    blocks: z.array(
      z.object({
        hash,
        reason: z.enum(['no-proof-from-node', 'header-not-verifiable']).nullable(),
        header: bytes,
        receipts: z.array(z.object({ index: place, nodes: z.array(bytes) })),
        logs: z.array(z.object({ index: place, log: place })),
      }),
    ),
    headers: z.array(bytes),
    balances: z.array(storageProofSchema.nullable()),
  }),
  callsOf: ({ blocks, link, state }) =>
    blocks.length * CALLS_PER_BLOCK +
    (link === null ? 0 : link.last - link.first + 1) +
    (state?.balances.length ?? 0) * CALLS_PER_BALANCE,
};
