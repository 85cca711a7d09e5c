import { Command, CommanderError } from 'commander';
import { backfillCommand } from './commands/backfill.ts';
import { chainsCommand } from './commands/chains.ts';
import { configCommand } from './commands/config.ts';
import { contractsCommand } from './commands/contracts.ts';
import { demoCommand } from './commands/demo.ts';
import { distributeCommand } from './commands/distribute.ts';
import { doctorCommand } from './commands/doctor.ts';
import { explainPriceCommand } from './commands/explain-price.ts';
import { exportCommand } from './commands/export.ts';
import { gapsCommand } from './commands/gaps.ts';
import { importCommand } from './commands/import.ts';
import { indexesCommand } from './commands/indexes.ts';
import { jobsCommand } from './commands/jobs.ts';
import { keysCommand } from './commands/keys.ts';
import { mcpCommand } from './commands/mcp.ts';
import { migrateCommand } from './commands/migrate.ts';
import { provisionCommand } from './commands/provision.ts';
import { recordCommand } from './commands/record.ts';
import { reindexCommand } from './commands/reindex.ts';
import { reviewsCommand } from './commands/reviews.ts';
import { startCommand } from './commands/start.ts';
import { statusCommand } from './commands/status.ts';
import { tokensCommand } from './commands/tokens.ts';
import { upgradeCheckCommand } from './commands/upgrade-check.ts';
import { verifyCommand } from './commands/verify.ts';
import { verifyBalancesCommand } from './commands/verify-balances.ts';
import { verifyPriceCommand } from './commands/verify-price.ts';
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
    const { exitCodeOf } = await import('./errors/exit-code-of.ts');
    // After a stop signal, every failure is a consequence of it.
    context.stderr.write(`chainstead: ${context.stopSignal.aborted ? 'interrupted' : describeError(error)}\n`);
    return exitCodeOf(error);
  }
}

/** The command tree. Commands only declare themselves. Their actions are imported when they run, which keeps help fast. */
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
  upgradeCheckCommand,
  configCommand,
  doctorCommand,
  statusCommand,
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

/** Sets output through the context, and thrown errors instead of `process.exit`. Commander does not inherit these settings. */
function prepare(command: Command, context: CommandContext): void {
  if (command.commands.length > 0) command.helpCommand('help [command]', 'Show help for a command');
  command
    .exitOverride()
    .helpOption('-h, --help', 'Show help')
    .showHelpAfterError('(run with --help for usage)')
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      getOutHasColors: () => context.stdout.isTTY === true,
      getErrHasColors: () => context.stderr.isTTY === true,
    });
}
