import type { Chain } from '@chainstead/chains';
import { type Address, decimalAmount, type Hash, toQuantity } from '@chainstead/core';
import { ITEM_TYPES, TRIGGER_TYPES, type TriggerType } from '../item-types.ts';
import { topicOfEvent } from '../matching/event-topic.ts';
import type { Match } from '../matching/match.ts';
import type { Stream } from '../stream.ts';
import type { TriggerResult, WebhookContents } from '../webhook.ts';
import { cleanJson, cleanText } from './clean-text.ts';

export interface BodyBlock {
  readonly number: number;
  readonly hash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
}

export interface EnrichedMatch {
  readonly contents: WebhookContents;
  /** Results by trigger type and by the item's index in that type's list. */
  readonly triggers: Readonly<Partial<Record<TriggerType, ReadonlyMap<number, readonly TriggerResult[]>>>>;
  readonly nativeBalances: readonly { readonly address: Address; readonly wei: bigint }[];
}

/**
 * Renders the webhook body (docs/api/streams-matching.md#webhook-body) without `confirmed` and `retries`, which
 * `finishBody` adds per attempt. The unconfirmed and the confirmed delivery share this text.
 * `JSON.stringify(JSON.parse(text))` returns the same text.
 */
export function renderBody(options: {
  readonly stream: Pick<Stream, 'id' | 'tag' | 'abi'>;
  /** Its events are described after those of the stream. @default none */
  readonly match?: Pick<Match, 'events'>;
  readonly chain: Chain;
  readonly block: BodyBlock;
  readonly enriched: EnrichedMatch;
}): string {
  const { stream, match = {}, chain, block, enriched } = options;
  const abi = stream.abi ?? [];
  const topics = new Set(abi.map(topicOfEvent));
  const described = (match.events ?? []).filter((event) => !topics.has(topicOfEvent(event)));
  return JSON.stringify({
    chainId: toQuantity(chain.id),
    abi: cleanJson([...abi, ...described]),
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
      const own = results.get(index);
      return own === undefined ? item : { ...item, triggers: cleanJson(own) };
    });
  }
  return Object.assign({ ...contents }, shown);
}

export interface BodyState {
  readonly confirmed: boolean;
  readonly retries: number;
  /** Set in the notice that the block left the chain, an addition to the hosted API's interface. */
  readonly removed?: boolean;
}

export function finishBody(body: string, { confirmed, retries, removed = false }: BodyState): string {
  return `{"confirmed":${confirmed},${removed ? '"removed":true,' : ''}"retries":${retries},${body.slice(1)}`;
}

/** The exact bytes of the test webhook (docs/api/streams-reference.md#test-webhook). */
export const TEST_BODY =
  '{"abi":[],"block":{"number":"","hash":"","timestamp":""},"txs":[],"txsInternal":[],"logs":[],"chainId":"",' +
  '"confirmed":true,"retries":0,"tag":"","streamId":"","erc20Approvals":[],"erc20Transfers":[],' +
  '"nftTokenApprovals":[],"nftApprovals":{"ERC721":[],"ERC1155":[]},"nftTransfers":[],"nativeBalances":[]}';
