import { chainKeyOf } from '@chainstead/aptos';
import { errorText, type Logger } from '@chainstead/core';
import type { Configuration } from '../configuration/index.ts';

type ConfiguredChains = Pick<Configuration, 'chains' | 'aptos'>;

/** After SIGHUP, which replaces API processes alone: ingestion and workers keep the chains of their start. */
export function reportChangedChains(
  running: ConfiguredChains,
  read: () => ConfiguredChains,
  logger: Pick<Logger, 'warn'>,
): void {
  let next: ConfiguredChains;
  try {
    next = read();
  } catch (error) {
    logger.warn({ error: errorText(error) }, 'Configuration is invalid. Correct it and send SIGHUP again');
    return;
  }
  const [before, after] = [keysOf(running), keysOf(next)];
  const added = after.filter((key) => !before.includes(key));
  const removed = before.filter((key) => !after.includes(key));
  if (added.length + removed.length > 0)
    logger.warn({ added, removed }, 'Chains have changed. Restart Chainstead to apply this');
}

function keysOf({ chains, aptos }: ConfiguredChains): string[] {
  return [...chains.map(({ chain }) => chain.key), ...aptos.networks.map(({ network }) => chainKeyOf(network))];
}
