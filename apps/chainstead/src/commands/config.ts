import { chainKeyOf } from '@chainstead/aptos';
import { printConfiguration } from '../configuration/index.ts';
import { readContractsFile } from '../contracts-file/contracts-file.ts';
import type { Invocation, JsonOption } from '../session/command-context.ts';
import { configurationSources, readConfiguration } from '../session/read-configuration.ts';

export async function validateConfiguration({ command, context }: Invocation): Promise<void> {
  const { configuration } = readConfiguration(command, context);
  const { contractsFile, chainRegistry } = configuration;
  if (contractsFile !== null) await readContractsFile(contractsFile, chainRegistry);
  const evm = configuration.chains.map(({ chain }) => `${chain.key} (${chain.id})`);
  const aptos = configuration.aptos.networks.map(({ network }) => chainKeyOf(network));
  const chains = [...evm, ...aptos].join(', ');
  context.stdout.write(`The configuration is valid. Chains: ${chains || 'none'}.\n`);
}

export function showConfiguration({ options, command, context }: Invocation<JsonOption>): void {
  const sources = configurationSources(command, context);
  const { configuration } = readConfiguration(command, context);
  const printed = printConfiguration(
    sources,
    configuration.chains.map(({ chain }) => chain.key),
  );
  if (options.json === true) {
    const values = Object.fromEntries(printed.map(({ key, value, origin }) => [key, { value, origin }]));
    context.stdout.write(`${JSON.stringify(values, null, 2)}\n`);
    return;
  }
  for (const { key, value, origin } of printed)
    context.stdout.write(value === null ? `# ${key} is not set\n` : `${key}=${value}  # ${origin}\n`);
}
