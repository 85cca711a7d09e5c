import type { Chain } from '@chainstead/chains';
import { type Address, decimalAmount, type Hash, toQuantity } from '@chainstead/core';
import { ITEM_TYPES, TRIGGER_TYPES, type TriggerType } from '../item-types.ts';
import type { Stream } from '../stream.ts';
import { cleanJson, cleanText } from './clean-text.ts';
import type { TriggerResult, WebhookContents } from './webhook.ts';

/** The block of a match. */
export interface BodyBlock {
  readonly number: number;
  readonly hash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
}

/** What a body tells of a match, with what is neither in the block nor in the stream. */
export interface EnrichedMatch {
  /** Token metadata are among them. */
  readonly contents: WebhookContents;
  /** Results by the trigger's type and the item's place in that type's list of the contents. */
  readonly triggers: Readonly<Partial<Record<TriggerType, ReadonlyMap<number, readonly TriggerResult[]>>>>;
  /** In the order to be shown. */
  readonly nativeBalances: readonly { readonly address: Address; readonly wei: bigint }[];
}

/**
 * The webhook's body (docs/provider-contract.md#webhook-body) without `confirmed` and `retries`, which `finishBody` adds for each attempt: the same
 * text for the unconfirmed and the confirmed delivery. It is what `JSON.stringify` makes of what `JSON.parse` makes of it.
 */
export function renderBody(options: {
  readonly stream: Pick<Stream, 'id' | 'tag' | 'abi'>;
  readonly chain: Chain;
  readonly block: BodyBlock;
  readonly enriched: EnrichedMatch;
}): string {
  const { stream, chain, block, enriched } = options;
  return JSON.stringify({
    chainId: toQuantity(chain.id),
    abi: cleanJson(stream.abi ?? []),
    streamId: stream.id,
    tag: cleanText(stream.tag),
    block: { number: String(block.number), hash: block.hash, timestamp: String(block.timestamp) },
    ...withTriggers(enriched),
    nativeBalances: enriched.nativeBalances.map(({ address, wei }) => ({
      address,
      balance: wei.toString(),
      balanceWithDecimals: decimalAmount(wei.toString(), chain.native.decimals),
    })),
  });
}

function withTriggers({ contents, triggers }: EnrichedMatch): WebhookContents {
  if (Object.keys(triggers).length === 0) return contents;
  const shown: Partial<Record<keyof WebhookContents, readonly object[]>> = {};
  for (const type of TRIGGER_TYPES) {
    const results = triggers[type];
    if (results === undefined || results.size === 0) continue;
    const { list } = ITEM_TYPES[type];
    shown[list] = contents[list].map((item, index) => {
      const found = results.get(index);
      return found === undefined ? item : { ...item, triggers: cleanJson(found) };
    });
  }
  return Object.assign({ ...contents }, shown);
}

/** What differs between the attempts to deliver a body. */
export interface BodyState {
  readonly confirmed: boolean;
  /** Attempts that failed before. */
  readonly retries: number;
  /** Of the notice that the block left the chain, which is beyond the provider's interface. */
  readonly removed?: boolean;
}

/** The text to sign and send. */
export function finishBody(body: string, { confirmed, retries, removed = false }: BodyState): string {
  return `{"confirmed":${confirmed},${removed ? '"removed":true,' : ''}"retries":${retries},${body.slice(1)}`;
}

/** What a webhook URL must answer with 2xx before its stream becomes active, byte by byte (docs/provider-contract.md#test-webhook). */
export const TEST_BODY =
  '{"abi":[],"block":{"number":"","hash":"","timestamp":""},"txs":[],"txsInternal":[],"logs":[],"chainId":"",' +
  '"confirmed":true,"retries":0,"tag":"","streamId":"","erc20Approvals":[],"erc20Transfers":[],' +
  '"nftTokenApprovals":[],"nftApprovals":{"ERC721":[],"ERC1155":[]},"nftTransfers":[],"nativeBalances":[]}';
