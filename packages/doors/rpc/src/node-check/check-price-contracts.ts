import type { Chain } from '@chainstead/chains';
import { feedsOf } from '@chainstead/chains/price-feeds';
import { type Address, type Finding, findingsOf, type Hex, quotable } from '@chainstead/core';
import type { NodeProbe } from './node-probe.ts';

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
  const noFeed = await withoutDecimals(proxies, probe);
  const noToken = await withoutDecimals(dollarTokens, probe);
  const noHook = await withoutCode(trustedHooks, probe);
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

async function withoutDecimals(contracts: readonly Address[], probe: NodeProbe): Promise<readonly Address[]> {
  const missing: Address[] = [];
  for (const to of contracts) {
    const answer = await probe.ask('eth_call', [{ to, data: DECIMALS }, 'latest']);
    if (!answer.ok || typeof answer.result !== 'string' || !WORD.test(answer.result)) missing.push(to);
  }
  return missing;
}

async function withoutCode(contracts: readonly Address[], probe: NodeProbe): Promise<readonly Address[]> {
  const missing: Address[] = [];
  for (const address of contracts) {
    const answer = await probe.ask('eth_getCode', [address, 'latest']);
    if (!answer.ok || typeof answer.result !== 'string' || answer.result === '0x') missing.push(address);
  }
  return missing;
}
