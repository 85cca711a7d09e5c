import { type Chain, createChainRegistry } from '@chainstead/chains';
import { environmentSuffix } from '@chainstead/chains/environment-suffix';
import { feedsOf } from '@chainstead/chains/price-feeds';
import {
  type Address,
  type Finding,
  findingsOf,
  type Hex,
  quotable,
  toQuantity,
  ZERO_ADDRESS,
} from '@chainstead/core';
import { isBlock, largestThatWorks, type NodeProbe, probeBlock } from './node-probe.ts';

const blocks = findingsOf('old blocks');
const state = findingsOf('old state');

const STEPS = 12;

export async function checkOldBlocks(chain: Chain, probe: NodeProbe, head: number): Promise<Finding> {
  const first = Math.min(head, chain.firstBlock + 1);
  const has = async (block: number): Promise<boolean> => isBlock(await probeBlock(probe, block));
  if (await has(first)) return blocks.ok(`from block ${first} on`);
  const depth = await largestThatWorks({ works: 0, fails: head - first, steps: STEPS }, (below) =>
    has(head - below),
  );
  return blocks.warning(
    `from about block ${head - depth} on`,
    'Earlier blocks can’t be read from it.',
    `Set START_BLOCK of the chain to this block or a later one, or add a node with all blocks.`,
  );
}

export async function checkOldState(chain: Chain, probe: NodeProbe, head: number): Promise<Finding> {
  const has = async (block: number): Promise<boolean> =>
    (await probe.ask('eth_getBalance', [ZERO_ADDRESS, toQuantity(block)])).ok;
  if (!(await has(head)))
    return state.bad(
      `none, not even of its head ${head}`,
      'Balances, token names and contract calls can’t be read from it.',
      'Wait until the node has synced its state, or use another node for them.',
    );
  const first = Math.min(head, chain.firstBlock + 1);
  if (await has(first)) return state.ok(`from block ${first} on: an archive node`);
  const depth = await largestThatWorks({ works: 0, fails: head - first, steps: STEPS }, (below) =>
    has(head - below),
  );
  return state.warning(
    `of the last ${depth + 1} blocks or so`,
    'This is enough for logs, transfers and trades. Balances and contract calls at older blocks can’t be read from it.',
    'Add an archive node if clients request balances at old blocks.',
  );
}

/** The default of an unknown chain may be far from its block time, by which head and speed are judged. */
const blockTime = findingsOf('block time');

/** Long enough for timestamps in whole seconds. */
const BLOCKS = 100;
/** A setting further off is wrong. */
const TOLERATED_FACTOR = 1.25;

/** From two heads. @returns milliseconds, those of the chain if unknown; a finding for a chain with settings alone */
export async function checkBlockTime(
  chain: Chain,
  probe: NodeProbe,
): Promise<{ readonly blockTimeMs: number; readonly finding: Finding | null }> {
  const measured = await measureBlockTime(probe);
  if (measured === null) return { blockTimeMs: chain.blockTimeMs, finding: null };
  const { blockTimeMs, blocks } = measured;
  const found = `${secondsText(blockTimeMs)} over ${blocks} blocks`;
  // The settings of a known chain are those of the program.
  if (createChainRegistry().find(chain.id) !== null) return { blockTimeMs, finding: null };
  const factor = blockTimeMs / chain.blockTimeMs;
  if (factor <= TOLERATED_FACTOR && factor >= 1 / TOLERATED_FACTOR)
    return { blockTimeMs, finding: blockTime.ok(found) };
  const finding = blockTime.warning(
    `${found}; the setting is ${secondsText(chain.blockTimeMs)}`,
    'Lag, polling and retention are judged by the setting.',
    `Set BLOCK_TIME_MS_${environmentSuffix(chain)}=${blockTimeMs}.`,
  );
  return { blockTimeMs, finding };
}

/** Null: the blocks are missing, or have equal timestamps. */
async function measureBlockTime(probe: NodeProbe) {
  const newest = await probeBlock(probe, 'latest');
  if (!isBlock(newest)) return null;
  const { number, timestamp } = newest.header;
  const blocks = Math.min(BLOCKS, number);
  const older = blocks === 0 ? null : await probeBlock(probe, number - blocks);
  if (!isBlock(older) || older.header.timestamp >= timestamp) return null;
  return { blocks, blockTimeMs: Math.round(((timestamp - older.header.timestamp) * 1_000) / blocks) };
}

function secondsText(ms: number): string {
  return `${Number((ms / 1_000).toPrecision(3))} s`;
}

const feeds = findingsOf('price feeds');
const dollars = findingsOf('dollar tokens');
const hooks = findingsOf('trusted hooks');

/** Selector of `decimals()`. */
const DECIMALS: Hex = '0x313ce567';
/** Selector of `description()`, such as `USDC / USD`. */
const DESCRIPTION: Hex = '0x7284e416';
const DESCRIPTION_BYTES_MAX = 64;
const WORD_DIGITS = 64;
const WORD = /^0x[0-9a-f]{64}$/i;

export async function checkPriceContracts(chain: Chain, probe: NodeProbe): Promise<Finding[]> {
  const { dollarTokens, trustedHooks } = chain;
  const proxies = feedsOf(chain).map(({ proxy }) => proxy);
  const hasDecimals = async (to: Address): Promise<boolean> => {
    const answer = await probe.ask('eth_call', [{ to, data: DECIMALS }, 'latest']);
    return answer.ok && typeof answer.result === 'string' && WORD.test(answer.result);
  };
  const noFeed = await without(proxies, hasDecimals);
  const noToken = await without(dollarTokens, hasDecimals);
  const noHook = await without(trustedHooks, async (address) => {
    const answer = await probe.ask('eth_getCode', [address, 'latest']);
    return answer.ok && typeof answer.result === 'string' && answer.result !== '0x';
  });
  const findings: Finding[] = [];
  if (noFeed.length > 0)
    findings.push(
      feeds.warning(
        `no feed at ${noFeed.join(', ')}`,
        'Tokens with this feed have no price from it.',
        'Check ETHER_FEED and FEEDS of the chain, and that the node runs eth_call.',
      ),
    );
  else if (proxies.length > 0) findings.push(feeds.ok(await describe(proxies, probe)));
  if (noToken.length > 0)
    findings.push(
      dollars.warning(
        `no token at ${noToken.join(', ')}`,
        'Pools with this token do not count for prices.',
        'Check DOLLAR_TOKENS of the chain, and that the node runs eth_call.',
      ),
    );
  else if (dollarTokens.length > 0) findings.push(dollars.ok(`all ${dollarTokens.length} found`));
  if (noHook.length > 0)
    findings.push(
      hooks.warning(
        `no contract at ${noHook.join(', ')}`,
        'No pool has this hook.',
        'Check TRUSTED_HOOKS of the chain, and that the node runs eth_getCode.',
      ),
    );
  else if (trustedHooks.length > 0) findings.push(hooks.ok(`all ${trustedHooks.length} found`));
  return findings;
}

async function describe(proxies: readonly Address[], probe: NodeProbe): Promise<string> {
  const names: string[] = [];
  for (const to of proxies) {
    const answer = await probe.ask('eth_call', [{ to, data: DESCRIPTION }, 'latest']);
    names.push((answer.ok ? textOf(answer.result) : null) ?? to);
  }
  return names.join(', ');
}

function textOf(result: unknown): string | null {
  if (typeof result !== 'string') return null;
  const [length, text] = [result.slice(2 + WORD_DIGITS, 2 + 2 * WORD_DIGITS), result.slice(2 + 2 * WORD_DIGITS)];
  const bytes = WORD.test(`0x${length}`) ? BigInt(`0x${length}`) : 0n;
  if (bytes === 0n || bytes > DESCRIPTION_BYTES_MAX) return null;
  return quotable(Buffer.from(text.slice(0, 2 * Number(bytes)), 'hex').toString());
}

async function without(
  contracts: readonly Address[],
  has: (contract: Address) => Promise<boolean>,
): Promise<readonly Address[]> {
  const missing: Address[] = [];
  for (const contract of contracts) if (!(await has(contract))) missing.push(contract);
  return missing;
}
