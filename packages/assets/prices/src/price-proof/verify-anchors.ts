import type { Chain } from '@chainstead/chains';
import { DEFAULT_HEARTBEAT_SECONDS } from '@chainstead/chains/price-feeds';
import { type Hash, type Hex, isAddress, parseAddress } from '@chainstead/core';
import { slotOfHolder } from '@chainstead/erc20/requests';
import { anchorsOf } from '@chainstead/markets/requests';
import {
  hexToBytes,
  InvalidStateProofError,
  type ReadHeader,
  type ReadLog,
  readHeader,
  readOrderedTrieProof,
  readReceiptLogs,
  verifyAccountProof,
} from '@chainstead/proof';
import { ANSWER_UPDATED } from '@chainstead/tokens/price-feeds';
import { feedOfAnchor } from '../token-price/place/anchor-prices.ts';
import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';
import type { PriceProof, UnprovenFact } from '../token-price/serve/price-proof-document.ts';
import type { BalanceOfPool } from './evidence-kind.ts';
import { type CountedPool, countedPools, PriceProofError, tokensOf } from './proof-error.ts';
import { readNumber } from './rebuilt-price.ts';

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

/** For concentrated pools that are contracts. Others: reserves, or by events. */
export function newestBalances(pools: readonly CountedPool[]): readonly BalanceOfPool[] {
  return pools.flatMap(({ candidate: { pair_address: pool, sides, states } }) => {
    const last = states.at(-1);
    if (last === undefined || last.sqrt_price_x96 === null || !isAddress(pool)) return [];
    return [last.balance0, last.balance1].flatMap((balance, side): BalanceOfPool[] => {
      const token = sides[side]?.token_address ?? '';
      if (balance === null || !isAddress(token)) return [];
      return [{ pool: parseAddress(pool), token: parseAddress(token), balance }];
    });
  });
}

export function verifyBalances(
  pools: readonly CountedPool[],
  { balances }: PriceProof,
  { price }: ProvenBlocks,
): { readonly proven: readonly string[]; readonly unproven: readonly UnprovenFact[] } {
  const wanted = newestBalances(pools);
  const found = balances.map((evidence, index) => {
    const at = `proof.balances[${index}]`;
    // Wrapped and native token may both be hops, and share a pool.
    const same = wanted.filter((of) => of.pool === evidence.pair_address && of.token === evidence.token_address);
    const [first] = same;
    if (first === undefined) throw new PriceProofError(at, 'is not a balance of a concentrated pool that counts');
    const { pool, token } = first;
    const slot = slotOfHolder({ layout: evidence.layout, slot: BigInt(evidence.slot) }, pool);
    try {
      const question = { stateRoot: price.stateRoot, address: token, slots: [slot] };
      const [value] = verifyAccountProof(evidence.proof, question).slots;
      const wrong = same.find(({ balance }) => balance !== String(value));
      const problem = `is ${wrong?.balance}, but the storage has ${value}`;
      if (wrong !== undefined) throw new PriceProofError(`the balance of ${token} in pool ${pool}`, problem);
    } catch (error) {
      if (!(error instanceof InvalidStateProofError)) throw error;
      throw new PriceProofError(at, `does not lead to the state root of block ${price.number} (${error.fault})`);
    }
    return { pool, token, slot: `Slot ${evidence.slot} (${evidence.layout}) of ${token} holds its balances` };
  });
  const slots = new Set(found.map(({ slot }) => slot));
  return {
    proven: found.map(({ pool, token }) => `Balance of ${token} in pool ${pool}: storage of the token`),
    unproven: [...slots].map((fact) => ({ fact, reason: 'contract-call' as const })),
  };
}

export interface ProvenBlocks {
  readonly price: ReadHeader;
  readonly byNumber: ReadonlyMap<number, ReadHeader>;
  readonly byHash: ReadonlyMap<Hash, ReadHeader>;
  readonly unlinked: readonly ReadHeader[];
}

/** @throws PriceProofError */
export function readBlocks({ headers, block_hash: priceHash, receipts }: PriceProof): ProvenBlocks {
  const read = headers.map((encoded, index) => {
    const header = readHeader(hexToBytes(encoded));
    if (header !== null) return header;
    throw new PriceProofError(`proof.headers[${index}]`, 'is not the header of a block');
  });
  for (const [index, { number }] of read.entries())
    if (index > 0 && number <= (read[index - 1]?.number ?? -1))
      throw new PriceProofError(`proof.headers[${index}]`, 'is not of a later block than the header before it');
  const byHash = new Map(read.map((header) => [header.hash, header]));
  const price = read.at(-1);
  if (price === undefined || price.hash !== priceHash)
    throw new PriceProofError('proof.headers', `does not end with the header that hashes to ${priceHash}`);
  const linked = new Set<Hash>();
  for (let next: ReadHeader | undefined = price; next !== undefined; next = byHash.get(next.parentHash))
    linked.add(next.hash);
  const used = new Set<string>(receipts.map(({ block_hash }) => block_hash));
  const unlinked = read.filter(({ hash }) => !linked.has(hash));
  for (const { hash, number } of unlinked)
    if (!used.has(hash))
      throw new PriceProofError(
        `proof.headers`,
        `has block ${number}, which is neither linked nor has a receipt`,
      );
  return { price, byHash, byNumber: new Map(read.map((header) => [header.number, header])), unlinked };
}

export interface ProvenLog extends ReadLog {
  readonly block: ReadHeader;
  readonly index: number;
  readonly log: number;
}

/** Looks logs up by their place. @throws PriceProofError, also the look-up */
export function readLogs({ receipts }: PriceProof, { byHash }: ProvenBlocks) {
  const read = receipts.map(({ block_hash: hash, index, nodes }, position) => {
    const at = `proof.receipts[${position}]`;
    const block = byHash.get(hash as Hash);
    if (block === undefined) throw new PriceProofError(at, `is of block ${hash}, whose header is missing`);
    return { block, index, logs: logsOf(block, index, nodes as readonly Hex[], at) };
  });
  return ({ receipt, log }: { readonly receipt: number; readonly log: number }, at: string): ProvenLog => {
    const found = read[receipt];
    const content = found?.logs[log];
    if (found === undefined || content === undefined)
      throw new PriceProofError(at, `names log ${log} of proof.receipts[${receipt}], which does not exist`);
    return { ...content, block: found.block, index: found.index, log };
  };
}

function logsOf(block: ReadHeader, index: number, nodes: readonly Hex[], at: string): readonly ReadLog[] {
  try {
    const encoded = readOrderedTrieProof(block.receiptsRoot, index, nodes.map(hexToBytes));
    const logs = encoded === null ? null : readReceiptLogs(encoded);
    if (logs === null) throw new PriceProofError(at, `proves no receipt ${index} of block ${block.number}`);
    return logs;
  } catch (error) {
    if (!(error instanceof InvalidStateProofError)) throw error;
    throw new PriceProofError(at, `does not lead to the receipts root of block ${block.number} (${error.fault})`);
  }
}

export function compareLogs(a: ProvenLog, b: ProvenLog): number {
  return a.block.number - b.block.number || a.index - b.index || a.log - b.log;
}
