import type { Chain, ChainRegistry } from '@chainstead/chains';
import { DEFAULT_PRICING_RULES, type PricingRules } from '@chainstead/chains/pricing-rules';
import { type Address, type Hash, isAddress, isObject, nearestNumber, parseAddress } from '@chainstead/core';
import { anchorsOf, exchangesOf, formsOf, knownDecimals, recomputePool } from '@chainstead/markets/requests';
import { z } from '@hono/zod-openapi';
import { explanationSchema, type PriceExplanation, rulesView } from '../token-price/serve/price-explanation.ts';
import {
  PROOF_FORMAT,
  PROOF_VERSION,
  priceProofSchema,
  type UnprovenFact,
} from '../token-price/serve/price-proof-document.ts';
import { plainDecimal } from '../token-price/serve/shown-values.ts';
import {
  type CountedPool,
  countedHops,
  countedPools,
  documentDigest,
  PriceProofError,
  tokensOf,
} from './proof-error.ts';
import { rebuildPrice } from './rebuilt-price.ts';
import { type ProvenBlocks, readBlocks, readLogs, verifyAnchors, verifyBalances } from './verify-anchors.ts';
import { verifyPools } from './verify-pools.ts';

export interface Trust {
  /** Hash of the block of the price; null: that of the document. */
  readonly blockHash: Hash | null;
  /** Hashes of blocks; null: those of the document. */
  readonly blockHashes: ReadonlySet<Hash> | null;
}

type BlockToCheck = { readonly number: number; readonly hash: Hash };

export interface VerifiedPrice {
  readonly chainId: string;
  readonly token: Address;
  readonly usd: string;
  readonly numerator: string;
  readonly denominator: string;
  readonly block: BlockToCheck;
  /** Unix seconds. */
  readonly time: number;
  readonly proven: readonly string[];
  readonly unproven: readonly UnprovenFact[];
  readonly blocksToCheck: readonly BlockToCheck[];
}

/** Members that are verified. Others are in the digest only. */
const documentSchema = z.object({
  tokenAddress: z.string(),
  usdPrice: z.number(),
  usdPriceFormatted: z.string(),
  pairAddress: z.string().nullable(),
  exchangeName: z.string().nullable(),
  explanation: explanationSchema,
  proof: priceProofSchema,
});

type PriceDocument = z.infer<typeof documentSchema>;

/**
 * Trusts the known chains alone. Hashes prove headers, their roots receipts, logs states and
 * values, and these the price. @throws PriceProofError for the part that does not hold
 */
export function verifyPrice(document: unknown, chains: ChainRegistry, trust: Trust): VerifiedPrice {
  const parsed = readDocument(document);
  const chain = chains.find(parsed.proof.chain_id);
  const price = verifyFacts(parsed, { chain, rules: DEFAULT_PRICING_RULES }, trust);
  // Invariant: PRICE-PROOF-ALONE
  if (documentDigest(document) !== parsed.proof.digest)
    throw new PriceProofError(
      'proof.digest',
      'is not that of the document: a member was changed that no proof covers',
    );
  return price;
}

type KnownMethod = { readonly chain: Chain | null; readonly rules: PricingRules };

/** Verifies all but the digest. @throws PriceProofError */
export function verifyFacts(document: PriceDocument, { chain, rules }: KnownMethod, trust: Trust): VerifiedPrice {
  const { explanation, proof, tokenAddress } = document;
  if (!isAddress(tokenAddress)) throw new PriceProofError('tokenAddress', 'is not an address');
  const token = parseAddress(tokenAddress);
  const blocks = readBlocks(proof);
  const { price: at } = blocks;
  if (explanation.block !== String(at.number))
    throw new PriceProofError(
      'explanation.block',
      `is ${explanation.block}, but the header is of block ${at.number}`,
    );
  if (explanation.time !== at.timestamp)
    throw new PriceProofError(
      'explanation.time',
      `is ${explanation.time}, but that of the block is ${at.timestamp}`,
    );
  const blocksToCheck = checkTrust(blocks, trust);
  const logOf = readLogs(proof, blocks);
  if (chain !== null) checkRules(explanation, rules);
  checkHops(explanation, token, chain);
  const counted = countedPools(explanation);
  const pools = verifyPools(counted, proof, blocks, logOf);
  const anchors = verifyAnchors({ explanation, token, chain }, proof, blocks, logOf);
  const balances = verifyBalances(counted, proof, blocks);
  const identities = verifyIdentities(counted, chain);
  // Invariant: PRICE-PROOF-ALONE
  const usd = rebuildPrice(explanation, token, chain);
  checkResponse(document, plainDecimal(usd), nearestNumber(usd));
  const linked = blocks.byHash.size - blocks.unlinked.length;
  const proven = [
    `Block ${at.number}: number, time and receipts root follow from its hash`,
    ...(linked > 1 ? [`${linked - 1} earlier blocks are linked to it by parent hashes`] : []),
    ...(pools.states > 0 ? [`${pools.states} pool states from logs in ${proof.receipts.length} receipts`] : []),
    ...balances.proven,
    ...anchors.proven,
    ...identities.proven,
    ...countedHops(explanation).map(
      (hop) => `Hop ${hop.token_address} at ${hop.price_usd} US dollars, by its pools against anchors`,
    ),
    'The price follows from the states, anchors and rules',
  ];
  const unproven = [
    ...pools.unproven,
    ...balances.unproven,
    ...anchors.unproven,
    ...identities.unproven,
    ...(chain === null ? unprovenChain(explanation, { token, rules, id: proof.chain_id }) : []),
    ...counted.map(
      ({ candidate }) => ({ fact: `Age of pool ${candidate.pair_address}`, reason: 'absence' }) as const,
    ),
    { fact: 'No later log of these pools and feeds until the block', reason: 'absence' } as const,
    ...(explanation.rule === 'anchor' ? [] : [{ fact: 'No other pools that count', reason: 'absence' } as const]),
    ...(explanation.hops.length === 0
      ? []
      : [{ fact: 'No direct price of the token', reason: 'absence' } as const]),
  ];
  return {
    ...{ chainId: proof.chain_id, token, usd: plainDecimal(usd), block: { number: at.number, hash: at.hash } },
    ...{ numerator: explanation.price_numerator, denominator: explanation.price_denominator, time: at.timestamp },
    ...{ proven, unproven, blocksToCheck },
  };
}

/** A refused request is saved like a price. */
function refusalIn(given: unknown): string {
  if (!isObject(given) || typeof given.message !== 'string') return ': request it with proof=true';
  return `, but the error ${JSON.stringify(given.message.slice(0, MESSAGE_MAX))}`;
}

const MESSAGE_MAX = 200;

function readDocument(given: unknown): PriceDocument {
  const proof = isObject(given) ? given.proof : undefined;
  if (!isObject(proof) || proof.format !== PROOF_FORMAT)
    throw new PriceProofError('the document', `is not a price response with a proof${refusalIn(given)}`);
  if (proof.version !== PROOF_VERSION)
    throw new PriceProofError(
      'proof.version',
      `is ${String(proof.version)}, but this program reads ${PROOF_VERSION}`,
    );
  const parsed = documentSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path =
    issue?.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('') ?? '';
  throw new PriceProofError(path.slice(1), `is malformed: ${issue?.message}`);
}

function checkTrust(
  { price, unlinked }: ProvenBlocks,
  { blockHash, blockHashes }: Trust,
): readonly BlockToCheck[] {
  if (blockHash !== null && price.hash !== blockHash)
    throw new PriceProofError('proof.block_hash', `is ${price.hash}, but the trusted hash is ${blockHash}`);
  const isTrusted = (hash: Hash) =>
    (hash === price.hash && blockHash !== null) || (blockHashes?.has(hash) ?? false);
  const unknown = [...unlinked, price].filter(({ hash }) => !isTrusted(hash));
  const [first] = unknown;
  if (blockHashes === null || first === undefined) return unknown.map(({ number, hash }) => ({ number, hash }));
  const problem = `has the hash ${first.hash}, which is not trusted and not linked`;
  throw new PriceProofError(`block ${first.number}`, problem);
}

/** Addresses may follow from tokens and a known factory. Decimals are results of calls. */
function verifyIdentities(counted: readonly CountedPool[], chain: Chain | null) {
  const [proven, unproven]: [string[], UnprovenFact[]] = [[], []];
  const tokens = new Set<Address>();
  for (const { candidate, stated } of counted) {
    const { pair_address: pool, exchange_name: exchange, is_stable: isStable } = candidate;
    const sides: Address[] = [];
    for (const { token_address: side, decimals } of candidate.sides) {
      if (!isAddress(side)) continue;
      const token = parseAddress(side);
      sides.push(token);
      const known = chain === null ? null : knownDecimals(chain, token);
      if (known === null) tokens.add(token);
      else if (known !== decimals)
        throw new PriceProofError(stated, `has ${decimals} decimals of ${token}, which has ${known}`);
    }
    const [token0, token1] = sides;
    const isComplete = chain !== null && isAddress(pool) && token0 !== undefined && token1 !== undefined;
    const found = isComplete ? recomputePool(parseAddress(pool), [token0, token1], exchangesOf(chain)) : null;
    if (found === null) {
      unproven.push({ fact: `Tokens, exchange and curve of pool ${pool}`, reason: 'no-address-rule' });
      continue;
    }
    if (found.exchange.name !== exchange || found.isStable !== isStable || found.tokens?.[0] !== token0)
      throw new PriceProofError(stated, `differs from the facts of the address ${pool}`);
    proven.push(`Pool ${pool} of these tokens belongs to ${exchange}: its address follows from them`);
  }
  for (const token of tokens) unproven.push({ fact: `Decimals of ${token}`, reason: 'contract-call' });
  return { proven, unproven };
}

/** @throws PriceProofError for the first difference */
function checkRules({ rules }: PriceExplanation, known: PricingRules): void {
  for (const [member, value] of Object.entries(rulesView.show(known))) {
    const stated = Object(rules)[member];
    if (stated === value) continue;
    const problem = `is ${stated}, but this program verifies prices by ${value}`;
    throw new PriceProofError(`explanation.rules.${member}`, problem);
  }
}

/** On an unknown chain, pools of the native token may stand for a token that wraps it. */
function unprovenChain(
  explanation: PriceExplanation,
  { token, rules, id }: { readonly token: string; readonly rules: PricingRules; readonly id: string },
): readonly UnprovenFact[] {
  const expected = Object.entries(rulesView.show(rules));
  const isUsual = expected.every(([member, value]) => Object(explanation.rules)[member] === value);
  const priced = [{ token_address: token, candidates: explanation.candidates }, ...countedHops(explanation)];
  const wrapping = priced.filter(({ token_address: own, candidates }) =>
    candidates.some((pool) => !tokensOf(pool).includes(own)),
  );
  const facts = [
    ...(isUsual ? [] : ['Rules other than the defaults']),
    `Anchors, feeds and exchanges of chain ${id}, which this program does not know`,
    ...wrapping.map(({ token_address: own }) => `${own} wraps the native token`),
  ];
  return facts.map((fact) => ({ fact, reason: 'setting' }));
}

function checkResponse({ explanation, ...shown }: PriceDocument, formatted: string, nearest: number): void {
  const chosen = explanation.candidates.find(({ role }) => role === 'chosen');
  const facts = [
    ['usdPrice', shown.usdPrice, nearest],
    ['usdPriceFormatted', shown.usdPriceFormatted, formatted],
    ['pairAddress', shown.pairAddress, chosen?.pair_address ?? null],
    ['exchangeName', shown.exchangeName, chosen?.exchange_name ?? null],
  ] as const;
  for (const [member, said, found] of facts)
    if (said !== found) throw new PriceProofError(member, `is ${said}, but the explanation has ${found}`);
}

/** Neither anchors nor the token, each once, each with a pool of it. @throws PriceProofError */
function checkHops(explanation: PriceExplanation, token: Address, chain: Chain | null): void {
  const { hops, anchors, candidates } = explanation;
  if (hops.length === 0) return;
  const priced = new Set(anchors.map((anchor) => anchor.token_address));
  const ofChain = chain === null ? null : anchorsOf(chain);
  const known = new Set<string>(Object.values(ofChain ?? {}).flat());
  if (priced.has(token) || known.has(token))
    throw new PriceProofError('explanation.hops', `are not empty, but the token ${token} is an anchor`);
  // A dollar token whose feed has no valid value has no price by pools.
  const dollars = new Set<string>(ofChain?.dollar);
  const forms: readonly string[] = chain === null ? [token] : formsOf(token, chain);
  const traded = new Set(candidates.flatMap(tokensOf));
  const seen = new Set<string>();
  for (const [index, { token_address: hop }] of hops.entries()) {
    const at = `explanation.hops[${index}].token_address`;
    if (forms.includes(hop)) throw new PriceProofError(at, `is ${hop}, which is the priced token`);
    if (priced.has(hop) || dollars.has(hop)) throw new PriceProofError(at, `is ${hop}, which is an anchor`);
    if (seen.has(hop)) throw new PriceProofError(at, `is ${hop}, which is an earlier hop too`);
    if (!traded.has(hop)) throw new PriceProofError(at, `is ${hop}, which no pool of the candidates trades`);
    seen.add(hop);
  }
}
