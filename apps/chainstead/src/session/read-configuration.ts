import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  type ChainConfiguration,
  type Configuration,
  type ConfigurationSource,
  environmentSource,
  fileSource,
  mergeSources,
  type ParsedConfiguration,
  type ParseOptions,
  parseConfiguration,
} from '../configuration/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import type { CommandContext } from './command-context.ts';

const FOUND_FILE = '.env';

const named = new WeakSet<CommandContext>();

/** The environment wins over the file. @throws ConfigurationFileError */
export function configurationSources(command: Command, context: CommandContext): ConfigurationSource[] {
  const file = configurationFile(command, context);
  const environment = environmentSource(context.environment);
  if (file === null) return [environment];
  if (file !== foundFile(context)) return [environment, fileSource(file)];
  if (!named.has(context)) context.stderr.write(`Settings: the environment, then ${file}\n`);
  named.add(context);
  // Docker Compose and others keep settings in it, too.
  return [environment, { ...fileSource(file), isOwn: false }];
}

/** `--config`, `CHAINSTEAD_CONFIG` (empty: none), then `.env` in the current folder. */
export function configurationFile(command: Command, context: CommandContext): string | null {
  const given: unknown = command.optsWithGlobals().config;
  if (typeof given === 'string') return given;
  const { CHAINSTEAD_CONFIG } = context.environment;
  if (CHAINSTEAD_CONFIG !== undefined) return CHAINSTEAD_CONFIG === '' ? null : CHAINSTEAD_CONFIG;
  return foundFile(context);
}

function foundFile({ currentFolder }: CommandContext): string | null {
  const path = currentFolder === undefined ? null : join(currentFolder, FOUND_FILE);
  return path !== null && existsSync(path) ? path : null;
}

/** Warnings go to stderr. @throws ConfigurationError, ConfigurationFileError */
export function readConfiguration(command: Command, context: CommandContext): ParsedConfiguration {
  return parseWithWarnings(configurationSources(command, context), context);
}

/** Chains need no upstreams. */
export function readDatabaseConfiguration(command: Command, context: CommandContext): Configuration {
  return parseWithWarnings(configurationSources(command, context), context, { needsUpstreams: false })
    .configuration;
}

export function readChainConfiguration(
  chain: string,
  command: Command,
  context: CommandContext,
  options: ParseOptions = {},
): { readonly configuration: Configuration; readonly configured: ChainConfiguration } {
  const sources = configurationSources(command, context);
  return parseChainConfiguration(
    chain,
    sources,
    parseWithWarnings(sources, context, options).configuration,
    options,
  );
}

export function parseChainConfiguration(
  chain: string,
  sources: readonly ConfigurationSource[],
  named: Configuration,
  options: ParseOptions = {},
): { readonly configuration: Configuration; readonly configured: ChainConfiguration } {
  const found = findConfigured(named, chain);
  if (found !== null) return { configuration: named, configured: found };
  const chains = [mergeSources(sources).CHAINS, chain].filter((name) => name !== undefined).join(',');
  const only = { origin: '--chain', isOwn: true, variables: { CHAINS: chains } };
  const { configuration } = parseConfiguration([only, ...sources], options);
  const configured = findConfigured(configuration, chain);
  if (configured === null) throw new UsageError(`--chain ${chain} is not valid`, 'Use a name from CHAINS');
  return { configuration, configured };
}

function findConfigured(configuration: Configuration, name: string): ChainConfiguration | null {
  const chain = configuration.chainRegistry.find(name);
  return configuration.chains.find((configured) => configured.chain.id === chain?.id) ?? null;
}

function parseWithWarnings(
  sources: readonly ConfigurationSource[],
  context: CommandContext,
  options: ParseOptions = {},
): ParsedConfiguration {
  const parsed = parseConfiguration(sources, options);
  for (const warning of parsed.warnings) context.stderr.write(`warning: ${warning.message}\n`);
  return parsed;
}
