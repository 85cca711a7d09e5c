import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

/** `chainstead provision` */
export function provisionCommand(context: CommandContext): Command {
  return new Command('provision')
    .description(
      'create role and database of DATABASE_URL as a superuser, and bound what other roles may do there; safe to run at any time',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ DATABASE_SUPERUSER_URL=postgres://postgres:…@host/postgres DATABASE_URL=postgres://chainstead:…@host/chainstead chainstead provision',
    )
    .action(async (_options: object, command: Command) => {
      const { runProvision } = await import('../actions/provision.ts');
      await runProvision(command, context);
    });
}
