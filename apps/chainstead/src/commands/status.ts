import { Command } from 'commander';
import type { CommandContext, JsonOption } from '../session/command-context.ts';

export function statusCommand(context: CommandContext): Command {
  return new Command('status')
    .description('Show sync progress, lag, upstream health, row counts and database size')
    .option('--json', 'JSON output (one object)')
    .addHelpText('after', '\nExamples:\n  $ chainstead status\n  $ chainstead status --json')
    .action(async (options: JsonOption, command: Command) => {
      const { showStatus } = await import('../actions/status.ts');
      await showStatus(options, command, context);
    });
}
