import { ChainsteadError, errorText } from '@chainstead/core';
import { Command, CommanderError } from 'commander';
import type { CommandContext } from './command-context.ts';
import { configCommand } from './commands/config.ts';
import { migrateCommand } from './commands/migrate.ts';
import { ConfigurationError, ConfigurationFileError } from './configuration/index.ts';
import { EXIT_CODE_FAILED, EXIT_CODE_OK, EXIT_CODE_USAGE } from './exit-codes.ts';
import { UsageError } from './usage-error.ts';

/** Runs one command line (without the program's name). @returns the exit code; never throws. */
export async function runCommandLine(args: readonly string[], context: CommandContext): Promise<number> {
  try {
    await createProgram(context).parseAsync([...args], { from: 'user' });
    return EXIT_CODE_OK;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    context.stderr.write(`chainstead: ${describeError(error)}\n`);
    return isUsage(error) ? EXIT_CODE_USAGE : EXIT_CODE_FAILED;
  }
}

/** The whole command tree. */
export function createProgram(context: CommandContext): Command {
  const program = new Command('chainstead')
    .description(
      'Self-hosted indexer backend: EVM chains into your own Postgres, served through the API your code already uses.',
    )
    .option('--config <file>', 'file with configuration keys (KEY=value lines, or .json); the environment wins over it')
    .addHelpText('after', EXAMPLES);
  for (const command of COMMANDS) program.addCommand(command(context));
  for (const command of [program, ...program.commands, ...program.commands.flatMap((parent) => parent.commands)])
    prepare(command, context);
  return program;
}

const COMMANDS: readonly ((context: CommandContext) => Command)[] = [migrateCommand, configCommand];

const EXAMPLES = `
Examples:
  $ chainstead demo                                   a local chain with traffic, indexed and served
  $ CHAINS=eth START_BLOCK_ETH=head chainstead start  follow Ethereum from now on
  $ chainstead status                                 where each chain stands
  $ chainstead config validate                        is everything that I set understood?

Exit codes: 0 done, 1 failed, 2 wrong use or configuration.`;

/** Output through the context, errors thrown instead of `process.exit`: set on each command, as commander does not inherit it. */
function prepare(command: Command, context: CommandContext): void {
  command
    .exitOverride()
    .showHelpAfterError('(add --help for what is possible)')
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      getOutHasColors: () => context.stdout.isTTY === true,
      getErrHasColors: () => context.stderr.isTTY === true,
    });
}

function isUsage(error: unknown): boolean {
  if (error instanceof ConfigurationError || error instanceof ConfigurationFileError || error instanceof UsageError)
    return true;
  return error instanceof ChainsteadError && USAGE_CODES.has(error.code);
}

/** Errors of other packages that no second try can mend without a change of configuration. */
const USAGE_CODES = new Set(['UNSAFE_BINDING']);

function describeError(error: unknown): string {
  if (error instanceof ChainsteadError) return `${error.message} [${error.code}]`;
  return error instanceof Error ? (error.stack ?? error.message) : errorText(error);
}
