import { ApiError, type ErrorDetails } from '@chainstead/http';
import {
  type PriceExplanation,
  priceEvidenceReader,
  readExplainedPrice,
  type ShownTokenPrice,
} from '@chainstead/prices';
import type { Command } from 'commander';
import { withChain } from '../session/chain-session.ts';
import type { CommandContext, Invocation } from '../session/command-context.ts';
import { withStorage } from '../session/command-session.ts';
import { readAddress, readBlockNumber } from '../session/option-values.ts';
import { readChainConfiguration } from '../session/read-configuration.ts';
import { findDatabase } from '../session/with-database.ts';
import { renderTable } from '../text/text-table.ts';

interface ExplainPriceOptions {
  readonly chain: string;
  readonly token: string;
  readonly block?: string;
  readonly exchange?: string;
  readonly json?: boolean;
  readonly proof?: boolean;
}

export async function showExplainedPrice({
  options,
  command,
  context,
}: Invocation<ExplainPriceOptions>): Promise<void> {
  const token = readAddress(options.token, '--token');
  const toBlock = readBlockNumber(options.block, '--block');
  const wanted = { token, toBlock, exchange: options.exchange ?? null };
  if (options.proof === true) {
    await writeProvenPrice(wanted, options, command, context);
    return;
  }
  // Chains outside CHAINS are stored too. Settings of the method and chain apply to them.
  const needs = { needsUpstreams: false };
  const { configuration: given, configured } = readChainConfiguration(options.chain, command, context, needs);
  const configuration = await findDatabase(given, context);
  const { chain } = configured;
  await withStorage({ configuration, context, name: 'explain-price' }, async ({ database }) => {
    const isJson = options.json === true;
    const price = await showingRefusals(context, isJson, () => readExplainedPrice(database, chain, wanted));
    context.stdout.write(isJson ? `${JSON.stringify(price)}\n` : renderPrice(price, chain.key));
  });
}

async function showingRefusals<Price>(
  context: CommandContext,
  isJson: boolean,
  read: () => Promise<Price>,
): Promise<Price> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError && error.details !== undefined) {
      const { message, details } = error;
      context.stdout.write(isJson ? `${JSON.stringify({ message, details })}\n` : renderRefusal(details));
    }
    throw error;
  }
}

function renderRefusal({ candidates = [], indexed, ...figures }: RefusalDetails): string {
  const rows = Object.entries({ ...figures, ...indexed }).map(([name, value]) => [name, String(value)]);
  return `${renderTable(['detail', 'value'], rows)}${renderPools('Pools', candidates)}`;
}

type RefusalDetails = ErrorDetails & {
  readonly candidates?: PriceExplanation['candidates'];
  readonly indexed?: Readonly<Record<string, unknown>>;
};

async function writeProvenPrice(
  wanted: Parameters<typeof readExplainedPrice>[2],
  options: ExplainPriceOptions,
  command: Command,
  context: CommandContext,
): Promise<void> {
  const { configuration, configured } = readChainConfiguration(options.chain, command, context);
  await withChain({ configuration, configured, context, name: 'explain-price' }, async (work) => {
    const { chain, database, pool, logger, clock } = work;
    const reading = { chain, pool, database, logger, clock };
    const price = await showingRefusals(context, true, () =>
      readExplainedPrice(database, chain, wanted, (question) =>
        priceEvidenceReader.read(reading, question, context.stopSignal),
      ),
    );
    context.stdout.write(`${JSON.stringify(price)}\n`);
  });
}

function renderPrice({ explanation, ...price }: ShownTokenPrice, chain: string): string {
  const name = price.tokenSymbol === null ? price.tokenAddress : `${price.tokenSymbol} (${price.tokenAddress})`;
  const title = `${name} on ${chain}: ${price.usdPriceFormatted} US dollars at the end of block ${explanation?.block}\n`;
  const incomplete = price.indexed.complete
    ? ''
    : 'Not complete: missing blocks, proofs or balances may change it.\n';
  return explanation === undefined ? title : `${title}${incomplete}${renderExplanation(explanation)}`;
}

const RULES: Readonly<Record<PriceExplanation['rule'], string>> = {
  anchor: 'The token is an anchor: its price does not come from pools.',
  spot: 'Rule spot: the newest state of the chosen pool.',
  median: 'Rule median: the median of the chosen pool, because its newest price has not held for long enough.',
};

function renderExplanation(explanation: PriceExplanation): string {
  const { rule, move_cost_usd: cost, is_move_cost_upper_bound: isUpperBound, candidates, hops } = explanation;
  const fraction = `Exactly ${explanation.price_numerator} / ${explanation.price_denominator}\n`;
  const moved =
    cost === null ? '' : `Raising it by 10 % takes ${isUpperBound ? 'at most ' : ''}${cost} US dollars.\n`;
  const through = hops.length === 0 ? '' : 'Priced through a hop: another token with a direct price.\n';
  const pools = renderPools('Pools', candidates);
  return [
    ...[fraction, `${RULES[rule]}\n`, through, moved, pools],
    ...[renderHops(hops), renderAnchors(explanation), renderRules(explanation)],
  ].join('');
}

function renderPools(title: string, candidates: PriceExplanation['candidates']): string {
  const rows = candidates.map((pool) => [
    pool.pair_address,
    pool.exchange_name,
    pool.role,
    pool.price_usd,
    pool.weight_usd,
    pool.states.at(-1)?.block ?? '',
  ]);
  if (rows.length === 0) return '';
  return `\n${title}:\n${renderTable(['pool', 'exchange', 'role', 'price', 'weight', 'state of'], rows)}`;
}

function renderHops(hops: PriceExplanation['hops']): string {
  if (hops.length === 0) return '';
  const rows = hops.map((hop) => [hop.token_address, hop.price_usd, hop.rule, hop.depth_usd]);
  const table = `\nHops:\n${renderTable(['token', 'price', 'rule', 'depth'], rows)}`;
  return `${table}${hops.map((hop) => renderPools(`Pools of ${hop.token_address}`, hop.candidates)).join('')}`;
}

function renderAnchors({ anchors }: PriceExplanation): string {
  const rows = anchors.map((anchor) => [
    anchor.token_address,
    anchor.price_usd,
    anchor.source,
    anchor.aggregator ?? '',
    anchor.round ?? '',
    anchor.block === null ? '' : `${anchor.block}:${anchor.log_index ?? 'end'}`,
  ]);
  return `\nAnchors:\n${renderTable(['token', 'price', 'source', 'aggregator', 'round', 'block:log'], rows)}`;
}

function renderRules({ rule, hops, rules }: PriceExplanation): string {
  if (rule === 'anchor') return '';
  const isDirect = hops.length === 0;
  const rows = [
    ['US dollars on each side of a pool, at least', String(rules.min_side_usd), 'PRICE_MIN_SIDE_USD'],
    ['Window of medians, and age of new pools, in seconds', String(rules.window_seconds), 'PRICE_WINDOW_SECONDS'],
    ['Factor to the median from which a price must hold', String(rules.jump_limit), ''],
    ...(isDirect ? [] : [['The same for each of the two steps', String(rules.hop_jump_limit), '']]),
    ['Seconds for which it must hold', String(rules.hold_seconds), 'PRICE_HOLD_SECONDS'],
    ['Deepest pools that count', String(rules.pools_max), ''],
    ...(isDirect
      ? []
      : [['US dollars that the pools of a hop must hold', String(rules.hop_min_usd), 'PRICE_HOP_MIN_USD']]),
  ];
  return `\nRules:\n${renderTable(['rule', 'value', 'setting'], rows)}`;
}
