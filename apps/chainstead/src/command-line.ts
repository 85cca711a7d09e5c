import { Command, CommanderError } from 'commander';
import {
  explainPriceCommand,
  exportCommand,
  importCommand,
  reviewsCommand,
  tokensCommand,
  verifyBalancesCommand,
  verifyPriceCommand,
} from './declarations/data.ts';
import {
  backfillCommand,
  chainsCommand,
  contractsCommand,
  distributeCommand,
  gapsCommand,
  indexesCommand,
  jobsCommand,
  recordCommand,
  reindexCommand,
  verifyCommand,
} from './declarations/indexing.ts';
import {
  configCommand,
  demoCommand,
  doctorCommand,
  keysCommand,
  mcpCommand,
  migrateCommand,
  provisionCommand,
  psqlCommand,
  startCommand,
  statusCommand,
} from './declarations/operation.ts';
import { EXIT_CODE_OK, EXIT_CODE_USAGE } from './errors/exit-codes.ts';
import type { CommandContext } from './session/command-context.ts';
import { VERSION } from './version.ts';

export async function runCommandLine(args: readonly string[], context: CommandContext): Promise<number> {
  try {
    await createProgram(context).parseAsync([...args], { from: 'user' });
    return EXIT_CODE_OK;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    const { describeError } = await import('./errors/describe-error.ts');
    const { exitCodeOf } = await import('./errors/describe-error.ts');
    // After a stop signal, every failure is its consequence.
    context.stderr.write(`chainstead: ${context.stopSignal.aborted ? 'interrupted' : describeError(error)}\n`);
    return exitCodeOf(error);
  }
}

/** Actions are imported when they run, which keeps help fast. */
export function createProgram(context: CommandContext): Command {
  const program = new Command('chainstead')
    .description('Self-hosted blockchain indexer with a Moralis-compatible API')
    .version(VERSION, '--version', 'Print the version and exit')
    .option('--config <file>', 'Configuration file: KEY=value lines or JSON (default: .env)')
    .addHelpText('after', EXAMPLES);
  for (const command of COMMANDS) program.addCommand(command(context));
  for (const command of [program, ...program.commands, ...program.commands.flatMap((parent) => parent.commands)])
    prepare(command, context);
  return program;
}

const COMMANDS: readonly ((context: CommandContext) => Command)[] = [
  startCommand,
  demoCommand,
  provisionCommand,
  migrateCommand,
  configCommand,
  doctorCommand,
  statusCommand,
  psqlCommand,
  gapsCommand,
  chainsCommand,
  contractsCommand,
  backfillCommand,
  reindexCommand,
  verifyCommand,
  jobsCommand,
  verifyBalancesCommand,
  explainPriceCommand,
  verifyPriceCommand,
  indexesCommand,
  distributeCommand,
  recordCommand,
  importCommand,
  exportCommand,
  reviewsCommand,
  tokensCommand,
  keysCommand,
  mcpCommand,
];

const EXAMPLES = `
Examples:
  $ chainstead demo                                   Index a local chain with sample traffic
  $ CHAINS=eth START_BLOCK_ETH=head chainstead start  Follow Ethereum from its current head
  $ chainstead status                                 Show sync progress
  $ chainstead config validate                        Check the configuration

Exit codes: 0 success, 1 failure, 2 wrong usage or configuration.`;

const OLD_COMMAND = /unknown command '(plan|upgrade)(?:-check)?'/;

/** Commander does not inherit these settings. Errors are thrown instead of `process.exit`. */
function prepare(command: Command, context: CommandContext): void {
  if (command.commands.length > 0) command.helpCommand('help [command]', 'Show help for a command');
  command
    .exitOverride()
    .helpOption('-h, --help', 'Show help')
    .showHelpAfterError('(run with --help for usage)')
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text.replace(OLD_COMMAND, '$&: use "chainstead doctor --$1"')),
      getOutHasColors: () => context.stdout.isTTY === true,
      getErrHasColors: () => context.stderr.isTTY === true,
    });
}
