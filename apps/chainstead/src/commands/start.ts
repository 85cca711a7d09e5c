import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { ROLE_NAMES } from '../configuration/role-names.ts';

/** `chainstead start` */
export function startCommand(context: CommandContext): Command {
  return new Command('start')
    .description('run the program: migrate, then serve the API, ingest chains and do background work until stopped')
    .option(
      '--roles <list>',
      `which parts run here: a comma list of ${ROLE_NAMES.join(', ')} (default: ROLES, all of them)`,
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: { roles?: string }, command: Command) => {
      const { start } = await import('../actions/start.ts');
      await start(options, command, context);
    });
}

const EXAMPLES = `
Several roles run as child processes, restarted when they crash, and so do several processes of one (API_PROCESSES,
INGEST_PROCESSES, WORKER_PROCESSES); a single process is this one. SIGHUP replaces those of the API one by one.

Examples:
  $ chainstead start                                     everything, with an embedded Postgres
  $ CHAINS=eth,base START_BLOCK_ETH=18000000 chainstead start
  $ DATABASE_URL=postgres://… chainstead start --roles api
  $ API_PROCESSES=auto chainstead start --roles api      on all cores of this machine
  $ chainstead --config production.env start --roles ingest,worker`;
