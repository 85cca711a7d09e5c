import { Command } from 'commander';
import type { CommandContext } from '../session/command-context.ts';

export function provisionCommand(context: CommandContext): Command {
  return new Command('provision')
    .description('Create the role and database of DATABASE_URL (idempotent)')
    .addHelpText(
      'after',
      '\nConnects as a superuser (DATABASE_SUPERUSER_URL) and sets resource limits for the roles in that database.\n\nExamples:\n  $ DATABASE_SUPERUSER_URL=postgres://postgres:…@host/postgres DATABASE_URL=postgres://chainstead:…@host/chainstead chainstead provision',
    )
    .action(async (_options: object, command: Command) => {
      const { runProvision } = await import('../actions/provision.ts');
      await runProvision(command, context);
    });
}
