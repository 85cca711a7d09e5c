import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

/** `chainstead upgrade-check` */
export function upgradeCheckCommand(context: CommandContext): Command {
  return new Command('upgrade-check')
    .description(
      'say what starting this version on the database would do: migrations with what they lock and how long they take, what is built anew, and what would make it fail; changes nothing',
    )
    .option('--json', 'one JSON object')
    .addHelpText('after', EXAMPLES)
    .action(async (options: { json?: boolean }, command: Command) => {
      const { checkUpgrade } = await import('../actions/upgrade-check.ts');
      await checkUpgrade(options, command, context);
    });
}

const EXAMPLES = `
Run the new version's, while the old one works on. Ends with 1 where the upgrade would fail, with 0 where it would not.

Examples:
  $ chainstead upgrade-check
  $ npx chainstead@latest --config production.env upgrade-check
  $ chainstead upgrade-check --json`;
