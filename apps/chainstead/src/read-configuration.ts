import type { Command } from 'commander';
import type { CommandContext } from './command-context.ts';
import {
  type ConfigurationSource,
  environmentSource,
  fileSource,
  type ParsedConfiguration,
  parseConfiguration,
} from './configuration/index.ts';

/** The places that configuration comes from, strongest first: the environment, then `--config` or `CHAINSTEAD_CONFIG`. */
export function configurationSources(command: Command, context: CommandContext): ConfigurationSource[] {
  const file = configurationFile(command, context);
  const environment = environmentSource(context.environment);
  return file === null ? [environment] : [environment, fileSource(file)];
}

/** The path of the configuration file, or null. */
export function configurationFile(command: Command, context: CommandContext): string | null {
  const given: unknown = command.optsWithGlobals().config;
  return typeof given === 'string' ? given : (context.environment.CHAINSTEAD_CONFIG ?? null);
}

/**
 * The configuration that a command runs with; warnings go to the error output.
 * @throws ConfigurationError, ConfigurationFileError
 */
export function readConfiguration(command: Command, context: CommandContext): ParsedConfiguration {
  const parsed = parseConfiguration(configurationSources(command, context));
  for (const warning of parsed.warnings) context.stderr.write(`warning: ${warning.message}\n`);
  return parsed;
}
