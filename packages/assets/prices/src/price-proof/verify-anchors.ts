import type { Chain } from '@chainstead/chains';
import { DEFAULT_HEARTBEAT_SECONDS } from '@chainstead/chains/price-feeds';
import { isAddress, parseAddress } from '@chainstead/core';
import { anchorsOf } from '@chainstead/markets/requests';
import { ANSWER_UPDATED } from '@chainstead/tokens/price-feeds';
import { feedOfAnchor } from '../token-price/place/anchor-prices.ts';
import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';
import type { PriceProof, UnprovenFact } from '../token-price/serve/price-proof-document.ts';
import { countedPools, tokensOf } from './counted-pools.ts';
import { PriceProofError } from './proof-error.ts';
import type { ProvenBlocks, ProvenLog } from './proven-blocks.ts';
import { readNumber } from './stated-states.ts';

type Anchor = PriceExplanation['anchors'][number];

export function decidingAnchors(explanation: PriceExplanation, token: string): readonly Anchor[] {
  const sides = countedPools(explanation).flatMap(({ candidate }) => tokensOf(candidate));
  const wanted = new Set(explanation.rule === 'anchor' ? [token] : sides);
  return explanation.anchors.filter((anchor) => wanted.has(anchor.token_address));
}

/** Compares anchors with logs of feeds. @param chain null: unknown @throws PriceProofError */
export function verifyAnchors(
  priced: { readonly explanation: PriceExplanation; readonly token: string; readonly chain: Chain | null },
  { feeds }: PriceProof,
  blocks: ProvenBlocks,
  logOf: (place: NonNullable<PriceProof['feeds'][number]['proof']>, at: string) => ProvenLog,
): { readonly proven: readonly string[]; readonly unproven: readonly UnprovenFact[] } {
  const { explanation, token, chain } = priced;
  const anchors = decidingAnchors(explanation, token);
  const ofFeeds = anchors.filter(({ source }) => source === 'feed');
  if (feeds.length !== ofFeeds.length)
    throw new PriceProofError('proof.feeds', `has ${feeds.length} feeds, but ${ofFeeds.length} decide`);
  const proven: string[] = [];
  const unproven = anchors.flatMap((anchor): UnprovenFact[] => {
    if (chain !== null) checkAnchor(anchor, explanation, chain);
    const fact = `Price of ${anchor.token_address}: ${anchor.price_usd} US dollars`;
    if (anchor.source !== 'feed') return [{ fact, reason: anchor.source }];
    const index = ofFeeds.indexOf(anchor);
    const [feed, at] = [feeds[index], `proof.feeds[${index}]`];
    if (feed?.token_address !== anchor.token_address)
      throw new PriceProofError(`${at}.token_address`, 'is not that of the anchor at this place');
    if (feed.proof === null) return [{ fact, reason: feed.reason ?? 'contract-call' }];
    const stated = `explanation.anchors[${explanation.anchors.indexOf(anchor)}]`;
    verifyValue(anchor, logOf(feed.proof, at), { at, stated });
    verifyAge(logOf(feed.proof, at), feed.heartbeat_seconds, blocks, at);
    const known = chain === null ? null : feedOfAnchor(chain, parseAddress(anchor.token_address));
    const heartbeat = known?.heartbeatSeconds ?? DEFAULT_HEARTBEAT_SECONDS;
    if (chain !== null && feed.heartbeat_seconds !== heartbeat)
      throw new PriceProofError(
        `${at}.heartbeat_seconds`,
        `is ${feed.heartbeat_seconds}, but that of the feed is ${heartbeat}`,
      );
    const { aggregator, token_address: of } = anchor;
    proven.push(`Round ${anchor.round} of feed ${aggregator}: ${of} at ${anchor.price_usd} US dollars`);
    if (known?.aggregators.some((listed) => listed === aggregator)) return [];
    return [{ fact: `Aggregator ${aggregator} of ${of}`, reason: 'unknown-feed' }];
  });
  return { proven, unproven };
}

/** The topics have value and round. Decimals are those of the denominator. */
function verifyValue(anchor: Anchor, log: ProvenLog, { at, stated }: { at: string; stated: string }): void {
  const { address, topics, block, index } = log;
  const [topic0, current, round, ...more] = topics;
  if (topic0 !== ANSWER_UPDATED.topic || current === undefined || round === undefined || more.length > 0)
    throw new PriceProofError(at, 'is not an AnswerUpdated log');
  const denominator = readNumber(anchor.price_denominator, `${stated}.price_denominator`);
  if (decimalsOf(denominator) === null)
    throw new PriceProofError(`${stated}.price_denominator`, 'is not a power of ten, as that of every feed');
  const facts = [
    ['aggregator', anchor.aggregator, address],
    ['round', anchor.round, BigInt(round).toString()],
    ['price_numerator', anchor.price_numerator, BigInt.asIntN(WORD_BITS, BigInt(current)).toString()],
    ['block', anchor.block, String(block.number)],
    ['transaction_index', anchor.transaction_index, index],
  ] as const;
  for (const [member, said, found] of facts)
    if (said !== found)
      throw new PriceProofError(`${stated}.${member}`, `is ${said}, but the log proves ${found}`);
}

function verifyAge({ data, block }: ProvenLog, heartbeat: number, { price }: ProvenBlocks, at: string): void {
  if (block.number > price.number) throw new PriceProofError(at, 'is later than the block of the price');
  const updated = data.length === WORD_LENGTH ? BigInt(data) : null;
  if (updated === null) throw new PriceProofError(at, 'has no time of the update');
  if (BigInt(price.timestamp) - updated > BigInt(heartbeat))
    throw new PriceProofError(at, `was updated more than ${heartbeat} seconds before the block of the price`);
}

const WORD_LENGTH = 66;
const WORD_BITS = 256;

/** @throws PriceProofError unless the chain has this anchor and source */
function checkAnchor(anchor: Anchor, { anchors }: PriceExplanation, chain: Chain): void {
  const at = `explanation.anchors[${anchors.indexOf(anchor)}]`;
  const { token_address: token, source, feed: proxy } = anchor;
  const known = isAddress(token) ? parseAddress(token) : null;
  const { dollar, native, ether, other } = anchorsOf(chain);
  if (known === null || ![...dollar, ...native, ...ether, ...other].includes(known))
    throw new PriceProofError(`${at}.token_address`, `is ${token}, which is no anchor of ${chain.name}`);
  const feed = feedOfAnchor(chain, known);
  const expected = feed === null ? (dollar.includes(known) ? 'assumed' : 'pool') : 'feed';
  if (source !== expected)
    throw new PriceProofError(`${at}.source`, `is ${source}, but it is ${expected} on ${chain.name}`);
  if (feed === null) return;
  if (proxy !== feed.proxy) throw new PriceProofError(`${at}.feed`, `is ${proxy}, but the feed is ${feed.proxy}`);
  const decimals = decimalsOf(readNumber(anchor.price_denominator, `${at}.price_denominator`));
  if (decimals !== feed.decimals)
    throw new PriceProofError(
      `${at}.price_denominator`,
      `has ${decimals} decimals, but the feed has ${feed.decimals}`,
    );
}

function decimalsOf(denominator: bigint): number | null {
  const digits = denominator.toString();
  return /^10*$/.test(digits) ? digits.length - 1 : null;
}
