import { Command } from 'commander';
import type { CommandContext, JsonOption } from '../session/command-context.ts';

export function upgradeCheckCommand(context: CommandContext): Command {
  return new Command('upgrade-check')
    .description('Show what starting this version would do to the database (read-only)')
    .option('--json', 'JSON output (one object)')
    .addHelpText('after', EXAMPLES)
    .action(async (options: JsonOption, command: Command) => {
      const { checkUpgrade } = await import('../actions/upgrade-check.ts');
      await checkUpgrade(options, command, context);
    });
}

const EXAMPLES = `
Lists pending migrations with their locks and estimated duration, data that is rebuilt, and problems that would stop the upgrade.
Run the command of the new version while the old version is running. Exit code 1 if the upgrade would fail, otherwise 0.

Examples:
  $ chainstead upgrade-check
  $ npx chainstead@latest upgrade-check
  $ chainstead upgrade-check --json`;
