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
  /** Results by trigger type, and index in that type's list. */
  readonly triggers: Readonly<Partial<Record<TriggerType, ReadonlyMap<number, readonly TriggerResult[]>>>>;
  readonly nativeBalances: readonly { readonly address: Address; readonly wei: bigint }[];
}

/** Without `confirmed` and `retries`. `JSON.stringify(JSON.parse(text))` returns the same text. */
export function renderBody(options: {
  readonly stream: Pick<Stream, 'id' | 'tag' | 'abi'>;
  /** Its events come after those of the stream. @default none */
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
  /** The block left the chain. An addition to the hosted API. */
  readonly removed?: boolean;
}

export function finishBody(body: string, { confirmed, retries, removed = false }: BodyState): string {
  return `{"confirmed":${confirmed},${removed ? '"removed":true,' : ''}"retries":${retries},${body.slice(1)}`;
}

/** Exact bytes: docs/api/streams-reference.md#test-webhook */
export const TEST_BODY =
  '{"abi":[],"block":{"number":"","hash":"","timestamp":""},"txs":[],"txsInternal":[],"logs":[],"chainId":"",' +
  '"confirmed":true,"retries":0,"tag":"","streamId":"","erc20Approvals":[],"erc20Transfers":[],' +
  '"nftTokenApprovals":[],"nftApprovals":{"ERC721":[],"ERC1155":[]},"nftTransfers":[],"nativeBalances":[]}';
