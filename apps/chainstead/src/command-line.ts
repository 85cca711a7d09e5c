import { Command, CommanderError } from 'commander';
import type { CommandContext } from './command-context.ts';
import { backfillCommand } from './commands/backfill.ts';
import { configCommand } from './commands/config.ts';
import { demoCommand } from './commands/demo.ts';
import { distributeCommand } from './commands/distribute.ts';
import { doctorCommand } from './commands/doctor.ts';
import { exportCommand } from './commands/export.ts';
import { gapsCommand } from './commands/gaps.ts';
import { importCommand } from './commands/import.ts';
import { indexesCommand } from './commands/indexes.ts';
import { jobsCommand } from './commands/jobs.ts';
import { keysCommand } from './commands/keys.ts';
import { migrateCommand } from './commands/migrate.ts';
import { provisionCommand } from './commands/provision.ts';
import { recordCommand } from './commands/record.ts';
import { reindexCommand } from './commands/reindex.ts';
import { reviewsCommand } from './commands/reviews.ts';
import { startCommand } from './commands/start.ts';
import { statusCommand } from './commands/status.ts';
import { upgradeCheckCommand } from './commands/upgrade-check.ts';
import { verifyCommand } from './commands/verify.ts';
import { verifyBalancesCommand } from './commands/verify-balances.ts';
import { EXIT_CODE_OK, EXIT_CODE_USAGE } from './exit-codes.ts';
import { VERSION } from './version.ts';

/** Runs one command line (without the program's name). @returns the exit code; never throws. */
export async function runCommandLine(args: readonly string[], context: CommandContext): Promise<number> {
  try {
    await createProgram(context).parseAsync([...args], { from: 'user' });
    return EXIT_CODE_OK;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODE_OK : EXIT_CODE_USAGE;
    const { describeError } = await import('./describe-error.ts');
    const { exitCodeOf } = await import('./exit-code-of.ts');
    // Whatever fails once a stop was asked for, fails because of it.
    context.stderr.write(`chainstead: ${context.stopSignal.aborted ? 'interrupted' : describeError(error)}\n`);
    return exitCodeOf(error);
  }
}

/**
 * The whole command tree. Commands only declare themselves; what they do is imported when they run, so that help costs
 * next to nothing.
 */
export function createProgram(context: CommandContext): Command {
  const program = new Command('chainstead')
    .description(
      'Self-hosted indexer backend: EVM chains into your own Postgres, served through the API your code already uses.',
    )
    .version(VERSION, '--version', 'print the version and exit')
    .option('--config <file>', 'file with configuration keys (KEY=value lines, or .json); the environment wins over it')
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
  upgradeCheckCommand,
  configCommand,
  doctorCommand,
  statusCommand,
  gapsCommand,
  backfillCommand,
  reindexCommand,
  verifyCommand,
  jobsCommand,
  verifyBalancesCommand,
  indexesCommand,
  distributeCommand,
  recordCommand,
  importCommand,
  exportCommand,
  reviewsCommand,
  keysCommand,
];

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
