import type { Chain } from '@chainstead/chains';
import { type Address, createMetricsRegistry, errorText, orAborted } from '@chainstead/core';
import type { ChainConfiguration, Configuration } from '../configuration/index.ts';
import type { CommandContext } from '../session/command-context.ts';
import { commandLogger } from '../session/command-session.ts';
import { openPool } from '../session/upstream-pools.ts';

const NODES_MS = 5_000;
const CODES_MAX = 100;

/** Reasons why a contract may never have rows: chain not configured, no code. Never throws. */
export async function contractWarnings(
  configuration: Configuration,
  { chain, addresses }: { readonly chain: Chain; readonly addresses: readonly Address[] },
  context: CommandContext,
): Promise<readonly string[]> {
  const configured = configuration.chains.find((one) => one.chain.id === chain.id);
  if (configured === undefined)
    return [`${chain.key} is not in CHAINS. The contract is indexed by servers that have it in CHAINS`];
  if (addresses.length === 0) return [];
  try {
    const codes = await readCodes(configured, configuration, addresses.slice(0, CODES_MAX), context);
    return addresses
      .filter((_, index) => codes[index] === '0x')
      .map((address) => `${address} has no code on ${chain.key}. Check the address and the chain`);
  } catch (error) {
    return [`The nodes of ${chain.key} returned no code of the addresses: ${errorText(error)}`];
  }
}

async function readCodes(
  configured: ChainConfiguration,
  configuration: Configuration,
  addresses: readonly Address[],
  context: CommandContext,
): Promise<readonly unknown[]> {
  const logger = commandLogger(configuration, context);
  const pool = openPool(configured, { logger, metrics: createMetricsRegistry(), clock: context.clock });
  const signal = AbortSignal.timeout(NODES_MS);
  try {
    await orAborted(pool.start(), signal);
    const codes = await pool.requestMany(
      'eth_getCode',
      addresses.map((address) => [address, 'latest']),
      { signal },
    );
    return codes.map(({ value }) => value);
  } finally {
    await pool.close();
  }
}
