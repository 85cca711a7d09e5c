/** Webhooks that arrive during a soak, compared with the blocks of its chain. */
import { type Address, keccak256Hex } from '@chainstead/core';
import type { ReceivedWebhook, ScriptedChain, SourceBlock } from '@chainstead/testkit';
import { z } from 'zod';

/** A webhook of a block, as its receiver reads it. */
export interface BlockWebhook {
  readonly streamId: string;
  readonly blockHash: string;
  readonly confirmed: boolean;
  /** Attempts before this one. */
  readonly retries: number;
  readonly isSigned: boolean;
}

/** What is expected of a chain's blocks. */
export interface ExpectedWebhooks {
  readonly chain: Pick<ScriptedChain, 'head' | 'blocksIn' | 'blockByHash'>;
  /** The first block that the streams see. */
  readonly from: number;
  readonly confirmations: number;
  /** The contract that each stream watches, by the stream's id. */
  readonly watched: ReadonlyMap<string, Address>;
}

const bodyShape = z.object({
  streamId: z.string(),
  confirmed: z.boolean(),
  retries: z.number(),
  block: z.object({ hash: z.string() }),
});
const logsShape = z.array(z.object({ address: z.string() }));

/** @returns null for the test webhook, which names no block */
export function readWebhook({ body, headers }: ReceivedWebhook, secret: string): BlockWebhook | null {
  const { block, ...facts } = bodyShape.parse(JSON.parse(body));
  const isSigned = headers['x-signature'] === keccak256Hex(Buffer.from(body + secret));
  return block.hash === '' ? null : { ...facts, blockHash: block.hash, isSigned };
}

/** Webhooks of blocks of the chain that have not arrived: unconfirmed ones, and confirmed ones of blocks that are deep enough. */
export function missingWebhooks(
  webhooks: readonly BlockWebhook[],
  expected: ExpectedWebhooks,
): readonly string[] {
  const { chain, from, confirmations, watched } = expected;
  const arrived = new Set(webhooks.map(keyOf));
  return chain
    .blocksIn({ from, to: chain.head })
    .flatMap((block) =>
      streamsOf(block, watched).flatMap((streamId) =>
        [false, ...(block.number <= chain.head - confirmations ? [true] : [])].map((confirmed) =>
          keyOf({ streamId, blockHash: block.hash, confirmed }),
        ),
      ),
    )
    .filter((key) => !arrived.has(key));
}

/**
 * Counts forbidden webhooks by kind: one without matches of its block, a confirmed one of an abandoned block, and one with a wrong signature.
 * A repeat that is no retry is counted apart.
 */
export function wrongWebhooks(
  webhooks: readonly BlockWebhook[],
  { chain, watched }: ExpectedWebhooks,
): { readonly wrong: ReadonlyMap<string, number>; readonly repeated: number } {
  const wrong = new Map<string, number>();
  const seen = new Set<string>();
  let repeated = 0;
  for (const webhook of webhooks) {
    const block = chain.blockByHash(webhook.blockHash);
    const wrongs = [
      [!webhook.isSigned, 'wrong signature'],
      [block === undefined || !streamsOf(block, watched).includes(webhook.streamId), 'nothing to report'],
      [webhook.confirmed && block !== undefined && !isOnChain(chain, block), 'confirmed, of an abandoned branch'],
    ] as const;
    for (const [isWrong, name] of wrongs) if (isWrong) wrong.set(name, (wrong.get(name) ?? 0) + 1);
    if (seen.has(keyOf(webhook)) && webhook.retries === 0) repeated++;
    seen.add(keyOf(webhook));
  }
  return { wrong, repeated };
}

function keyOf({
  streamId,
  blockHash,
  confirmed,
}: Pick<BlockWebhook, 'streamId' | 'blockHash' | 'confirmed'>): string {
  return `${confirmed ? 'confirmed' : 'unconfirmed'} ${blockHash} ${streamId}`;
}

type ChainBlock = Pick<SourceBlock, 'number' | 'hash' | 'receipts'>;

/** The streams whose contract has a log in the block. */
function streamsOf({ receipts }: ChainBlock, watched: ExpectedWebhooks['watched']): string[] {
  const emitters = new Set(receipts.flatMap(({ logs }) => logsShape.parse(logs).map(({ address }) => address)));
  return [...watched].flatMap(([streamId, address]) => (emitters.has(address) ? [streamId] : []));
}

function isOnChain({ blocksIn }: ExpectedWebhooks['chain'], { number, hash }: ChainBlock): boolean {
  return blocksIn({ from: number, to: number })[0]?.hash === hash;
}
