import type { Chain } from '@chainstead/chains';
import { DEFAULT_HEARTBEAT_SECONDS, feedsOf } from '@chainstead/chains/price-feeds';
import { type Hash, type Hex, inParts } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { InvalidParameterError } from '@chainstead/http';
import { type NodeReadQueue, StateUnavailableError } from '@chainstead/node-reads/requests';
import { hexToBytes, readHeader } from '@chainstead/proof';
import type { PriceExplanation } from '../token-price/serve/price-explanation.ts';
import {
  LINKED_BLOCKS_MAX,
  PROOF_FORMAT,
  PROOF_VERSION,
  type PriceProof,
  type UnprovenPriceReason,
} from '../token-price/serve/price-proof-document.ts';
import { createPriceReader, type WantedPrice } from '../token-price/serve/price-reader.ts';
import { errorOf } from '../token-price/serve/price-refusals.ts';
import { type FoundPrice, type ShownTokenPrice, tokenPriceView } from '../token-price/serve/price-response.ts';
import type { ProvePrice } from '../token-price/serve/price-routes.ts';
import {
  type ChosenLogs,
  chooseLogs,
  keyOf,
  readHashes,
  readLogsOfPools,
  type StoredFacts,
} from './choose-logs.ts';
import {
  type BalanceOfPool,
  type BlockEvidence,
  type EvidenceQuestion,
  type LogOfBlock,
  PRICE_EVIDENCE,
  type PriceEvidence,
} from './evidence-kind.ts';
import { countedPools, documentDigest } from './proof-error.ts';
import { decidingAnchors, newestBalances } from './verify-anchors.ts';
import { verifyFacts } from './verify-price.ts';

export interface ProofSources {
  readonly database: ReadDatabase;
  /** Null: it is not there in time. */
  readEvidence(question: EvidenceQuestion): Promise<PriceEvidence | null>;
}

/** @throws StateUnavailableError (late), InvalidParameterError (no verifiable hash of the chain) */
async function showProvenPrice(found: FoundPrice, chain: Chain, sources: ProofSources): Promise<ShownTokenPrice> {
  const shown = tokenPriceView.show(found, chain, true);
  const { explanation } = shown;
  if (explanation === undefined) return shown;
  const facts = await readFacts(sources.database, chain, explanation, shown.tokenAddress);
  const chosen = chooseLogs(facts);
  const hashes = await readHashes(sources.database, chain, [...chosen.keys(), Number(explanation.block)]);
  const balances = newestBalances(countedPools(explanation)).slice(0, BALANCES_MAX);
  const evidence = await readAll(sources, { chosen, hashes, balances, block: Number(explanation.block) });
  if (evidence.headers.length === 0)
    throw new InvalidParameterError({
      parameter: 'proof',
      message: `Block hashes of ${chain.name} can't be verified`,
    });
  const proof = assemble(chain, facts, evidence);
  const document = { ...shown, explanation, proof };
  const known = { chain, rules: found.rules };
  const { unproven } = verifyFacts(document, known, { blockHash: null, blockHashes: null });
  const complete = { ...document, proof: { ...proof, unproven: [...unproven] } };
  return { ...complete, proof: { ...complete.proof, digest: documentDigest(complete) } };
}

async function readFacts(
  database: ReadDatabase,
  chain: Chain,
  explanation: PriceExplanation,
  token: string,
): Promise<StoredFacts> {
  const counted = countedPools(explanation);
  const spans = counted.map(({ candidate: { pair_address: pool, states } }) => {
    const [first] = states;
    const isConcentrated = first?.sqrt_price_x96 !== null;
    return { pool: pool as Hex, first: Number(first?.block ?? 0), isConcentrated };
  });
  const stored = await readLogsOfPools(database, chain, spans, Number(explanation.block));
  const feeds = decidingAnchors(explanation, token).filter(({ source }) => source === 'feed');
  return {
    pools: counted.map(({ candidate }, index) => ({
      candidate,
      stored: stored[index] ?? { logs: [], ticks: [] },
    })),
    feeds: feeds.map((anchor) => {
      const { block, transaction_index: transactionIndex, log_index: logIndex } = anchor;
      const isLog = transactionIndex !== null && logIndex !== null && block !== null;
      return { anchor, log: isLog ? { block: Number(block), transactionIndex, logIndex } : null };
    }),
  };
}

/** Per price: each has some kilobytes, and a token's first one takes some calls. */
const BALANCES_MAX = 32;

const TOGETHER = 8;

interface FoundEvidence {
  readonly block: { readonly number: number; readonly hash: Hash };
  readonly headers: readonly Hex[];
  readonly balances: PriceProof['balances'];
  readonly blocks: ReadonlyMap<
    number,
    { readonly evidence: BlockEvidence; readonly logs: readonly LogOfBlock[] }
  >;
}

async function readAll(
  sources: ProofSources,
  wanted: {
    readonly chosen: ChosenLogs;
    readonly hashes: ReadonlyMap<number, Hash>;
    readonly balances: readonly BalanceOfPool[];
    readonly block: number;
  },
): Promise<FoundEvidence> {
  const { chosen, hashes, balances, block } = wanted;
  const hash = hashes.get(block);
  if (hash === undefined) throw notReady(block);
  const known = [...chosen].flatMap(([number, logs]) => {
    const own = hashes.get(number);
    return own === undefined ? [] : [{ number, hash: own, logs }];
  });
  const lowest = Math.max(0, block - LINKED_BLOCKS_MAX + 1);
  const first = Math.min(block, ...[...chosen.keys()].filter((number) => number >= lowest));
  const none = { blocks: [], link: null, state: null };
  const [link, state, ...found] = await Promise.all([
    sources.readEvidence({ ...none, link: { first, last: block, hash } }),
    balances.length === 0
      ? NO_EVIDENCE
      : sources.readEvidence({ ...none, state: { number: block, hash, balances } }),
    ...inParts(known, TOGETHER).map((blocks) => sources.readEvidence({ ...none, blocks })),
  ]);
  const complete = found.filter((part) => part !== null);
  if (!link || link.headers.length === 0 || !state || complete.length < found.length) throw notReady(block);
  const byHash = new Map(
    complete.flatMap(({ blocks }) => blocks.map((evidence) => [evidence.hash, evidence] as const)),
  );
  return {
    block: { number: block, hash },
    headers: link.headers,
    balances: balances.flatMap(({ pool, token }, index) => {
      const proof = state.balances[index] ?? null;
      return proof === null ? [] : [{ pair_address: pool, token_address: token, ...proof }];
    }),
    blocks: new Map(
      known.flatMap(({ number, hash: own, logs }) => {
        const evidence = byHash.get(own);
        return evidence === undefined ? [] : [[number, { evidence, logs }] as const];
      }),
    ),
  };
}

const NO_EVIDENCE: PriceEvidence = { blocks: [], headers: [], balances: [] };

function notReady(block: number): StateUnavailableError {
  return new StateUnavailableError(`The proof of block ${block} is being read: try again`);
}

function assemble(chain: Chain, facts: StoredFacts, found: FoundEvidence): PriceProof {
  const pools = facts.pools.map((pool) => choosePoolLogs(pool, found));
  const feeds = facts.feeds.map((feed) => ({
    ...feed,
    place: feed.log === null ? null : placeOf(feed.log, found),
  }));
  const places = [...pools.flatMap(({ logs }) => logs), ...feeds.flatMap(({ place }) => place ?? [])];
  const receipts = new Map(
    places
      .toSorted((a, b) => a.block - b.block || a.receipt.index - b.receipt.index)
      .map((place) => [`${place.block} ${place.receipt.index}`, place]),
  );
  const order = [...receipts.keys()];
  const logOf = ({ block, receipt, log }: Place) => ({
    receipt: order.indexOf(`${block} ${receipt.index}`),
    log,
  });
  const headers = new Map(found.headers.map((header) => [readHeader(hexToBytes(header))?.number ?? -1, header]));
  for (const { block, evidence } of places) headers.set(block, evidence.header);
  return {
    ...{ format: PROOF_FORMAT, version: PROOF_VERSION, chain_id: String(chain.id), block_hash: found.block.hash },
    headers: [...headers].toSorted(([a], [b]) => a - b).map(([, header]) => header),
    receipts: [...receipts.values()].map(({ evidence, receipt: { index, nodes } }) => ({
      ...{ block_hash: evidence.hash, index, nodes: [...nodes] },
    })),
    pools: pools.map(({ pool, start, logs }) => ({ pair_address: pool, start, logs: logs.map(logOf) })),
    feeds: feeds.map(({ anchor, log, place }) => ({
      token_address: anchor.token_address,
      heartbeat_seconds:
        feedsOf(chain).find(({ proxy }) => proxy === anchor.feed)?.heartbeatSeconds ?? DEFAULT_HEARTBEAT_SECONDS,
      proof: place === null ? null : logOf(place),
      reason: place !== null ? null : log === null ? 'contract-call' : reasonOf(log.block, found),
    })),
    balances: found.balances,
    unproven: [],
    digest: `0x${'00'.repeat(32)}`,
  };
}

interface Place {
  readonly block: number;
  readonly evidence: BlockEvidence;
  readonly receipt: BlockEvidence['receipts'][number];
  readonly log: number;
}

function placeOf(
  { block, ...log }: LogOfBlock & { readonly block: number },
  { blocks }: FoundEvidence,
): Place | null {
  const { evidence, logs } = blocks.get(block) ?? {};
  const place = evidence?.logs[logs?.findIndex((candidate) => keyOf(candidate) === keyOf(log)) ?? -1];
  const receipt = evidence?.receipts.find(({ index }) => index === place?.index);
  if (evidence === undefined || place === undefined || receipt === undefined) return null;
  return { block, evidence, receipt, log: place.log };
}

function reasonOf(block: number, { blocks }: FoundEvidence): UnprovenPriceReason {
  return blocks.get(block)?.evidence.reason ?? 'too-many-blocks';
}

/** The logs after the newest one without evidence, or after the block of the reading. */
function choosePoolLogs({ candidate, stored }: StoredFacts['pools'][number], found: FoundEvidence) {
  const missing = stored.logs.findLast((log) => placeOf(log, found) === null);
  const { reading_block: readAt, states } = candidate;
  const isRead = readAt !== null && readAt === states[0]?.block;
  const cut = missing?.block ?? (isRead ? Number(readAt) : -1);
  const last = states.findLast((state) => Number(state.block) <= cut);
  const tick = stored.ticks.findLast(({ block }) => block <= Number(last?.block))?.tick ?? null;
  const reason = missing === undefined ? 'contract-call' : reasonOf(missing.block, found);
  return {
    pool: candidate.pair_address,
    start: last === undefined ? null : { block: last.block, tick, reason },
    logs: stored.logs.filter(({ block }) => block > cut).flatMap((log) => placeOf(log, found) ?? []),
  };
}

/** From stored rows, with a proof if evidence has a source. @throws {ApiError} without a price */
export async function readExplainedPrice(
  database: ReadDatabase,
  chain: Chain,
  wanted: WantedPrice,
  readEvidence: ProofSources['readEvidence'] | null = null,
): Promise<ShownTokenPrice> {
  const { read } = createPriceReader({ reads: database, database, contracts: null }, chain, {});
  const [found] = await read([wanted]);
  if (found === undefined) throw new RangeError('A wanted price has a result');
  if ('refusal' in found) throw errorOf(found, chain, true);
  return readEvidence === null
    ? tokenPriceView.show(found, chain, true)
    : showProvenPrice(found, chain, { database, readEvidence });
}

/** Milliseconds. Receipts of a block hash never change: a retry finds them. */
const KEPT_MS = 300_000;

export function createPriceProver({ nodeReads }: { readonly nodeReads: NodeReadQueue }): ProvePrice {
  return (found, chain, database) =>
    showProvenPrice(found, chain, {
      database,
      readEvidence: (question) => nodeReads.request(chain, PRICE_EVIDENCE, question, { maxAgeMs: KEPT_MS }),
    });
}
