import { Command } from 'commander';
import { ROLE_NAMES } from '../configuration/role-names.ts';
import type { CommandContext } from '../session/command-context.ts';

export function startCommand(context: CommandContext): Command {
  return new Command('start')
    .description('Run migrations, then the API, ingestion and background workers')
    .option('--roles <list>', `Comma list of roles to run: ${ROLE_NAMES.join(', ')} (default: ROLES, or all)`)
    .addHelpText('after', EXAMPLES)
    .action(async (options: { roles?: string }, command: Command) => {
      const { start } = await import('../actions/start.ts');
      await start(options, command, context);
    });
}

const EXAMPLES = `
One role with one process runs in this process. Several roles, or several processes of a role (API_PROCESSES,
INGEST_PROCESSES, WORKER_PROCESSES), run as child processes and are restarted after a crash.
SIGHUP replaces the API processes one by one.

Examples:
  $ chainstead start                                     Run all roles with an embedded Postgres
  $ CHAINS=eth,base START_BLOCK_ETH=18000000 chainstead start
  $ DATABASE_URL=postgres://… chainstead start --roles api
  $ API_PROCESSES=auto chainstead start --roles api      Use all cores of this machine
  $ chainstead --config production.env start --roles ingest,worker`;
