import type { Chain } from '@chainstead/chains';
import { type Address, decimalAmount, defineError, type Hash, toQuantity } from '@chainstead/core';
import { ITEM_TYPES, TRIGGER_TYPES, type TriggerType } from '../item-types.ts';
import { topicOfEvent } from '../matching/compile-stream.ts';
import type { Match } from '../matching/match.ts';
import type { Stream } from '../stream.ts';
import type { TriggerResult, WebhookContents } from '../webhook.ts';

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

interface BodyState {
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

/** For JSON, UTF-8 and Postgres: no NUL, and U+FFFD for lone surrogates. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/** Clean texts; bigints as decimal digits, null for values outside JSON. */
function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return value.map(cleanJson);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [cleanText(key), cleanJson(member)]));
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

/** Characters: 32 MiB. */
export const BODY_LENGTH_MAX = 33_554_432;

/** Longer webhooks are not built ahead, and share a limit of memory. Characters. */
export const LONG_BODY_LENGTH = 262_144;

export class WebhookTooLargeError extends defineError(
  'WEBHOOK_TOO_LARGE',
  (
    match: { readonly streamId: string; readonly chainId: number; readonly blockNumber: number },
    length: number,
  ) => {
    const { streamId, chainId, blockNumber } = match;
    return {
      message: `The webhook of stream ${streamId} for block ${blockNumber} of chain ${chainId} has ${length} characters, more than the maximum of ${BODY_LENGTH_MAX}`,
      facts: { stream_id: streamId, chain_id: chainId, block: blockNumber, length },
      remedy: 'Narrow the stream by addresses, topic0 or filters, or read the logs of the block from a node',
    };
  },
) {}
